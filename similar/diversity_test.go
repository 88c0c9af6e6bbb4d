package similar_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench/similar"
)

// numbered makes texts of 2 to 10 words by a formula that other languages can
// repeat.
func numbered(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		var w []string
		for j := range 2 + i%9 {
			w = append(w, fmt.Sprint((i*i+3*i*j+j*j)%17))
		}
		texts[i] = strings.Join(w, " ")
	}
	return texts
}

// TestSelfBLEU holds the score to that of NLTK 3.10.4 from PyPI, which is, for
// texts t that are lists of words:
//
//	m = SmoothingFunction().method1
//	sum(sentence_bleu(t[:i] + t[i+1:], s, smoothing_function=m) for i, s in enumerate(t)) / len(t)
func TestSelfBLEU(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		texts []string
		want  float64
		n     int
	}{
		{"sentences", []string{
			"How do I kill a process?", "How do I kill a stuck process on my server?",
			"What is the best way to shoot a portrait?", "What is the best way to cook an egg?",
			"Why?", "The the THE the cat", "The cat and the dog.", "Zebra!", " ",
		}, 0.3319699405818579, 8},
		{"by formula", numbered(60), 0.8195734662906204, 60},
		{"twins", []string{"one two three four five", "One, two, three, four, five."}, 1, 2},
		{"brevity", []string{"one two three four five six", "one two three four"}, 0.5573317039336241, 2},
		{"nothing shared", []string{"one two", "three four", "five six"}, 0, 3},
		{"one text", []string{"one two", "?"}, 0, 1},
		{"no text", nil, 0, 0},
	} {
		got, n := similar.SelfBLEU(tc.texts, 1000, 0)
		if math.Abs(got-tc.want) > 1e-12 || n != tc.n {
			t.Errorf("%s: %v of %d texts, want %v of %d", tc.name, got, n, tc.want, tc.n)
		}
	}
}

func TestSelfBLEUSample(t *testing.T) {
	t.Parallel()
	texts := slices.Collect(prompts(400, 3))
	score := func(most int, seed uint64) float64 {
		s, n := similar.SelfBLEU(texts, most, seed)
		want := most
		if most < 0 || most > len(texts) {
			want = len(texts)
		}
		if n != want {
			t.Errorf("%d, %d: %d texts were compared", most, seed, n)
		}
		return s
	}
	one := score(100, 1)
	if one != score(100, 1) {
		t.Error("the same seed gives another score")
	}
	if one == score(100, 2) {
		t.Error("another seed gives the same score")
	}
	if all := score(-1, 0); all != score(1000, 0) || all <= one {
		t.Errorf("all texts give %v", all)
	}
	before := slices.Clone(texts)
	score(100, 1)
	if !slices.Equal(before, texts) {
		t.Error("the caller's texts were moved")
	}
}

func TestOpeners(t *testing.T) {
	t.Parallel()
	texts := []string{"How do I cook?", "how do i bake an egg", "Why?", "", "Can you, please, help?", "how do it", "why", "Can you please stop"}
	got := similar.Openers(texts, 3)
	want := []similar.Opener{{Text: "can you please", Count: 2}, {Text: "how do i", Count: 2}, {Text: "why", Count: 2}, {Text: "how do it", Count: 1}}
	if !slices.Equal(got, want) {
		t.Errorf("of three words: %v, want %v", got, want)
	}
	got = similar.Openers(texts, 1)
	want = []similar.Opener{{Text: "how", Count: 3}, {Text: "can", Count: 2}, {Text: "why", Count: 2}}
	if !slices.Equal(got, want) {
		t.Errorf("of one word: %v, want %v", got, want)
	}
}

func TestEffectiveOpeners(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		counts []int
		want   float64
	}{
		{nil, 0},
		{[]int{7}, 1},
		{[]int{3, 3, 3, 3}, 4},
		// Shares of 1/2, 1/4, 1/4 have an entropy of 1.5 bits.
		{[]int{4, 2, 2}, math.Pow(2, 1.5)},
	} {
		var openers []similar.Opener
		for _, n := range tc.counts {
			openers = append(openers, similar.Opener{Count: n})
		}
		if got := similar.EffectiveOpeners(openers); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", tc.counts, got, tc.want)
		}
	}
}

func TestLengths(t *testing.T) {
	t.Parallel()
	var texts []string
	for n := range 40 { // 0 to 39 words
		texts = append(texts, strings.Repeat("word, ", n))
	}
	slices.Reverse(texts)
	if got, want := similar.Lengths(texts), (similar.WordLengths{Mean: 19.5, P5: 1, Median: 19, P95: 37}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := similar.Lengths(nil); got != (similar.WordLengths{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestDiversityOf(t *testing.T) {
	t.Parallel()
	texts := []string{
		"How do I cook an egg?", "How do I cook an egg", "How do I paint a wall?", "Where is it?",
	}
	got, near := similar.DiversityOf(texts, 0.5, 1)
	bleu, _ := similar.SelfBLEU(texts, 1000, 0)
	// The words are 6, 6, 6 and 3, and the pairs 5, 5, 5 and 2. The openers have
	// shares of 3/4 and 1/4.
	want := similar.Diversity{
		Texts: 4, Distinct1: 12.0 / 21, Distinct2: 10.0 / 17, SelfBLEU: bleu, SelfBLEUTexts: 4,
		NearDuplicates: 1, NearDuplicateRate: 0.25, NearThreshold: 0.5,
		TopOpener: "how do i", TopOpenerShare: 0.75, EffectiveOpeners: got.EffectiveOpeners,
		Words: similar.WordLengths{Mean: 5.25, P5: 3, Median: 6, P95: 6},
	}
	if got != want || !slices.Equal(near, []similar.Pair{{A: 0, B: 1, Jaccard: 1}}) {
		t.Errorf("%+v, %v\nwant %+v", got, near, want)
	}
	if h := 4 / math.Pow(3, 0.75); math.Abs(got.EffectiveOpeners-h) > 1e-12 {
		t.Errorf("effective openers %v, want %v", got.EffectiveOpeners, h)
	}
	if got, _ := similar.DiversityOf(nil, 0.5, 1); got != (similar.Diversity{NearThreshold: 0.5}) {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestSample(t *testing.T) {
	t.Parallel()
	texts := numbered(9) // all different
	seen := map[string]int{}
	for seed := range uint64(300) {
		drawn := similar.Sample(texts, 3, seed)
		if len(drawn) != 3 || drawn[0] == drawn[1] || drawn[1] == drawn[2] || drawn[0] == drawn[2] {
			t.Fatalf("seed %d draws %q", seed, drawn)
		}
		if !slices.Equal(drawn, similar.Sample(texts, 3, seed)) {
			t.Fatalf("seed %d draws differently again", seed)
		}
		for _, d := range drawn {
			seen[d]++
		}
	}
	for _, text := range texts {
		// 100 are expected, with a standard deviation of 8.
		if n := seen[text]; n < 60 || n > 140 {
			t.Errorf("%q was drawn %d times of 300", text, n)
		}
	}
	if !slices.Equal(similar.Sample(texts, 9, 1), texts) || !slices.Equal(similar.Sample(texts, 10, 1), texts) {
		t.Error("all of the texts are not drawn as they stand")
	}
}
