package refusal

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// builtLexicon is the lexicon as go generate builds it of the tables: a line of its
// version, and what code writes.
//
//go:embed lexicon.bin
var builtLexicon []byte

// Version identifies a build of the detector: a short hash of its phrases and weights. It
// does not cover the Go code.
func Version() string {
	version, _, _ := bytes.Cut(builtLexicon, []byte("\n"))
	return string(version)
}

// readBuilt reads a built lexicon.
func readBuilt(built []byte) *lexicon {
	_, body, _ := bytes.Cut(built, []byte("\n"))
	c := codec{text: append(slices.Clip(body), make([]byte, 8)...), reads: true} // the last number is read as eight bytes
	l := &lexicon{phrases: &automaton{}, sequences: &sequenceTable{}, languages: &languageTable{}, weights: &vector{}}
	var entries []entry
	l.code(&c, &entries)
	l.index(entries)
	return l
}

// code writes or reads everything that is built, and the entries of the words in order.
func (l *lexicon) code(c *codec, entries *[]entry) {
	list(c, entries, func(e *entry) {
		number(c, &e.hash)
		number(c, &e.symbol)
		number(c, &e.number)
		number(c, &e.tongues)
		number(c, &e.lacking)
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
	list(c, &l.languages.all, func(l *language) {
		c.string(&l.code)
		c.flag(&l.read)
		c.flag(&l.thin)
		c.flag(&l.sure)
		c.string(&l.cause)
	})
	number(c, &l.languages.read)
	list(c, &l.languages.sets, func(set *[]uint8) {
		list(c, set, func(n *uint8) { number(c, n) })
	})
	for i := range l.languages.byScript {
		number(c, &l.languages.byScript[i])
	}
	for i := range features {
		c.weight(&l.weights[i])
	}
	for i := range l.lacking {
		c.weight(&l.lacking[i][0])
		c.weight(&l.lacking[i][1])
	}
}

// A codec appends numbers to a text or reads them from its start. So a single function
// defines the format for both.
type codec struct {
	text  []byte
	at    int // how much was read
	reads bool
}

// number writes or reads a number, in little-endian order.
func number[N ~uint8 | ~uint16 | ~uint32 | ~uint64](c *codec, n *N) {
	size := bits.Len64(uint64(^N(0))) / 8
	if !c.reads {
		c.text = append(c.text, binary.LittleEndian.AppendUint64(nil, uint64(*n))[:size]...)
		return
	}
	*n = N(binary.LittleEndian.Uint64(c.text[c.at:])) // of which N keeps the first bytes
	c.at += size
}

// weight writes or reads a weight.
func (c *codec) weight(w *float64) {
	n := math.Float64bits(*w)
	number(c, &n)
	*w = math.Float64frombits(n)
}

// flag writes or reads a boolean.
func (c *codec) flag(set *bool) {
	var n uint8
	if *set {
		n = 1
	}
	number(c, &n)
	*set = n != 0
}

// string writes or reads a text.
func (c *codec) string(s *string) {
	text := []byte(*s)
	list(c, &text, func(b *byte) { number(c, b) })
	*s = string(text)
}

// list writes or reads the number of rows, and then each row.
func list[T any](c *codec, rows *[]T, each func(row *T)) {
	n := uint32(len(*rows))
	number(c, &n)
	if c.reads && n > 0 {
		*rows = make([]T, n)
	}
	for i := range *rows {
		each(&(*rows)[i])
	}
}
