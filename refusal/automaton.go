package refusal

import (
	"fmt"
	"io/fs"
	"slices"
	"sync"
)

// automaton follows words through all phrases at once (Aho and Corasick, 1975,
// on words instead of letters). It is built once and never changed.
type automaton struct {
	// words gives a word's symbols. Words that stand in the same classes share
	// a symbol, which keeps the automaton small.
	words wordTable
	// expand has the symbols of words that stand for several (can't).
	expand [][]uint16
	// root, edges and fail are the machine's moves.
	root  []uint32
	edges edgeTable
	// begin is the state at the start of a sentence, after the word ^.
	begin uint32
	fail  []uint32
	// out is the longest phrase that ends in a state, or -1; depth its length
	// in words; shorter the state of the next shorter phrase that ends there.
	out      []int32
	depth    []uint8
	shorter  []uint32
	meanings []meaning
}

const (
	symbolNone uint16 = 0
	symbolSkip uint16 = 1
	// symbolExpand and above are indexes into expand.
	symbolExpand uint16 = 0x8000
)

// sentenceStart is the word of the tables that stands for the start of a sentence.
const sentenceStart = "^"

// machine builds the automaton from the embedded tables when it is first needed.
var machine = sync.OnceValue(func() *automaton {
	a, err := buildAutomaton(phraseFiles)
	if err != nil {
		panic("refusal: the embedded phrase tables are broken: " + err.Error())
	}
	return a
})

// buildAutomaton reads every table of fsys and joins them to one machine.
func buildAutomaton(fsys fs.FS) (*automaton, error) {
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
	a := &automaton{words: newWordTable(len(symbols) + len(t.alias) + len(t.skip))}
	for word, s := range symbols {
		a.words.put(hashWord(word), s)
	}
	for _, word := range t.skip {
		a.words.put(hashWord(word), symbolSkip)
	}
	for _, word := range sortedKeys(t.alias) {
		a.words.put(hashWord(word), symbolExpand+uint16(len(a.expand)))
		var seq []uint16
		for _, w := range t.alias[word] {
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
	type node struct {
		next map[uint16]uint32
	}
	nodes := []node{{next: map[uint16]uint32{}}}
	a.out, a.depth = []int32{-1}, []uint8{0}
	a.meanings = nil
	var most uint16
	for _, p := range t.phrases {
		id := int32(len(a.meanings))
		a.meanings = append(a.meanings, p.meaning)
		front := []uint32{0}
		for _, words := range p.places {
			var after []uint32
			seen := map[uint16]bool{}
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
				most = max(most, s)
				for _, from := range front {
					to, ok := nodes[from].next[s]
					if !ok {
						to = uint32(len(nodes))
						nodes[from].next[s] = to
						nodes = append(nodes, node{next: map[uint16]uint32{}})
						a.out = append(a.out, -1)
						a.depth = append(a.depth, a.depth[from]+1)
					}
					after = append(after, to)
				}
			}
			slices.Sort(after)
			front = slices.Compact(after)
		}
		for _, state := range front {
			if state != 0 && a.out[state] < 0 {
				a.out[state] = id
			}
		}
	}
	a.root = make([]uint32, most+1)
	a.fail = make([]uint32, len(nodes))
	a.shorter = make([]uint32, len(nodes))
	a.edges = newEdgeTable(len(nodes))
	queue := []uint32{}
	for _, s := range sortedKeys(nodes[0].next) {
		a.root[s] = nodes[0].next[s]
		queue = append(queue, a.root[s])
	}
	a.begin = a.root[symbols[sentenceStart]]
	for len(queue) > 0 {
		from := queue[0]
		queue = queue[1:]
		for _, s := range sortedKeys(nodes[from].next) {
			to := nodes[from].next[s]
			a.edges.put(from, s, to)
			f := a.fail[from]
			for f != 0 && nodes[f].next[s] == 0 {
				f = a.fail[f]
			}
			a.fail[to] = nodes[f].next[s]
			queue = append(queue, to)
		}
		if f := a.fail[from]; a.out[f] >= 0 {
			a.shorter[from] = f
		} else {
			a.shorter[from] = a.shorter[f]
		}
	}
}

// step moves from a state by a symbol. Each failed try makes the state shorter,
// so that n words take at most 2n tries.
func (a *automaton) step(state uint32, symbol uint16) (next uint32, tries int) {
	for state != 0 {
		tries++
		if to := a.edges.get(state, symbol); to != 0 {
			return to, tries
		}
		state = a.fail[state]
	}
	if int(symbol) < len(a.root) {
		return a.root[symbol], tries + 1
	}
	return 0, tries + 1
}

// symbol gives a word's symbol, symbolNone for a word that no phrase has.
func (a *automaton) symbol(s *scanner) uint16 {
	symbol := a.words.get(s.hash)
	if symbol == symbolNone && s.stem != s.hash {
		symbol = a.words.get(s.stem)
	}
	return symbol
}

// symbols gives the symbols of a word: none for a word that is skipped, several
// for one that stands for several.
func (a *automaton) symbols(s *scanner) (symbols [maxAlias]uint16, n int) {
	symbol := a.symbol(s)
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

// wordTable maps the hashes of words to symbols, by open addressing.
type wordTable struct {
	hashes  []uint64
	symbols []uint16
	mask    uint64
}

func newWordTable(n int) wordTable {
	size := 64
	for size < 3*n {
		size *= 2
	}
	return wordTable{hashes: make([]uint64, size), symbols: make([]uint16, size), mask: uint64(size - 1)}
}

func (t *wordTable) put(h uint64, symbol uint16) {
	i := (h ^ h>>32) & t.mask
	for t.hashes[i] != 0 && t.hashes[i] != h {
		i = (i + 1) & t.mask
	}
	t.hashes[i], t.symbols[i] = h, symbol
}

func (t *wordTable) get(h uint64) uint16 {
	i := (h ^ h>>32) & t.mask
	for t.hashes[i] != 0 {
		if t.hashes[i] == h {
			return t.symbols[i]
		}
		i = (i + 1) & t.mask
	}
	return symbolNone
}

// edgeTable maps a state and a symbol to the next state, by open addressing.
type edgeTable struct {
	keys []uint64
	to   []uint32
	mask uint64
}

func newEdgeTable(n int) edgeTable {
	size := 64
	for size < 3*n {
		size *= 2
	}
	return edgeTable{keys: make([]uint64, size), to: make([]uint32, size), mask: uint64(size - 1)}
}

func edgeKey(state uint32, symbol uint16) uint64 { return uint64(state)<<16 | uint64(symbol) }

// mix spreads keys over the table (Fibonacci hashing).
func mix(key uint64) uint64 {
	key *= 0x9E3779B97F4A7C15
	return key ^ key>>32
}

func (t *edgeTable) put(state uint32, symbol uint16, to uint32) {
	key := edgeKey(state, symbol)
	i := mix(key) & t.mask
	for t.keys[i] != 0 {
		i = (i + 1) & t.mask
	}
	t.keys[i], t.to[i] = key, to
}

func (t *edgeTable) get(state uint32, symbol uint16) uint32 {
	key := edgeKey(state, symbol)
	i := mix(key) & t.mask
	for t.keys[i] != 0 {
		if t.keys[i] == key {
			return t.to[i]
		}
		i = (i + 1) & t.mask
	}
	return 0
}
