package refusal

import (
	"sync"
)

// A lexicon has all that is known of words, so that reading a text looks each word up
// once.
type lexicon struct {
	// entries are found by the hashes of the words, by open addressing.
	entries []entry
	mask    uint64

	phrases   *automaton
	sequences *sequenceTable
	languages *languageTable
	// weights are the logistic model's, in the order of features.
	weights *vector
}

// An entry is what is known of a word.
type entry struct {
	hash uint64
	word
}

type word struct {
	// symbol is the word's in phrases, number that in sequences, 0 for none.
	symbol, number uint16
	// tongues is the set of languages that have it, as tally takes it.
	tongues uint16
	// self is true when it stands for the model.
	self bool
}

// embedded is the lexicon that is built in, read when it is first needed.
var embedded = sync.OnceValue(func() *lexicon { return readBuilt(builtLexicon) })

// index puts the words where they are found.
func (l *lexicon) index(words []entry) {
	size := 64
	for size < 3*len(words)/2 {
		size *= 2
	}
	l.entries, l.mask = make([]entry, size), uint64(size-1)
	for _, w := range words {
		*l.at(w.hash) = w
	}
}

// at gives the entry of a word, or the free one where it would stand.
func (l *lexicon) at(hash uint64) *entry {
	i := (hash ^ hash>>32) & l.mask
	for {
		e := &l.entries[i]
		if e.hash == hash || e.hash == 0 {
			return e
		}
		i = (i + 1) & l.mask
	}
}

// word gives what is known of the scanner's word. An English possessive stands in
// phrases as the word that it is of, when it does not stand there itself.
func (l *lexicon) word(s *scanner) word {
	w := l.at(s.hash).word
	if w.symbol == symbolNone && s.stem != s.hash {
		w.symbol = l.at(s.stem).symbol
	}
	return w
}
