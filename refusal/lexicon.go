package refusal

import "sync"

// A lexicon has everything that is known about words, so that reading a text looks each
// word up once.
type lexicon struct {
	// entries are found by the hashes of the words, with open addressing.
	entries []entry
	mask    uint64

	phrases   *automaton
	sequences *sequenceTable
	languages *languageTable
	// weights are the weights of the logistic model, in the order of features.
	weights *vector
	// lacking are the weights of the words that tell an answer which lacks something from a
	// refusal, and from one that does what was asked, by their numbers; at 0 is the bias.
	lacking [maxLacking][2]float64
}

// maxLacking is the number of weights for these words, with the bias.
const maxLacking = 256

// An entry is what is known about a word.
type entry struct {
	hash uint64
	word
}

type word struct {
	// symbol is the word's symbol in phrases, and number its number in sequences; 0 for
	// none.
	symbol, number uint16
	// tongues is the set of languages that have the word, in the form that tally takes.
	tongues uint16
	// lacking is the word's number among those that tell what an answer lacks, 0 for none.
	lacking uint8
	// self is true if the word refers to the model.
	self bool
}

// embedded is the built-in lexicon, read when it is first needed.
var embedded = sync.OnceValue(func() *lexicon { return readBuilt(builtLexicon) })

// index puts the words into the hash table.
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

// at gives the entry of a word, or the free entry where it would be.
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

// word gives the entry of the scanner's word. If an English possessive has no entry, it
// is treated as its base word in phrases.
func (l *lexicon) word(s *scanner) word {
	w := l.at(s.hash).word
	if w.symbol == symbolNone && s.stem != s.hash {
		w.symbol = l.at(s.stem).symbol
	}
	return w
}
