package overlap

import (
	"strings"

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

// Whole returns everything that the user says in a conversation. Splits are
// compared by it, because single turns, such as a greeting, may well be in
// several splits.
func Whole(said []string) string { return strings.Join(said, "\n") }

// Turns holds what users say in some prompts, indexed to find what is nearly
// the same.
type Turns struct {
	texts []string
	// exact maps the words of a turn to the first turn with them.
	exact map[string]int
	index *similar.Index
}

// NewTurns makes an empty Turns. The threshold is that of Evaluations.
func NewTurns(threshold float64) *Turns {
	return &Turns{exact: map[string]int{}, index: similar.NewIndex(threshold)}
}

// Keep adds turns. They are numbered in their order.
func (t *Turns) Keep(said ...string) {
	for _, text := range said {
		key := sameWords(text)
		if _, again := t.exact[key]; !again {
			t.exact[key] = len(t.texts)
		}
		t.texts = append(t.texts, text)
		t.index.Keep(text)
	}
}

// Near is a kept turn that another turn is similar to, by the same words or by
// Jaccard.
type Near struct {
	// At is its number, from 0.
	At      int
	Exact   bool
	Jaccard float64
}

// Find returns the kept turn that one of those said is similar to: one with the
// same words, or else the most similar of those that are nearly the same.
func (t *Turns) Find(said []string) (best Near, found bool) {
	for _, text := range said {
		if at, ok := t.exact[sameWords(text)]; ok {
			return Near{at, true, 1}, true
		}
	}
	for _, text := range said {
		if at, jaccard, ok := t.index.Nearest(text); ok && jaccard > best.Jaccard {
			best, found = Near{at, false, jaccard}, true
		}
	}
	return best, found
}

// sameWords returns equal results for texts with the same words. A text without
// words is used as it is.
func sameWords(text string) string {
	if n := similar.Normalize(text); n != "" {
		return n
	}
	return text
}
