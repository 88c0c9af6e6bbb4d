package refusal

import (
	"cmp"
	_ "embed"
	"encoding/binary"
	"errors"
	"math/bits"
	"slices"
)

// builtLexicon is the lexicon of the embedded tables as newLexicon builds it, which takes
// twenty times as long as reading it.
//
//go:embed lexicon.bin
var builtLexicon []byte

// errStale says that a built lexicon is not that of the tables.
var errStale = errors.New("lexicon.bin is not of these tables; go generate ./refusal makes it anew")

// appendBuilt writes a lexicon of tables with a version, but for its languages.
func (l *lexicon) appendBuilt(b []byte, version string) []byte {
	c := codec{text: append(append(b, version...), '\n')}
	entries := slices.DeleteFunc(slices.Clone(l.entries), func(e entry) bool { return e.hash == 0 })
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.hash, b.hash) })
	l.code(&c, &entries)
	return c.text
}

// readBuilt reads what appendBuilt wrote of tables with a version. What is of others is
// errStale.
func readBuilt(b []byte, version string) (*lexicon, error) {
	if len(b) <= len(version) || string(b[:len(version)]) != version || b[len(version)] != '\n' {
		return nil, errStale
	}
	c := codec{text: b[len(version)+1:], reads: true}
	l := &lexicon{phrases: &automaton{}, sequences: &sequenceTable{}}
	var entries []entry
	l.code(&c, &entries)
	if c.cut {
		return nil, errStale
	}
	l.index(entries)
	return l, nil
}

// code writes or reads all that is built, with the entries of the words in order.
func (l *lexicon) code(c *codec, entries *[]entry) {
	list(c, entries, func(e *entry) {
		number(c, &e.hash)
		number(c, &e.symbol)
		number(c, &e.number)
		number(c, &e.tongues)
		c.flag(&e.self)
	})
	p, s := l.phrases, l.sequences
	list(c, &p.expand, func(symbols *[]uint16) {
		list(c, symbols, func(symbol *uint16) { number(c, symbol) })
	})
	list(c, &p.states, func(s *state) {
		number(c, &s.row)
		number(c, &s.fail)
		number(c, &s.first)
	})
	list(c, &p.moves.moves, func(m *move) {
		number(c, &m.from)
		number(c, &m.to)
	})
	number(c, &p.moves.most)
	number(c, &p.moves.free)
	number(c, &p.moves.several)
	list(c, &p.ends, func(e *end) {
		number(c, &e.kind)
		number(c, &e.reason)
		c.flag(&e.own)
		number(c, &e.words)
		number(c, &e.more)
	})
	number(c, &p.begin)
	list(c, &s.places, func(s *sequence) {
		number(c, &s.from)
		number(c, &s.row)
		number(c, &s.weights[0])
		number(c, &s.weights[1])
	})
	list(c, &s.weights, func(weight *uint64) { number(c, weight) })
	number(c, &s.stop)
	number(c, &s.start)
}

// A codec writes numbers behind a text or reads them from its start, so that one function
// says for both what stands there.
type codec struct {
	text  []byte
	reads bool
	// at is how much was read, and cut is true when more was asked for than there is.
	at  int
	cut bool
}

// number writes or reads a number, in little-endian order.
func number[N ~uint8 | ~uint16 | ~uint32 | ~uint64](c *codec, n *N) {
	size := bits.Len64(uint64(^N(0))) / 8
	if !c.reads {
		c.text = append(c.text, binary.LittleEndian.AppendUint64(nil, uint64(*n))[:size]...)
		return
	}
	if c.cut = c.cut || len(c.text) < c.at+size; c.cut {
		return
	}
	text := c.text[c.at:]
	c.at += size
	switch size {
	case 1:
		*n = N(text[0])
	case 2:
		*n = N(binary.LittleEndian.Uint16(text))
	case 4:
		*n = N(binary.LittleEndian.Uint32(text))
	default:
		*n = N(binary.LittleEndian.Uint64(text))
	}
}

// flag writes or reads a truth.
func (c *codec) flag(set *bool) {
	var n uint8
	if *set {
		n = 1
	}
	number(c, &n)
	*set = n != 0
}

// list writes or reads how many rows there are, and then each.
func list[T any](c *codec, rows *[]T, each func(row *T)) {
	n := uint32(len(*rows))
	number(c, &n)
	if c.reads {
		*rows = make([]T, min(int(n), len(c.text)-c.at)) // each takes a byte at least
		c.cut = c.cut || len(*rows) < int(n)
	}
	for i := range *rows {
		each(&(*rows)[i])
	}
}
