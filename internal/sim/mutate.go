package sim

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// What new requests keep of a parent's words: much if they tell the same anew, and less if
// they ask about something else.
const (
	keepsMuch = 0.7
	keepsLess = 0.45
)

// mutantForms are the forms of new requests, in turn.
var mutantForms = []string{"a question", "something to write", "something to explain", "a question", "something that the one who answers", "something to summarize"}

// mutants writes requests made of a parent, or of two. They keep words of it, each where
// the vocabulary has it; why a model refused the parent is not known.
func (m simulated) mutants(rng *rand.Rand, parent, other, question string) []string {
	about := parent
	if other != "" && rng.IntN(2) == 0 {
		about = other
	}
	w := &rewriter{Rand: rng, vocabulary: words(), deed: words().about(about), keeps: keepsMuch, forms: mutantForms}
	w.seed, w.kept = parent, w.entriesIn(parent+" "+other)
	if len(w.kept) == 0 {
		// The parent has no word of the vocabulary, so its own ones are added.
		w.borrowed = contentWords(parent)
	}
	change, _ := lineBehind(question, "What to change: ")
	switch {
	case strings.HasPrefix(change, "the subject"):
		w.deed, w.keeps = w.all[rng.IntN(len(w.all))], keepsLess
	case strings.HasPrefix(change, "the tone"):
		w.borrowed = append(w.borrowed, alarming(parent)...)
	case strings.HasPrefix(change, "the sense"):
		w.keeps = keepsLess
	}
	items := make([]string, numberBefore(question, " new requests"))
	first := rng.IntN(len(mutantForms))
	for i := range items {
		w.place = first + i
		items[i] = w.rewrite()
	}
	return items
}

// about finds the deed whose noun stands in a text, with that noun alone, or else the
// nearest deed.
func (v *vocabulary) about(text string) deedLine {
	text = strings.ToLower(text)
	for _, d := range v.all {
		for _, noun := range d.nouns {
			if strings.Contains(text, noun) {
				d.nouns = []string{noun}
				return d
			}
		}
	}
	return v.nearest(text)
}

// parted are the lists of short parts that requests of several forms are made of.
var parted = strings.Fields("expert victim quality place period verb effect clue ask aux genre trade tongue number")

// entriesIn gives the entries of the lists of parts that stand in a text.
func (v *vocabulary) entriesIn(text string) map[string][]string {
	found := map[string][]string{}
	in := tokens(text)
	for _, list := range parted {
		for _, entry := range v.lists[list] {
			if slices.Contains(in, strings.ToLower(entry)) || strings.Contains(entry, " ") && strings.Contains(strings.ToLower(text), strings.ToLower(entry)) {
				found[list] = append(found[list], entry)
			}
		}
	}
	return found
}
