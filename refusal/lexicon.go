package refusal

import (
	"sync"

	"github.com/orbench/orbench/refusal/internal/language"
)

// A lexicon has all that is known of words, so that reading a text looks each word up
// once.
type lexicon struct {
	// entries are found by the hashes of the words, by open addressing.
	entries []entry
	mask    uint64

	phrases   *automaton
	sequences *sequenceTable
	languages *language.Table
}

// An entry is what is known of a word.
type entry struct {
	hash uint64
	word
}

type word struct {
	// symbol is the word's in phrases, number that in sequences, 0 for none.
	symbol, number uint16
	// tongues is the set of languages that have it, as language.Tally takes it.
	tongues uint16
	// self is true when it stands for the model.
	self bool
}

// vocabulary collects the words of the tables, folded.
type vocabulary map[string]*word

// of gives what is known of a word, to be added to.
func (v vocabulary) of(folded string) *word {
	if v[folded] == nil {
		v[folded] = new(word)
	}
	return v[folded]
}

// embedded builds the lexicon from the embedded tables when it is first needed.
var embedded = sync.OnceValue(func() *lexicon { return newLexicon(sequencesText) })

// newLexicon builds a lexicon with the given weights of sequences.
func newLexicon(sequences string) *lexicon {
	l, v := new(lexicon), vocabulary{}
	var err error
	if l.phrases, err = buildAutomaton(phraseFiles, v); err != nil {
		panic("refusal: the embedded phrase tables are broken: " + err.Error())
	}
	if l.sequences, err = parseSequences(sequences, v); err != nil {
		panic("refusal: sequences.txt is broken; go generate ./refusal makes it anew: " + err.Error())
	}
	var tongues map[string]uint16
	if l.languages, tongues, err = language.Parse(language.Text, foldWord, hasPhrases); err != nil {
		panic("refusal: languages.txt is broken: " + err.Error())
	}
	for folded, set := range tongues {
		v.of(folded).tongues = set
	}
	for _, w := range selfWords {
		v.of(w).self = true
	}
	size := 64
	for size < 3*len(v)/2 {
		size *= 2
	}
	l.entries, l.mask = make([]entry, size), uint64(size-1)
	for folded, w := range v {
		h := hashWord(folded)
		*l.at(h) = entry{h, *w}
	}
	return l
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
