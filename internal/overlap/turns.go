package overlap

import (
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/similar"
)

// Said gives what the user says in a prompt.
func Said(p orbench.Prompt) []string {
	var turns []string
	for _, m := range p.Messages {
		if m.Role == orbench.User {
			turns = append(turns, m.Content)
		}
	}
	return turns
}

// Whole is all that the user says in a conversation. Splits are compared by it: single
// turns, such as a greeting, may well be in several.
func Whole(said []string) string { return strings.Join(said, "\n") }

// Turns are what users say in some prompts, indexed to find what is nearly the same.
type Turns struct {
	texts []string
	// exact leads from the words of a turn to the first turn with them.
	exact map[string]int
	index *similar.Index
}

// NewTurns has none yet. The threshold is that of Evaluations.
func NewTurns(threshold float64) *Turns {
	return &Turns{exact: map[string]int{}, index: similar.NewIndex(threshold)}
}

// Keep adds turns, which are numbered in their order.
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

// Near is a kept turn that one is like: with the same words, or by Jaccard.
type Near struct {
	// At is its number from 0.
	At      int
	Exact   bool
	Jaccard float64
}

// Find gives the kept turn that one of those said is like: one with the same words, or
// else the most like of those that are nearly the same.
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

// sameWords is equal for texts with the same words. A text without words is taken as
// it stands.
func sameWords(text string) string {
	if n := similar.Normalize(text); n != "" {
		return n
	}
	return text
}
