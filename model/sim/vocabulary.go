package sim

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed generator.txt
var generatorText string

// vocabulary is generator.txt. It is read-only once read.
type vocabulary struct {
	list     map[string][]string
	sections map[string]*section
	// deeds are those of all categories, and having the ones that hold a word.
	deeds  []place
	having map[string][]int
}

// section is what a category has of its own.
type section struct {
	things []string
	deeds  []deedLine
}

// deedLine is something that seeds ask for, with the plural nouns that rewrites
// of them speak of.
type deedLine struct {
	text  string
	nouns []string
}

// place is a deed and its section.
type place struct {
	section *section
	deed    deedLine
}

// ownCategory is the section for categories that have none.
const ownCategory = "*"

func parseVocabulary(text string) (*vocabulary, error) {
	v := &vocabulary{list: map[string][]string{}, sections: map[string]*section{}, having: map[string][]int{}}
	var current *section
	var order []*section
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '[' {
			current = &section{}
			name := strings.Trim(line, "[]")
			v.sections[name] = current
			if name != ownCategory {
				order = append(order, current)
			}
			continue
		}
		if deed, nouns, ok := strings.Cut(line, " = "); ok && current != nil {
			current.deeds = append(current.deeds, deedLine{strings.TrimSpace(deed), split(nouns, ";")})
			continue
		}
		name, entries, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, fmt.Errorf("generator.txt:%d: %q is neither a list nor a deed", i+1, line)
		}
		if name == "things" && current != nil {
			current.things = split(entries, "|")
			continue
		}
		v.list[name] = append(v.list[name], split(entries, "|")...)
	}
	// In the order of the file, so that equals are found in the same order always.
	for _, s := range order {
		v.index(s)
	}
	return v, nil
}

// index makes the deeds of a section findable by their words, but for words that
// stand around any deed.
func (v *vocabulary) index(s *section) {
	around := map[string]bool{}
	for _, name := range []string{"opener", "person", "where", "tail", "aside"} {
		for _, entry := range v.list[name] {
			for _, word := range contentWords(entry) {
				around[word] = true
			}
		}
	}
	for _, d := range s.deeds {
		for _, word := range contentWords(d.text) {
			if !around[word] {
				v.having[word] = append(v.having[word], len(v.deeds))
			}
		}
		v.deeds = append(v.deeds, place{s, d})
	}
}

// nearest finds the deed that a seed is most likely about: the one that shares
// the most of its words with the seed, rare ones counting more. A seed that
// shares none gets deeds made of its own words.
func (v *vocabulary) nearest(seed string) (*section, deedLine) {
	scores := map[int]float64{}
	best, most := -1, 0.0
	for _, word := range contentWords(seed) {
		found := v.having[word]
		for _, d := range found {
			scores[d] += 1 / float64(len(found))
			if s := scores[d]; s > most || s == most && d < best {
				best, most = d, s
			}
		}
	}
	if best < 0 {
		s := v.own("", seed)
		return s, s.deeds[hashOf(seed)%uint64(len(s.deeds))]
	}
	return v.deeds[best].section, v.deeds[best].deed
}

// own makes a section for a category of one's own, of the words of its name and
// definition.
func (v *vocabulary) own(category, definition string) *section {
	words := contentWords(category + " " + definition)
	if len(words) == 0 {
		words = []string{"secrets"}
	}
	s := &section{things: words}
	for _, d := range v.sections[ownCategory].deeds {
		for _, x := range words {
			use := func(string) string { return x }
			made := deedLine{text: strings.ReplaceAll(d.text, "{x}", x)}
			for _, n := range d.nouns {
				made.nouns = append(made.nouns, fill(n, use))
			}
			s.deeds = append(s.deeds, made)
		}
	}
	return s
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

var functionWords = func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq("and are any but can for has her his how its not one our out she the they too was who you all off about again against also another anybody anything asks because been before being could does every from have help here into itself like made make more most must nobody other others ought over same should some somebody something such text than that their them then there these they thing things this those through towards under until upon very what when where which while with without would your") {
		set[w] = true
	}
	return set
}()

func split(entries, by string) []string {
	var out []string
	for e := range strings.SplitSeq(entries, by) {
		if e = strings.TrimSpace(e); e != "" {
			out = append(out, e)
		}
	}
	return out
}
