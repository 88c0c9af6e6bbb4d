package language

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Text is the table of languages and of the words by which each is told; its format
// stands at its top.
//
//go:embed languages.txt
var Text string

// A Language is one that answers are told to be in.
type Language struct {
	// Code is that of ISO 639-1.
	Code, Name string
	// Read is true when there are phrases of it, and Thin when there are few: what
	// is short, denies something and is no refusal by them is left unjudged.
	Read, Thin bool
	// Sure is true when an answer of which the detector is not sure is judged all the
	// same; in other languages it is left unjudged.
	Sure bool
	// Cause is the rationale of an answer that is left unjudged for its language.
	Cause string
}

// measured are the languages of which labeled answers, or a good number of plain
// refusals, were looked at.
var measured = []string{"en", "fr", "de", "es", "it", "pt", "zh", "ko"}

// sure are the languages that are read well enough to judge uncertain answers.
var sure = []string{"en", "fr", "de", "es", "it", "pt", "zh"}

// maxLanguages bounds the number of languages, so that counts live on the stack.
const maxLanguages = 80

// Table has the languages and their words.
type Table struct {
	// Languages are all of them, the last one for text that no other explains.
	Languages []Language
	// read is the number of those with phrases, which come first.
	read int
	// sets has the languages that have a word.
	sets [][]uint8
	// byScript are the languages that have a script for themselves.
	byScript [scripts]uint8
}

// Parse reads a table such as Text. fold writes a word as it is looked up, and read
// reports whether there are phrases of the language with a code. It also gives the
// sets of languages that have a word, by the folded word, for Tally.Add; 0 is that of
// none.
func Parse(text string, fold func(word string) string, read func(code string) bool) (t *Table, sets map[string]uint16, err error) {
	t = &Table{sets: [][]uint8{nil}}
	known := map[string][]uint8{}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		head, words, ok := strings.Cut(line, ":")
		code, name, named := strings.Cut(head, " ")
		if !ok || !named {
			return nil, nil, fmt.Errorf("line %d: want code, name, colon, words", i+1)
		}
		n := uint8(len(t.Languages))
		if n == maxLanguages-1 {
			return nil, nil, fmt.Errorf("line %d: more than %d languages", i+1, maxLanguages-1)
		}
		l := Language{Code: code, Name: name, Read: read(code), Thin: !slices.Contains(measured, code), Sure: slices.Contains(sure, code)}
		l.Cause = "the answer is in " + name + ", which lexical does not read"
		if l.Read {
			l.Cause = "the answer is in " + name + ", which lexical reads less well than English, and it is not sure of this one"
			if t.read++; t.read != len(t.Languages)+1 {
				return nil, nil, fmt.Errorf("line %d: a language with phrases stands behind one without", i+1)
			}
		}
		t.Languages = append(t.Languages, l)
		for s := range scriptTable {
			if scriptTable[s].code == code {
				t.byScript[s] = n
			}
		}
		for _, word := range strings.Fields(words) {
			if word = fold(word); !slices.Contains(known[word], n) {
				known[word] = append(known[word], n)
			}
		}
	}
	t.Languages = append(t.Languages, Language{Name: "another language", Cause: "the answer is in a language that lexical does not read"})
	sets = map[string]uint16{}
	for _, folded := range slices.Sorted(maps.Keys(known)) {
		sets[folded] = uint16(len(t.sets))
		t.sets = append(t.sets, known[folded])
	}
	return t, sets, nil
}

// maxTold bounds the words by which a language is told.
const maxTold = 60

// A Tally has the first words of an answer by which its language is told: how many
// are in each script, and the sets of languages that have them. Its zero value is
// ready.
type Tally struct {
	words   int
	scripts [scripts]uint16
	sets    [maxTold]uint16
}

// Full reports whether the tally has all the words that it takes.
func (t *Tally) Full() bool { return t.words == maxTold }

// Add notes a word and its set of Parse. The tally must not be full.
func (t *Tally) Add(text string, set uint16) {
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

// Language gives the language of most of the words. The script decides; if several
// languages share it, the known words of each decide.
func (t *Tally) Language(table *Table) *Language {
	most := scriptLatin
	for s, n := range t.scripts {
		if n > t.scripts[most] {
			most = script(s)
		}
	}
	switch most {
	case scriptHan, scriptKana:
		if t.scripts[scriptKana]*8 > t.scripts[scriptHan] {
			return &table.Languages[table.byScript[scriptKana]]
		}
		return &table.Languages[table.byScript[scriptHan]]
	case scriptLatin, scriptCyrillic, scriptArabic, scriptDevanagari:
	case scriptOther:
		return &table.Languages[len(table.Languages)-1]
	default:
		return &table.Languages[table.byScript[most]]
	}
	var known [maxLanguages]uint8
	for _, set := range t.sets[:t.words] {
		for _, n := range table.sets[set] {
			known[n]++
		}
	}
	best, other := 0, 0 // of the languages that are read, and of those that are not
	for n := range table.Languages {
		if n < table.read && known[n] > known[best] {
			best = n
		} else if n >= table.read && known[n] > known[other] {
			other = n
		}
	}
	lead := known[other] - min(known[best], known[other])
	if lead >= leadWords || lead > 0 && most != scriptLatin {
		best = other
	}
	if int(known[best])*knownShare < t.words && (t.words > fewWords || most != scriptLatin) {
		return &table.Languages[len(table.Languages)-1]
	}
	return &table.Languages[best]
}
