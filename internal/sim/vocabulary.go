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
	// deeds are those of each category, all those of all of them, and having has the
	// indexes in all of the deeds that contain a word.
	deeds  map[string][]deedLine
	all    []deedLine
	having map[string][]int
}

// deedLine is something that seeds ask for, with the plural nouns that rewrites of them speak
// of, and the things of its category.
type deedLine struct {
	text          string
	nouns, things []string
}

// ownCategory is the list of deeds for categories that have none.
const ownCategory = "*"

// words is the vocabulary of the generator. It is read-only once read.
var words = sync.OnceValue(func() *vocabulary {
	lists, names := readLists(generatorText, "|")
	v := &vocabulary{lists: lists, deeds: map[string][]deedLine{}, having: map[string][]int{}}
	// Words that stand around any deed say nothing of one.
	around := map[string]bool{}
	for _, name := range []string{"opener", "person", "where", "tail", "aside"} {
		for _, word := range contentWords(strings.Join(lists[name], "\n")) {
			around[word] = true
		}
	}
	for _, name := range names {
		for _, line := range lists[name] {
			if name == ownCategory || !strings.Contains(line, " = ") {
				continue
			}
			d := newDeed(line, lists["things "+name])
			for _, word := range contentWords(d.text) {
				if !around[word] {
					v.having[word] = append(v.having[word], len(v.all))
				}
			}
			v.deeds[name] = append(v.deeds[name], d)
			v.all = append(v.all, d)
		}
	}
	return v
})

// newDeed reads a deed, then after = its nouns.
func newDeed(line string, things []string) deedLine {
	text, nouns, _ := strings.Cut(line, " = ")
	return deedLine{text, strings.Split(nouns, "; "), things}
}

// nearest finds the deed that a seed is most likely about: the one that shares
// the most of its words with the seed, rare ones counting more. A seed that
// shares none gets deeds made of its own words.
func (v *vocabulary) nearest(seed string) deedLine {
	scores := make([]float64, len(v.all))
	for _, word := range contentWords(seed) {
		found := v.having[word]
		for _, at := range found {
			scores[at] += 1 / float64(len(found))
		}
	}
	most := slices.Max(scores)
	if most == 0 {
		own := v.own(seed)
		return own[hashOf(seed)%uint64(len(own))]
	}
	return v.all[slices.Index(scores, most)]
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
func contentWords(text string) []string {
	var words []string
	for _, w := range tokens(text) {
		if len(w) > 2 && !functionWords[w] && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

var functionWords = wordSet("and are any but can for has her his how its not one our out she the they too was who you all off about again against also another anybody anything asks because been before being could does every from have help here into itself like made make more most must nobody other others ought over same should some somebody something such text than that their them then there these they thing things this those through towards under until upon very what when where which while with without would your")

// wordSet gives the words of a text.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		set[w] = true
	}
	return set
}
