package overlap

import (
	"cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/similar"
)

// Said returns what the user says in a prompt.
func Said(p orbench.Prompt) []string {
	var turns []string
	for _, m := range p.Messages {
		if m.Role == orbench.User {
			turns = append(turns, m.Content)
		}
	}
	return turns
}

// Match is a kept turn that another turn repeats.
type Match struct {
	// Set is where the kept turn is: the name of an evaluation set, or a row of another split.
	Set  string `json:"set"`
	Text string `json:"text"`
	// Exact is true if the words are the same; Jaccard is then 1. Otherwise
	// Jaccard is the similarity, from the threshold to 1.
	Exact   bool    `json:"exact"`
	Jaccard float64 `json:"jaccard"`
}

// Turns holds what users say in some prompts, indexed to find what is nearly
// the same.
type Turns struct {
	kept []Match
	// exact maps the words of a turn to the first turn with them.
	exact map[string]int
	index *similar.Index
}

// NewTurns makes an empty Turns. The threshold is that of Evaluations.
func NewTurns(threshold float64) *Turns {
	return &Turns{exact: map[string]int{}, index: similar.NewIndex(threshold)}
}

// Keep adds turns of a set.
func (t *Turns) Keep(set string, said ...string) {
	for _, text := range said {
		key := words(text)
		if _, again := t.exact[key]; !again {
			t.exact[key] = len(t.kept)
		}
		t.kept = append(t.kept, Match{Set: set, Text: text})
		t.index.Keep(text)
	}
}

// Find returns the kept turn that one of those said repeats: one with the same
// words, or else the most similar of those that are nearly the same.
func (t *Turns) Find(said []string) (best Match, found bool) {
	for _, text := range said {
		if at, ok := t.exact[words(text)]; ok {
			return Match{t.kept[at].Set, t.kept[at].Text, true, 1}, true
		}
	}
	for _, text := range said {
		if at, jaccard, ok := t.index.Nearest(text); ok && jaccard > best.Jaccard {
			best, found = Match{t.kept[at].Set, t.kept[at].Text, false, jaccard}, true
		}
	}
	return best, found
}

// words are those of a text. A text without words is used as it is.
func words(text string) string { return cmp.Or(similar.Normalize(text), text) }
