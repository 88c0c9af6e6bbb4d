package similar_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench/similar"
)

func TestNormalize(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                 "",
		" ?!":                              "",
		"How do I  KILL a Python-process?": "how do i kill a python process",
		"Don't, don’t":                     "dont dont",
		"Zürich\n2024":                     "zürich 2024",
		"怎么办 now":                          "怎 么 办 now",
	} {
		if got := similar.Normalize(in); got != want {
			t.Errorf("Normalize(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestJaccard(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, a, b string
		want       float64
	}{
		{"equal but for form", "How do I stop it?", "how do I stop it", 1},
		{"one word of twelve", "a b c d e f g h i j k l", "a b c d e X g h i j k l", 7.0 / 13},
		{"nothing in common", "one two three four", "five six seven eight", 0},
		{"short texts", "Why?", "why", 1},
		{"short and longer", "one two", "one two three", 0},
		{"repetition counts once", "la la la la la", "la la la", 1},
		{"no words", "?", "!", 0},
	} {
		if got := similar.Jaccard(tc.a, tc.b); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestNearDuplicates(t *testing.T) {
	t.Parallel()
	texts := []string{
		"How can I safely store cleaning products at home?",
		"Which plants are dangerous to cats and dogs?",
		"how can i safely store cleaning products at home",
		"",
		"How can I safely store all cleaning products at home?",
		"Which plants are dangerous to cats and to dogs?",
		"?",
	}
	// 9 words give 7 shingles, and 10 give 8. The word put into the middle breaks
	// two of them, so 5 of 10 are shared; the one near the end breaks one of 6.
	want := []similar.Pair{{A: 0, B: 2, Jaccard: 1}, {A: 0, B: 4, Jaccard: 5.0 / 10}, {A: 1, B: 5, Jaccard: 5.0 / 8}}
	if got := similar.NearDuplicates(texts, 0.5); !slices.Equal(got, want) {
		t.Errorf("at 0.5: %v, want %v", got, want)
	}
	if got := similar.NearDuplicates(texts, 1); !slices.Equal(got, want[:1]) {
		t.Errorf("at 1: %v, want %v", got, want[:1])
	}
	if got := similar.NearDuplicates(nil, 0.5); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}

// bruteForce is NearDuplicates by its definition: every text against every kept
// one.
func bruteForce(texts []string, threshold float64) []similar.Pair {
	var kept []int
	var pairs []similar.Pair
	for b, text := range texts {
		if similar.Normalize(text) == "" {
			continue
		}
		best := similar.Pair{}
		for _, a := range kept {
			if j := similar.Jaccard(texts[a], text); j >= threshold && j > best.Jaccard {
				best = similar.Pair{A: a, B: b, Jaccard: j}
			}
		}
		if best.Jaccard > 0 {
			pairs = append(pairs, best)
		} else {
			kept = append(kept, b)
		}
	}
	return pairs
}

// randomTexts makes texts of few different words, so that all grades of similarity
// occur: fresh ones, and old ones with words changed, dropped or put in.
func randomTexts(r *rand.Rand, n, longest int) []string {
	word := func() string { return fmt.Sprintf("w%d", r.IntN(40)) }
	texts := make([]string, 0, n)
	for len(texts) < n {
		var w []string
		if len(texts) > 0 && r.IntN(2) == 0 {
			w = strings.Fields(texts[r.IntN(len(texts))])
			for range r.IntN(3) {
				switch at := r.IntN(len(w) + 1); {
				case at == len(w):
					w = append(w, word())
				case r.IntN(2) == 0:
					w[at] = word()
				default:
					w = slices.Delete(w, at, at+1)
				}
			}
		} else {
			for range 1 + r.IntN(longest) {
				w = append(w, word())
			}
		}
		texts = append(texts, strings.Join(w, " "))
	}
	return texts
}

// TestBruteForce holds the index to the definition on random collections.
func TestBruteForce(t *testing.T) {
	t.Parallel()
	const seed = 7
	found := 0
	for round := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, round))
		texts := randomTexts(r, 60, []int{4, 15, 90}[round%3])
		for _, threshold := range []float64{0.05, 0.3, 0.5, 0.7, 2.0 / 3, 0.8, 0.95, 1} {
			got, want := similar.NearDuplicates(texts, threshold), bruteForce(texts, threshold)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, round %d, threshold %v:\n got %v\nwant %v", seed, round, threshold, got, want)
			}
			found += len(got)
		}
	}
	if found < 300 {
		t.Errorf("only %d pairs in all; the collections test nothing", found)
	}
}

func FuzzNearDuplicates(f *testing.F) {
	f.Add("a b c d\na b c d e\nA, b: c d!\n\nx", uint8(70))
	f.Add("one\none two\none two three\none two three four", uint8(33))
	f.Fuzz(func(t *testing.T, lines string, percent uint8) {
		texts := strings.Split(lines, "\n")
		if len(texts) > 40 {
			texts = texts[:40]
		}
		threshold := float64(percent%100+1) / 100
		if got, want := similar.NearDuplicates(texts, threshold), bruteForce(texts, threshold); !slices.Equal(got, want) {
			t.Fatalf("threshold %v, texts %q:\n got %v\nwant %v", threshold, texts, got, want)
		}
	})
}

func TestDistinctN(t *testing.T) {
	t.Parallel()
	texts := []string{"the cat sat", "The cat ran!", ""}
	for n, want := range map[int]float64{1: 4.0 / 6, 2: 3.0 / 4, 3: 1, 4: 0} {
		if got := similar.DistinctN(texts, n); math.Abs(got-want) > 1e-12 {
			t.Errorf("distinct-%d = %v, want %v", n, got, want)
		}
	}
}

func TestPanics(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(){
		"threshold 0":   func() { similar.NearDuplicates(nil, 0) },
		"threshold 1.1": func() { similar.NearDuplicates(nil, 1.1) },
		"threshold NaN": func() { similar.NearDuplicates(nil, math.NaN()) },
		"n 0":           func() { similar.DistinctN(nil, 0) },
		"openers":       func() { similar.Openers(nil, 0) },
		"index":         func() { similar.NewIndex(-1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
