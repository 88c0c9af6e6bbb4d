package refusal

import (
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/reply"
)

// WithWeights has Detect judge by other weights while do runs, which are written as
// weights.txt and sequences.txt are. No other test may run beside it.
func WithWeights(t testing.TB, features, sequences string, do func()) {
	t.Helper()
	w, err := parseWeights(features)
	if err != nil {
		t.Fatal(err)
	}
	l := newLexicon(sequences)
	l.weights = w
	before := embedded
	defer func() { embedded = before }()
	embedded = func() *lexicon { return l }
	do()
}

// LackingBounds are the sums of weights above which an answer lacks something: against
// refusals, and against answers.
var LackingBounds = [2]float64{overRefusal, overAnswer}

// Sequences gives the sequences of words of an answer that Detect looks up in its
// table of weights, each once: to train the weights anew. They are of one to three
// words, folded, with a point for the end of a sentence and ^ for the start of the
// text; those of the beginning are given a second time after a >. Code is left out.
func Sequences(answer string) []string {
	answer, _ = reply.Kept(answer)
	var (
		s     = scanner{text: answer, lineStart: true}
		w     window
		words = []string{startWord}
		code  bool
		list  []string
		seen  = map[string]bool{}
	)
	add := func(text string) {
		if !seen[text] {
			seen[text] = true
			list = append(list, text)
		}
	}
	for {
		var word string
		var longest int
		var head bool
		switch s.next() {
		case tokenEnd:
			return list
		case tokenFence:
			code = !code
		case tokenWord:
			if !code {
				word = foldWord(answer[s.start:s.end])
				longest, head = w.word(s.wide())
			}
		case tokenStop, tokenItem:
			word = stopWord
			longest, head = w.stop()
		}
		if longest == 0 {
			continue
		}
		words = append(words, word)
		for n := range longest {
			if words[len(words)-1-n] == "" {
				break // a word of marks alone cannot be written down
			}
			text := strings.Join(words[len(words)-1-n:], " ")
			add(text)
			if head {
				add(headWord + " " + text)
			}
		}
	}
}

// Feature is one of the numbers that Detect weighs.
type Feature struct {
	Name  string
	Value float64
}

// Features gives the numbers that Detect weighs for an answer, always the same
// ones in the same order: to explain a verdict, and to train the weights anew.
func Features(prompt, answer string) []Feature {
	text, _ := reply.Kept(answer)
	v := newView(prompt, text)
	defer views.Put(v)
	var x vector
	v.weigh(embedded().weights, &x)
	values := make([]Feature, len(features))
	for i, f := range features {
		values[i] = Feature{Name: f.name, Value: x[i]}
	}
	return values
}
