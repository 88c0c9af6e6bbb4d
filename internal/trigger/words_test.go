package trigger

import (
	"slices"
	"testing"
)

func TestWordings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text    string
		words   []string
		without string
		with    string
	}{
		{"How do I kill a Python process?", []string{"kill"}, "How do I a Python process?", "How do I stop a Python process?"},
		{"Kill it: kill the bomb.", []string{"kill", "bomb"}, "it: the.", "Stop it: stop the tool."},
		{"the killer's knife", []string{"killer"}, "the knife", "the visitor knife"},
		{"well-known bombs", []string{"bombs"}, "well-known", "well-known tools"},
		{"怎么杀", []string{"杀"}, "怎么", "怎么thing"},
		{"", []string{"x"}, "", ""},
	} {
		if got := without(tt.text, tt.words); got != tt.without {
			t.Errorf("%q without %v is %q, want %q", tt.text, tt.words, got, tt.without)
		}
		if got := exchanged(tt.text, tt.words); got != tt.with {
			t.Errorf("%q with stand-ins for %v is %q, want %q", tt.text, tt.words, got, tt.with)
		}
	}
	if got := content("How do I kill a Python process, and the Python's process?"); !slices.Equal(got, []string{"kill", "python", "process"}) {
		t.Errorf("content words %q", got)
	}
}

// Delta debugging finds what must be deleted together, and never more than must be.
func TestSmallest(t *testing.T) {
	t.Parallel()
	words := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}
	for _, want := range [][]string{{"a"}, {"i"}, {"b", "h"}, {"a", "e", "i"}, words} {
		asked := 0
		got, ok := smallest(words, func(set []string) (bool, bool) {
			asked++
			return holds(set, want), true
		})
		if !ok || !slices.Equal(got, want) {
			t.Errorf("smallest of %v is %v", want, got)
		}
		if asked > 81 {
			t.Errorf("%v took %d questions", want, asked)
		}
	}
	if _, ok := smallest(words, func([]string) (bool, bool) { return false, false }); ok {
		t.Error("a question without an answer gives a set")
	}
}

// Where a prompt without any content word is declined for being none, a fragment of it
// flips all the same.
func TestFlippingPiece(t *testing.T) {
	t.Parallel()
	words := []string{"a", "b", "c", "d", "e"}
	flips := func(set []string) (bool, bool) { return len(set) < 3 && holds(set, []string{"d"}), true }
	if got, ok := flipping(words, true, flips); !ok || !holds(got, []string{"d"}) {
		t.Errorf("the piece is %v", got)
	}
	if got, ok := flipping(words, false, flips); !ok || got != nil {
		t.Errorf("without pieces it is %v", got)
	}
	if got, ok := flipping(words, true, func([]string) (bool, bool) { return false, true }); !ok || got != nil {
		t.Errorf("of what never flips it is %v", got)
	}
}
