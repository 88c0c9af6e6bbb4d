package refusal

import (
	_ "embed"
	"unicode/utf8"
)

// A language is one that answers are told to be in.
type language struct {
	// code is that of ISO 639-1.
	code string
	// read is true when there are phrases of it, and thin when there are few: what
	// is short, denies something and is no refusal by them is left unjudged.
	read, thin bool
	// sure is true when an answer of which the detector is not sure is judged all the
	// same; in other languages it is left unjudged.
	sure bool
	// cause is the rationale of an answer that is left unjudged for its language.
	cause string
}

// maxLanguages bounds the number of languages, so that counts live on the stack.
const maxLanguages = 80

// A languageTable has the languages and their words.
type languageTable struct {
	// all are the languages, the last one for text that no other explains.
	all []language
	// read is the number of those with phrases, which come first.
	read uint8
	// sets has the languages that have a word.
	sets [][]uint8
	// byScript are the languages that have a script for themselves.
	byScript [scripts]uint8
}

// maxTold bounds the words by which a language is told.
const maxTold = 60

// A tally has the first words of an answer by which its language is told: how many
// are in each script, and the sets of languages that have them. Its zero value is
// ready.
type tally struct {
	words   int
	scripts [scripts]uint16
	sets    [maxTold]uint16
}

// full reports whether the tally has all the words that it takes.
func (t *tally) full() bool { return t.words == maxTold }

// add notes a word and the set of languages that have it. The tally must not be full.
func (t *tally) add(text string, set uint16) {
	t.sets[t.words] = set
	t.words++
	s := scriptLatin
	if text[0] >= utf8.RuneSelf {
		s = scriptOf(text)
	}
	t.scripts[s]++
}

// The bounds by which a language is told.
const (
	// knownShare is the share of known words, one in so many, that text in a
	// language has at the least.
	knownShare = 20
	// fewWords is the number of words up to which a text may have none.
	fewWords = 3
	// leadWords is by how many known words a language without phrases must be ahead
	// of all with phrases in Latin letters, which share more words than others.
	leadWords = 2
)

// language gives the language of most of the words. The script decides; if several
// languages share it, the known words of each decide.
func (t *tally) language(table *languageTable) *language {
	most := scriptLatin
	for s, n := range t.scripts {
		if n > t.scripts[most] {
			most = script(s)
		}
	}
	switch most {
	case scriptHan, scriptKana:
		if t.scripts[scriptKana]*8 > t.scripts[scriptHan] {
			return &table.all[table.byScript[scriptKana]]
		}
		return &table.all[table.byScript[scriptHan]]
	case scriptLatin, scriptCyrillic, scriptArabic, scriptDevanagari:
	case scriptOther:
		return &table.all[len(table.all)-1]
	default:
		return &table.all[table.byScript[most]]
	}
	var known [maxLanguages]uint8
	for _, set := range t.sets[:t.words] {
		for _, n := range table.sets[set] {
			known[n]++
		}
	}
	best, other := 0, 0 // of the languages that are read, and of those that are not
	for n := range table.all {
		if n < int(table.read) && known[n] > known[best] {
			best = n
		} else if n >= int(table.read) && known[n] > known[other] {
			other = n
		}
	}
	lead := known[other] - min(known[best], known[other])
	if lead >= leadWords || lead > 0 && most != scriptLatin {
		best = other
	}
	if int(known[best])*knownShare < t.words && (t.words > fewWords || most != scriptLatin) {
		return &table.all[len(table.all)-1]
	}
	return &table.all[best]
}
