package refusal

import (
	"cmp"
	_ "embed"
	"errors"
	"slices"

	"github.com/orbench/orbench/refusal/internal/columns"
	"github.com/orbench/orbench/refusal/internal/transition"
)

// builtLexicon is the lexicon of the embedded tables as newLexicon builds it, which takes
// twenty times as long as reading it.
//
//go:embed lexicon.bin
var builtLexicon []byte

// errStale says that a built lexicon is not that of the tables.
var errStale = errors.New("lexicon.bin is not of these tables; go generate ./refusal makes it anew")

// numbers are those of a lexicon but for its languages, as they are written.
type numbers struct {
	hashes, weights                 []uint64
	symbols, numbers, tongues, self []uint16
	// expanded has the symbols of the words that stand for several, expands how many each
	// has.
	expanded, expands              []uint16
	rows                           []uint32
	fails, firsts                  []uint16
	movesFrom, movesTo             []uint16
	meanings, reasons, owns        []uint8
	words, more                    []uint8
	placesFrom, placesRow          []uint16
	placesWeight, placesHeadWeight []uint16
	// single are numbers of which there is one each.
	single []uint32
}

// all lists them, for reading and for writing.
func (n *numbers) all() []any {
	return []any{
		&n.hashes, &n.weights, &n.symbols, &n.numbers, &n.tongues, &n.self, &n.expanded, &n.expands, &n.rows, &n.fails, &n.firsts,
		&n.movesFrom, &n.movesTo, &n.meanings, &n.reasons, &n.owns, &n.words, &n.more, &n.placesFrom, &n.placesRow,
		&n.placesWeight, &n.placesHeadWeight, &n.single,
	}
}

// appendBuilt writes a lexicon of tables with a version.
func (l *lexicon) appendBuilt(b []byte, version string) []byte {
	var c numbers
	flag := func(set bool) uint8 {
		if set {
			return 1
		}
		return 0
	}
	entries := slices.DeleteFunc(slices.Clone(l.entries), func(e entry) bool { return e.hash == 0 })
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.hash, b.hash) })
	for _, e := range entries {
		c.hashes = append(c.hashes, e.hash)
		c.symbols, c.numbers = append(c.symbols, e.symbol), append(c.numbers, e.number)
		c.tongues, c.self = append(c.tongues, e.tongues), append(c.self, uint16(flag(e.self)))
	}
	p := l.phrases
	for _, symbols := range p.expand {
		c.expanded, c.expands = append(c.expanded, symbols...), append(c.expands, uint16(len(symbols)))
	}
	for _, s := range p.states {
		c.rows, c.fails, c.firsts = append(c.rows, s.row), append(c.fails, s.fail), append(c.firsts, s.first)
	}
	for _, m := range p.moves.Moves {
		c.movesFrom, c.movesTo = append(c.movesFrom, m.From), append(c.movesTo, m.To)
	}
	for _, e := range p.ends {
		c.meanings, c.reasons, c.owns = append(c.meanings, uint8(e.kind)), append(c.reasons, e.reason), append(c.owns, flag(e.own))
		c.words, c.more = append(c.words, e.words), append(c.more, e.more)
	}
	for _, s := range l.sequences.places {
		c.placesFrom, c.placesRow = append(c.placesFrom, s.from), append(c.placesRow, s.row)
		c.placesWeight, c.placesHeadWeight = append(c.placesWeight, s.weights[0]), append(c.placesHeadWeight, s.weights[1])
	}
	c.weights = l.sequences.weights
	c.single = []uint32{uint32(p.moves.Most), p.moves.Free, p.moves.Several, p.begin, uint32(l.sequences.stop), uint32(l.sequences.start)}
	b = append(append(b, version...), '\n')
	return columns.Append(b, c.all()...)
}

// readBuilt reads what appendBuilt wrote of tables with a version, without languages. What
// is of others is errStale.
func readBuilt(b []byte, version string) (*lexicon, error) {
	var c numbers
	if len(b) <= len(version) || string(b[:len(version)]) != version || b[len(version)] != '\n' {
		return nil, errStale
	}
	if err := columns.Read(b[len(version)+1:], c.all()...); err != nil {
		return nil, errStale
	}
	l := &lexicon{phrases: &automaton{}, sequences: &sequenceTable{weights: c.weights}}
	entries := make([]entry, len(c.hashes))
	for i, h := range c.hashes {
		entries[i] = entry{h, word{c.symbols[i], c.numbers[i], c.tongues[i], c.self[i] != 0}}
	}
	l.index(entries)
	p := l.phrases
	for _, n := range c.expands {
		p.expand = append(p.expand, c.expanded[:n:n])
		c.expanded = c.expanded[n:]
	}
	p.states = make([]state, len(c.rows))
	for i := range p.states {
		p.states[i] = state{c.rows[i], c.fails[i], c.firsts[i]}
	}
	p.moves = transition.Table{Moves: make([]transition.Move, len(c.movesFrom)), Most: uint16(c.single[0]), Free: c.single[1], Several: c.single[2]}
	for i := range p.moves.Moves {
		p.moves.Moves[i] = transition.Move{From: c.movesFrom[i], To: c.movesTo[i]}
	}
	p.ends = make([]end, len(c.words))
	for i := range p.ends {
		p.ends[i] = end{meaning{kind(c.meanings[i]), c.reasons[i], c.owns[i] != 0}, c.words[i], c.more[i]}
	}
	p.begin = c.single[3]
	l.sequences.places = make([]sequence, len(c.placesFrom))
	for i := range l.sequences.places {
		l.sequences.places[i] = sequence{c.placesFrom[i], c.placesRow[i], [2]uint16{c.placesWeight[i], c.placesHeadWeight[i]}}
	}
	l.sequences.stop, l.sequences.start = uint16(c.single[4]), uint16(c.single[5])
	return l, nil
}
