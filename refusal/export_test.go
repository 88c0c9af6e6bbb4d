package refusal

import "testing"

// WithWeights has Detect judge by other weights while do runs, which are written as
// weights.txt and sequences.txt are. No other test may run beside it.
func WithWeights(t testing.TB, features, sequences string, do func()) {
	t.Helper()
	w, err := parseWeights(features)
	if err != nil {
		t.Fatal(err)
	}
	l := newLexicon(sequences)
	lexiconBefore, weightsBefore := embedded, weights
	defer func() { embedded, weights = lexiconBefore, weightsBefore }()
	embedded, weights = func() *lexicon { return l }, func() *vector { return w }
	do()
}
