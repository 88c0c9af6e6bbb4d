package refusal

import (
	"fmt"
	"io/fs"
	"slices"
)

// automaton follows words through all phrases at once (Aho and Corasick, 1975,
// on words instead of letters). It is built once and never changed. Words that
// stand in the same classes share a symbol, which keeps the automaton small.
type automaton struct {
	// expand has the symbols of words that stand for several (can't).
	expand [][]uint16
	// moves go from state to state. A state is the longest part of phrases that the
	// words read last are; its fail is the next shorter such part, and its value the
	// first of the ends of phrases here, 0 for none.
	moves doubleArray
	ends  []end
	// begin is the state at the start of a sentence, after the word ^.
	begin uint32
}

// An end is the end of a phrase in a state.
type end struct {
	meaning
	// words is the length of the phrase.
	words uint8
	// more is true when the next one ends here too, a shorter phrase.
	more bool
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
	t := &table{alias: map[string][]string{}}
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
	symbols := symbolsOf(t)
	if err := t.check(symbols); err != nil {
		return nil, err
	}
	a := &automaton{}
	for folded, s := range symbols {
		v.of(folded).symbol = s
	}
	for _, folded := range t.skip {
		v.of(folded).symbol = symbolSkip
	}
	for _, folded := range sortedKeys(t.alias) {
		v.of(folded).symbol = symbolExpand + uint16(len(a.expand))
		var seq []uint16
		for _, w := range t.alias[folded] {
			seq = append(seq, symbols[w])
		}
		a.expand = append(a.expand, seq)
	}
	a.addPhrases(t, symbols)
	return a, nil
}

// symbolsOf numbers the words of the tables from 2 on, with one number for all
// words that stand in exactly the same places of the phrases.
func symbolsOf(t *table) map[string]uint16 {
	places := map[string][]byte{}
	n := 0
	for _, p := range t.phrases {
		for _, words := range p.places {
			n++
			for _, w := range words {
				if w != "" {
					places[w] = fmt.Appendf(places[w], "%d ", n)
				}
			}
		}
	}
	for _, w := range sortedKeys(t.alias) {
		for _, part := range t.alias[w] {
			places[part] = append(places[part], part...)
		}
	}
	symbols := map[string]uint16{}
	known := map[string]uint16{}
	for _, w := range sortedKeys(places) {
		key := string(places[w])
		if known[key] == 0 {
			known[key] = uint16(len(known) + 2)
		}
		symbols[w] = known[key]
	}
	return symbols
}

// addPhrases makes the trie of all phrases and joins its states by their
// longest proper suffixes.
func (a *automaton) addPhrases(t *table, symbols map[string]uint16) {
	all := newTrie(1 << 18)
	phrases := []int{-1} // by the node where they end
	seen := map[uint16]bool{}
	for i, p := range t.phrases {
		front := []uint32{0}
		for _, words := range p.places {
			after := make([]uint32, 0, len(front)*len(words))
			clear(seen)
			for _, w := range words {
				s := symbols[w]
				if w == "" {
					after = append(after, front...)
					continue
				}
				if seen[s] {
					continue
				}
				seen[s] = true
				for _, from := range front {
					after = append(after, all.add(from, s))
				}
			}
			slices.Sort(after)
			front = slices.Compact(after)
		}
		for len(phrases) < len(all.nodes) {
			phrases = append(phrases, -1)
		}
		for _, n := range front {
			if n != 0 && phrases[n] < 0 {
				phrases[n] = i
			}
		}
	}
	var order, places []uint32
	a.moves, order, places = all.doubleArray()
	a.ends = make([]end, 1)
	for _, n := range order {
		at := &a.moves[places[n]]
		// Those of the next shorter state end here too.
		at.value = a.moves[at.fail].value
		if i := phrases[n]; i >= 0 {
			shorter := at.value
			at.value = uint32(len(a.ends))
			a.ends = append(a.ends, end{t.phrases[i].meaning, all.nodes[n].depth, shorter != 0})
			for more := shorter != 0; more; shorter++ {
				a.ends = append(a.ends, a.ends[shorter])
				more = a.ends[shorter].more
			}
		}
		for _, b := range all.nodes[n].next {
			if n != 0 {
				a.moves[places[b.node]].fail, _ = a.step(at.fail, b.symbol)
			}
		}
	}
	a.begin = a.moves.move(0, symbols[sentenceStart])
}

// endsAt gives the phrases that end in a state, the longest first.
func (a *automaton) endsAt(state uint32) []end {
	first := a.moves[state].value
	if first == 0 {
		return nil
	}
	last := first
	for a.ends[last].more {
		last++
	}
	return a.ends[first : last+1]
}

// step moves from a state by a symbol. Each failed try makes the state shorter,
// so that n words take at most 2n tries.
func (a *automaton) step(from uint32, symbol uint16) (next uint32, tries int) {
	for {
		tries++
		if to := a.moves.move(from, symbol); to != 0 || from == 0 {
			return to, tries
		}
		from = a.moves[from].fail
	}
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

func sortedKeys[K interface{ ~string | ~uint16 }, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// mix spreads keys over the table (Fibonacci hashing).
func mix(key uint64) uint64 {
	key *= 0x9E3779B97F4A7C15
	return key ^ key>>32
}
