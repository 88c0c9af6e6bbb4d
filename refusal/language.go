package refusal

import (
	_ "embed"
	"strings"
	"unicode/utf8"
)

// A language is one that can be detected in answers.
type language struct {
	// code is the code of ISO 639-1.
	code string
	// read is true if the language has phrases, and thin if it has few. Then a short
	// answer that denies something, and is no refusal by these phrases, is left unjudged.
	read, thin bool
	// sure is true if answers are judged even when the detector is not sure. In other
	// languages they are left unjudged.
	sure bool
	// cause is the rationale of an answer left unjudged because of its language.
	cause string
}

// maxLanguages bounds the number of languages, so that counts fit on the stack.
const maxLanguages = 80

// A languageTable has the languages and their words.
type languageTable struct {
	// all are the languages; the last one is for text that fits no other.
	all []language
	// read is the number of languages with phrases, which come first.
	read uint8
	// sets are sets of languages that share a word.
	sets [][]uint8
	// byScript are the languages that alone use their script.
	byScript [scripts]uint8
}

// maxTold is the most words used to detect a language.
const maxTold = 60

// A tally has the first words of an answer, from which its language is detected: how many
// are in each script, and the sets of languages that have them. The zero value is ready
// for use.
type tally struct {
	words   int
	scripts [scripts]uint16
	sets    [maxTold]uint16
}

// full reports whether the tally has the most words that it takes.
func (t *tally) full() bool { return t.words == maxTold }

// add adds a word and the set of languages that have it. The tally must not be full.
func (t *tally) add(text string, set uint16) {
	t.sets[t.words] = set
	t.words++
	s := scriptLatin
	if text[0] >= utf8.RuneSelf {
		s = scriptOf(text)
	}
	t.scripts[s]++
}

// The bounds for detecting a language.
const (
	// knownShare means that at least one in so many words of a text in a language is
	// known.
	knownShare = 20
	// fewWords is the most words of a text that may have no known word.
	fewWords = 3
	// leadWords is the least lead, in known words, that a language without phrases must
	// have over all languages with phrases. It applies to Latin letters, whose languages
	// share more words than others.
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

// mostLanguageBytes is how much of a text Language reads: about its first sixty words.
const mostLanguageBytes = 600

// Language returns the language of a text, as its code of ISO 639-1. It is empty if the
// text is in none of the known languages. Only the beginning is read.
func Language(text string) string {
	if len(text) > mostLanguageBytes {
		text = strings.ToValidUTF8(text[:mostLanguageBytes], "")
	}
	read := newView("", text)
	defer views.Put(read)
	return read.languages.language(embedded().languages).code
}
