package refusal

// automaton follows words through all phrases at once (Aho and Corasick, 1975, on words
// instead of letters). It is built once and never changed. Words in the same classes
// share a symbol, which keeps the automaton small.
type automaton struct {
	// expand has the symbols of words that stand for several words (can't).
	expand [][]uint16
	// A state is the longest part of phrases that matches the last words read.
	states []state
	moves  transitions
	ends   []end
	// begin is the state at the start of a sentence, after the word ^.
	begin uint32
}

// A state has the data needed to continue from it.
type state struct {
	row  uint32 // of its moves
	fail uint16 // the next shorter part of phrases
	// first is the index in ends where the phrases that end here begin, 0 for none.
	first uint16
}

// An end is the end of a phrase in a state.
type end struct {
	meaning
	// words is the length of the phrase.
	words uint8
	// more is the number of entries after it, all shorter, that end here too.
	more uint8
}

const (
	symbolNone uint16 = 0
	symbolSkip uint16 = 1
	// symbolExpand and above are indexes into expand.
	symbolExpand uint16 = 0x8000
)

// endsAt gives the phrases that end in a state, the longest first.
func (a *automaton) endsAt(state uint32) []end { return a.endsFrom(a.states[state].first) }

// endsFrom gives the ends that begin at an index, none for 0.
func (a *automaton) endsFrom(first uint16) []end {
	if first == 0 {
		return nil
	}
	return a.ends[first : int(first)+1+int(a.ends[first].more)]
}

// step moves from a state by a symbol. Each failed try shortens the state, so n words
// take at most 2n tries.
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

// symbols gives the symbols of a word from the symbol of its entry: none for a word that
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

// maxAlias is the most words that one word stands for.
const maxAlias = 4

// mix spreads keys over the table (Fibonacci hashing).
func mix(key uint64) uint64 {
	key *= 0x9E3779B97F4A7C15
	return key ^ key>>32
}
