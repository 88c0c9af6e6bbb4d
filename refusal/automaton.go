package refusal

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
)

// automaton follows words through all phrases at once (Aho and Corasick, 1975,
// on words instead of letters). It is built once and never changed. Words that
// stand in the same classes share a symbol, which keeps the automaton small.
type automaton struct {
	// expand has the symbols of words that stand for several (can't).
	expand [][]uint16
	// A state is the longest part of phrases that the words read last are.
	states []state
	moves  transitions
	ends   []end
	// begin is the state at the start of a sentence, after the word ^.
	begin uint32
}

// A state has what is needed to go on from it.
type state struct {
	row  uint32 // of its moves
	fail uint16 // the next shorter part of phrases
	// first is where in ends those of the phrases that end here begin, 0 for none.
	first uint16
}

// An end is the end of a phrase in a state.
type end struct {
	meaning
	// words is the length of the phrase.
	words uint8
	// more is how many of those behind it, all shorter, end here too.
	more uint8
}

const (
	symbolNone uint16 = 0
	symbolSkip uint16 = 1
	// symbolExpand and above are indexes into expand.
	symbolExpand uint16 = 0x8000
)

// sentenceStart is the word of the tables that stands for the start of a sentence.
const sentenceStart = "^"

// buildAutomaton reads every table of fsys and joins them to one machine. It adds
// their words to v.
func buildAutomaton(fsys fs.FS, v vocabulary) (*automaton, error) {
	t := newTable()
	names, err := fs.Glob(fsys, "phrases/*.txt")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		if err := parseTable(name, string(text), t); err != nil {
			return nil, err
		}
	}
	a := &automaton{}
	symbols, most := symbolsOf(t)
	if err := t.check(symbols); err != nil {
		return nil, err
	}
	for folded, n := range t.numbers {
		v.of(folded).symbol = symbols[n]
	}
	for _, folded := range t.skip {
		v.of(folded).symbol = symbolSkip
	}
	for _, folded := range slices.Sorted(maps.Keys(t.alias)) {
		v.of(folded).symbol = symbolExpand + uint16(len(a.expand))
		var seq []uint16
		for _, w := range t.alias[folded] {
			seq = append(seq, symbols[t.numbers[w]])
		}
		a.expand = append(a.expand, seq)
	}
	a.moves = newTransitions(most)
	if !a.addPhrases(positionsOf(t, symbols)) {
		return nil, fmt.Errorf("the phrases need more than %d states, or as many ends", nowhere)
	}
	a.begin = a.moves.start(symbols[t.numbers[sentenceStart]])
	return a, nil
}

// symbolsOf gives the symbols of words by their numbers, from 2 on, and the greatest.
// All words that stand in exactly the same places of the phrases have one symbol; one
// that another word is read as has its own.
func symbolsOf(t *table) (symbols []uint16, most uint16) {
	stands := make([][]byte, len(t.numbers)+1)
	n := uint32(0)
	for _, p := range t.phrases {
		for _, place := range p.places {
			n++
			for _, w := range place.words {
				stands[w] = binary.LittleEndian.AppendUint32(stands[w], n)
			}
			for _, text := range place.texts {
				for _, w := range text {
					n++
					stands[w] = binary.LittleEndian.AppendUint32(stands[w], n)
				}
			}
		}
	}
	for _, words := range t.alias {
		for _, w := range words {
			stands[t.numbers[w]] = binary.LittleEndian.AppendUint32(nil, n+uint32(t.numbers[w]))
		}
	}
	symbols, most = make([]uint16, len(stands)), symbolSkip
	known := map[string]uint16{}
	for w := range stands {
		if stands[w] == nil {
			continue // in no phrase
		}
		if known[string(stands[w])] == 0 {
			most++
			known[string(stands[w])] = most
		}
		symbols[w] = known[string(stands[w])]
	}
	return symbols, most
}

// A position is where reading a phrase can be (Glushkov, 1961): before it, or just past
// one of its words.
type position struct {
	symbols []uint16
	meaning meaning
	// next are those that a further word can lead to, and ends is true when none is needed.
	next []uint32
	ends bool
}

// positionsOf gives the positions of all phrases, and where they begin.
func positionsOf(t *table, symbols []uint16) (all []position, begins []uint32) {
	for _, p := range t.phrases {
		// add makes a position after others.
		add := func(after []uint32, words ...uint16) uint32 {
			s := position{meaning: p.meaning}
			for _, w := range words {
				s.symbols = append(s.symbols, symbols[w])
			}
			slices.Sort(s.symbols)
			s.symbols = slices.Compact(s.symbols)
			at := uint32(len(all))
			all = append(all, s)
			for _, from := range after {
				all[from].next = append(all[from].next, at)
			}
			return at
		}
		reached := []uint32{add(nil)}
		begins = append(begins, reached[0])
		for _, place := range p.places {
			var next []uint32
			if len(place.words) > 0 {
				next = append(next, add(reached, place.words...))
			}
			for _, text := range place.texts {
				after := reached
				for _, w := range text {
					after = []uint32{add(after, w)}
				}
				next = append(next, after...)
			}
			if place.optional {
				next = append(next, reached...)
			}
			reached = next
		}
		for _, at := range reached {
			all[at].ends = true
		}
	}
	return all, begins
}

// addPhrases makes the states of all phrases at once. A state stands for all words that
// can have been read alike: those that lead to the same positions, are as many, and have
// the same next shorter state, so that the same follows from them. It stops and gives
// false where the states or the ends become too many to be numbered.
func (a *automaton) addPhrases(positions []position, begins []uint32) bool {
	type reached struct {
		at    []uint32 // the positions, in order
		words uint8
	}
	all := []reached{{at: begins}} // by state
	known := map[string]uint32{}
	a.states, a.ends = make([]state, 1), make([]end, 1)
	var passed []uint64 // a symbol, and the position that it leads to
	var next []branch
	var key []byte
	for n := 0; n < len(all); n++ {
		from, fail := all[n], uint32(a.states[n].fail)
		a.states[n].first = a.endsOf(positions, from.at, from.words, a.states[fail].first)
		passed = passed[:0]
		for _, i := range from.at {
			for _, to := range positions[i].next {
				for _, s := range positions[to].symbols {
					passed = append(passed, uint64(s)<<32|uint64(to))
				}
			}
		}
		slices.Sort(passed)
		passed = slices.Compact(passed)
		next = next[:0]
		for i := 0; i < len(passed); {
			first, symbol, shorter := i, uint16(passed[i]>>32), uint32(0)
			if n > 0 {
				shorter = a.step(fail, symbol)
			}
			key = binary.LittleEndian.AppendUint32(append(key[:0], from.words), shorter)
			for ; i < len(passed) && uint16(passed[i]>>32) == symbol; i++ {
				key = binary.LittleEndian.AppendUint32(key, uint32(passed[i]))
			}
			to, ok := known[string(key)]
			if !ok {
				to = uint32(len(all))
				known[string(key)] = to
				at := make([]uint32, 0, i-first)
				for _, p := range passed[first:i] {
					at = append(at, uint32(p))
				}
				all = append(all, reached{at, from.words + 1})
				a.states = append(a.states, state{fail: uint16(shorter)})
			}
			next = append(next, branch{symbol: symbol, to: uint16(to)})
		}
		if len(a.states) > nowhere || len(a.ends) > math.MaxUint16 {
			return false
		}
		a.states[n].row = a.moves.add(uint32(n), next)
	}
	return true
}

// endsOf adds the ends of phrases in a state that is at some positions after some words:
// the first of the phrases that end there, and those of the next shorter state. It
// gives where in ends they begin, 0 for none.
func (a *automaton) endsOf(positions []position, at []uint32, words uint8, shorter uint16) uint16 {
	if words == 0 {
		return 0
	}
	i := slices.IndexFunc(at, func(i uint32) bool { return positions[i].ends })
	if i < 0 {
		return shorter
	}
	rest := a.endsFrom(shorter)
	first := uint16(len(a.ends))
	a.ends = append(a.ends, end{positions[at[i]].meaning, words, uint8(len(rest))})
	a.ends = append(a.ends, rest...)
	return first
}

// endsAt gives the phrases that end in a state, the longest first.
func (a *automaton) endsAt(state uint32) []end { return a.endsFrom(a.states[state].first) }

// endsFrom gives those that begin there, none for 0.
func (a *automaton) endsFrom(first uint16) []end {
	if first == 0 {
		return nil
	}
	return a.ends[first : int(first)+1+int(a.ends[first].more)]
}

// step moves from a state by a symbol. Each failed try makes the state shorter,
// so that n words take at most 2n tries.
func (a *automaton) step(from uint32, symbol uint16) uint32 {
	for from != 0 {
		at := &a.states[from]
		if to := a.moves.next(from, at.row, symbol); to != 0 {
			return to
		}
		from = uint32(at.fail)
	}
	return a.moves.start(symbol)
}

// symbols gives the symbols of a word by the one of its entry: none for a word that
// is skipped, several for one that stands for several.
func (a *automaton) symbols(symbol uint16) (symbols [maxAlias]uint16, n int) {
	switch {
	case symbol == symbolSkip:
		return symbols, 0
	case symbol >= symbolExpand:
		return symbols, copy(symbols[:], a.expand[symbol-symbolExpand])
	}
	symbols[0] = symbol
	return symbols, 1
}

// maxAlias bounds the words that one word stands for.
const maxAlias = 4

// mix spreads keys over the table (Fibonacci hashing).
func mix(key uint64) uint64 {
	key *= 0x9E3779B97F4A7C15
	return key ^ key>>32
}
