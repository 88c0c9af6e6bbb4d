package refusal

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

//go:embed languages.txt
var languagesText string

// A language is one that answers are told to be in.
type language struct {
	code, name string
	// read is true when there are phrases of it, and thin when there are few: what
	// is short, denies something and is no refusal by them is left unjudged.
	read, thin bool
	// cause is the rationale of an answer that is left unjudged.
	cause string
}

// measured are the languages of which labeled answers, or a good number of plain
// refusals, were looked at.
var measured = []string{"en", "fr", "de", "es", "it", "pt", "zh", "ko"}

// maxLanguages bounds the number of languages, so that counts live on the stack.
const maxLanguages = 80

// maxTold bounds the words by which a language is told.
const maxTold = 60

// languageTable has the languages and their words.
type languageTable struct {
	languages []language
	// read is the number of those with phrases, which come first.
	read int
	// sets has the languages that have a word, by the place that its entry names.
	sets [][]uint8
	// byScript are the languages that have a script for themselves.
	byScript [scripts]uint8
}

// parseLanguages reads the table of languages; its format stands at its top. It adds
// the words to v.
func parseLanguages(text string, v vocabulary) (*languageTable, error) {
	t := &languageTable{sets: [][]uint8{nil}}
	known := map[string][]uint8{}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		head, words, ok := strings.Cut(line, ":")
		code, name, named := strings.Cut(head, " ")
		if !ok || !named {
			return nil, fmt.Errorf("line %d: want code, name, colon, words", i+1)
		}
		n := uint8(len(t.languages))
		if n == maxLanguages-1 {
			return nil, fmt.Errorf("line %d: more than %d languages", i+1, maxLanguages-1)
		}
		_, err := phraseFiles.Open("phrases/" + code + ".txt")
		l := language{code: code, name: name, read: err == nil, thin: !slices.Contains(measured, code)}
		l.cause = "the answer is in " + name + ", which lexical does not read"
		if l.read {
			l.cause = "the answer is short and denies something in " + name + ", of which lexical knows few phrases"
			if t.read++; t.read != len(t.languages)+1 {
				return nil, fmt.Errorf("line %d: a language with phrases stands behind one without", i+1)
			}
		}
		t.languages = append(t.languages, l)
		if s := slices.Index(scriptCodes[:], code); s >= 0 {
			t.byScript[s] = n
		}
		for _, word := range strings.Fields(words) {
			if word = foldWord(word); !slices.Contains(known[word], n) {
				known[word] = append(known[word], n)
			}
		}
	}
	// The last one is for text that no language here explains.
	t.languages = append(t.languages, language{name: "another language", cause: "the answer is in a language that lexical does not read"})
	for _, folded := range slices.Sorted(maps.Keys(known)) {
		v.of(folded).tongues = uint16(len(t.sets))
		t.sets = append(t.sets, known[folded])
	}
	return t, nil
}

// A script is one in which words are written. Those after scriptArabic are each of
// one language here.
type script uint8

const (
	scriptLatin script = iota
	scriptCyrillic
	scriptArabic
	scriptDevanagari
	scriptHan
	scriptKana
	scriptHangul
	scriptGreek
	scriptHebrew
	scriptThai
	scriptBengali
	scriptTamil
	scriptTelugu
	scriptGujarati
	scriptKannada
	scriptMalayalam
	scriptGurmukhi
	scriptSinhala
	scriptMyanmar
	scriptKhmer
	scriptLao
	scriptGeorgian
	scriptArmenian
	scriptEthiopic
	scriptOther
	scripts
)

// scriptCodes are the languages that are told by their script alone.
var scriptCodes = [scripts]string{
	scriptHan: "zh", scriptKana: "ja", scriptHangul: "ko", scriptGreek: "el", scriptHebrew: "he", scriptThai: "th",
	scriptBengali: "bn", scriptTamil: "ta", scriptTelugu: "te", scriptGujarati: "gu", scriptKannada: "kn",
	scriptMalayalam: "ml", scriptGurmukhi: "pa", scriptSinhala: "si", scriptMyanmar: "my", scriptKhmer: "km",
	scriptLao: "lo", scriptGeorgian: "ka", scriptArmenian: "hy", scriptEthiopic: "am",
}

// scriptRanges are the first and last characters of scripts, in order.
var scriptRanges = [...]struct {
	first, last rune
	script      script
}{
	{0x0, 0x24F, scriptLatin},
	{0x370, 0x3FF, scriptGreek},
	{0x400, 0x52F, scriptCyrillic},
	{0x530, 0x58F, scriptArmenian},
	{0x590, 0x5FF, scriptHebrew},
	{0x600, 0x77F, scriptArabic},
	{0x900, 0x97F, scriptDevanagari},
	{0x980, 0x9FF, scriptBengali},
	{0xA00, 0xA7F, scriptGurmukhi},
	{0xA80, 0xAFF, scriptGujarati},
	{0xB80, 0xBFF, scriptTamil},
	{0xC00, 0xC7F, scriptTelugu},
	{0xC80, 0xCFF, scriptKannada},
	{0xD00, 0xD7F, scriptMalayalam},
	{0xD80, 0xDFF, scriptSinhala},
	{0xE00, 0xE7F, scriptThai},
	{0xE80, 0xEFF, scriptLao},
	{0x1000, 0x109F, scriptMyanmar},
	{0x10A0, 0x10FF, scriptGeorgian},
	{0x1200, 0x137F, scriptEthiopic},
	{0x1780, 0x17FF, scriptKhmer},
	{0x1E00, 0x1EFF, scriptLatin},
	{0x3041, 0x30FF, scriptKana},
	{0x3400, 0x9FFF, scriptHan},
	{0xAC00, 0xD7A3, scriptHangul},
	{0xFB50, 0xFEFF, scriptArabic},
}

// scriptOf gives the script of a word by its first letter.
func scriptOf(text string) script {
	r, _ := utf8.DecodeRuneInString(text)
	for _, s := range scriptRanges {
		if r <= s.last {
			if r >= s.first {
				return s.script
			}
			break
		}
	}
	return scriptOther
}

// A tally has the first words of an answer by which its language is told: how many
// are in each script, and the sets of languages that have them.
type tally struct {
	words   int
	scripts [scripts]uint16
	sets    [maxTold]uint16
}

// add notes a word, of maxTold at most.
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

// language tells the language that most of the words are in: by script, and where
// several languages share one by the words that are known of each.
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
			return &table.languages[table.byScript[scriptKana]]
		}
		return &table.languages[table.byScript[scriptHan]]
	case scriptLatin, scriptCyrillic, scriptArabic, scriptDevanagari:
	case scriptOther:
		return &table.languages[len(table.languages)-1]
	default:
		return &table.languages[table.byScript[most]]
	}
	var known [maxLanguages]uint8
	for _, set := range t.sets[:t.words] {
		for _, n := range table.sets[set] {
			known[n]++
		}
	}
	best, other := 0, 0 // of the languages that are read, and of those that are not
	for n := range table.languages {
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
		return &table.languages[len(table.languages)-1]
	}
	return &table.languages[best]
}
