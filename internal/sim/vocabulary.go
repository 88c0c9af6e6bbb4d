package sim

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed generator.txt
var generatorText string

// vocabulary is generator.txt.
type vocabulary struct {
	lists map[string][]string
	// deeds are those of each category, and all those of all of them.
	deeds map[string][]deedLine
	all   []deedLine
}

// deedLine is something that seeds ask for, with the plural nouns that rewrites of them speak
// of, the things of its category and the words that say what it is about.
type deedLine struct {
	text                 string
	nouns, things, words []string
}

// ownCategory is the list of deeds for categories that have none.
const ownCategory = "*"

// words is the vocabulary of the generator. It is read-only once read.
var words = sync.OnceValue(func() *vocabulary {
	lists, names := readLists(generatorText, "|")
	v := &vocabulary{lists: lists, deeds: map[string][]deedLine{}}
	for _, name := range names {
		for _, line := range lists[name] {
			if name == ownCategory || !strings.Contains(line, " = ") {
				continue
			}
			d := newDeed(line, lists["things "+name])
			v.deeds[name] = append(v.deeds[name], d)
			v.all = append(v.all, d)
		}
	}
	return v
})

// newDeed reads a deed, then after = its nouns.
func newDeed(line string, things []string) deedLine {
	text, nouns, _ := strings.Cut(line, " = ")
	return deedLine{text, strings.Split(nouns, "; "), things, contentWords(text)}
}

// nearest finds the deed that shares most words with a seed, or else some deed.
func (v *vocabulary) nearest(seed string) deedLine {
	said := contentWords(seed)
	best, most := v.all[hashOf(seed)%uint64(len(v.all))], 0
	for _, d := range v.all {
		shared := 0
		for _, word := range d.words {
			if slices.Contains(said, word) {
				shared++
			}
		}
		if shared > most {
			best, most = d, shared
		}
	}
	return best
}

// own makes deeds for a category that the user defined, from the words that describe it.
func (v *vocabulary) own(description string) (deeds []deedLine) {
	words := contentWords(description)
	if len(words) == 0 {
		words = []string{"secrets"}
	}
	for _, line := range v.lists[ownCategory] {
		for _, word := range words {
			deeds = append(deeds, newDeed(strings.ReplaceAll(line, "${x}", word), words))
		}
	}
	return deeds
}

// contentWords gives the words of a text that say what it is about, each once.
func contentWords(text string) (words []string) {
	for _, w := range tokens(text) {
		if len(w) > 2 && !hasWord(functionWords, w) && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

const functionWords = " and are any but can for has her his how its not one our out she the they too was who you all off about again against also another anybody anything asks because been before being could does every from have help here into itself like made make more most must nobody other others ought over same should some somebody something such text than that their them then there these they thing things this those through towards under until upon very what when where which while with without would your "

// hasWord reports whether a word is one of a list with a space around each.
func hasWord(list, word string) bool { return strings.Contains(list, " "+word+" ") }

//go:embed phrases.txt
var phrasesText string

// phrases are the lists of phrases.txt, by their names.
var phrases, _ = readLists(phrasesText, "\n")

// readLists reads lists, and gives them by their names and the names in their order. A
// line "[name]" begins a list, and those below it are its entries, parted by sep and by
// lines. Blank lines and those that begin with # say nothing.
func readLists(text, sep string) (lists map[string][]string, names []string) {
	lists = map[string][]string{}
	name := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			name = strings.Trim(line, "[]")
			names = append(names, name)
		default:
			for entry := range strings.SplitSeq(line, sep) {
				lists[name] = append(lists[name], strings.TrimSpace(entry))
			}
		}
	}
	return lists, names
}
