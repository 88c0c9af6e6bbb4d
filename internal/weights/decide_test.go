package weights

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestOdd(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stored, a, b string
		odd          bool
		shared       float64
	}{
		"all alike":                  {"one two three", "one two", "one two", false, 7},
		"the stored one":             {"one tw", "one four", "one four", true, 4},
		"a new one":                  {"one two", "one two", "one four", false, 7},
		"the other new one":          {"one two", "one four", "one two", false, 7},
		"none alike":                 {"a", "b", "c", false, 0},
		"all part at the same place": {"one a", "one b", "one c", false, 4},
	} {
		odd, shared := Answers{Stored: tt.stored, New: [2]string{tt.a, tt.b}, TokenBytes: 1}.odd()
		if odd != tt.odd || shared != tt.shared {
			t.Errorf("%s: %v, %g shared; want %v, %g", name, odd, shared, tt.odd, tt.shared)
		}
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		odd, of int
		tokens  int
		want    Decision
	}{
		"nothing":                    {0, 0, 0, Unknown},
		"too few":                    {6, 6, 0, Unknown},
		"just enough":                {7, 7, 0, Other},
		"one short of that":          {6, 7, 0, Doubtful},
		"none odd":                   {0, 20, 64, Same},
		"as by chance":               {10, 20, 5, Same},
		"more than by chance":        {11, 20, 5, Doubtful},
		"not sure":                   {13, 20, 5, Doubtful},
		"sure":                       {14, 20, 15, Other},
		"sure, but they part late":   {14, 20, 16, Doubtful},
		"all, but they part late":    {20, 20, 40, Doubtful},
		"all, and they part at once": {20, 20, 0, Other},
	} {
		var all []Answers
		for i := range tt.of {
			start := strings.Repeat("x", tt.tokens)
			a := Answers{Stored: start + "s", New: [2]string{start + "n", start + "o"}, TokenBytes: 1}
			if i < tt.odd {
				a.New[1] = a.New[0]
			}
			all = append(all, a)
		}
		if got := Decide(all); got.Decision != tt.want || got.Decision != Unknown && got.Odd != tt.odd {
			t.Errorf("%s: %+v, want %s", name, got, tt.want)
		}
	}
}

// writer is a simulated model: the next of its words follows from its weights and from all
// words before, but for noise.
type writer struct {
	weights uint64
	// tuned is the share of words that are others than those of the weights, always the same.
	tuned float64
	// noise is the share that is another by chance, as of batching.
	noise float64
}

func (w writer) write(r *rand.Rand, prompt, words int) string {
	state, text := uint64(prompt)*0x9e3779b97f4a7c15, strings.Builder{}
	for range words {
		own := rand.New(rand.NewPCG(state, w.weights))
		word := own.IntN(1000)
		if rand.New(rand.NewPCG(state, w.weights+1)).Float64() < w.tuned || r.Float64() < w.noise {
			word = 1000 + own.IntN(1000)
		}
		// Any model begins much alike.
		if text.Len() < 12 {
			word = 7
		}
		fmt.Fprintf(&text, "%04d", word)
		state = state*31 + uint64(word) + 1
	}
	return text.String()
}

// check compares answers that one model made with those that another makes now.
func check(r *rand.Rand, was, is writer) Outcome {
	var all []Answers
	for range Prompts {
		prompt := r.IntN(1e9)
		all = append(all, Answers{Stored: was.write(r, prompt, 150), New: [2]string{is.write(r, prompt, Tokens), is.write(r, prompt, Tokens)}, TokenBytes: 4})
	}
	return Decide(all)
}

// TestRestarts has simulated servers restarted with the same weights, with other ones, and
// with fine-tuned ones, and prints how often each is taken for what. docs/validation.md has
// the figures.
func TestRestarts(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	rates := []float64{.0005, .001, .002, .005, .01}
	const restarts = 300
	count := func(is func(writer) writer) (all map[Decision]int) {
		all = map[Decision]int{}
		for i := range restarts {
			was := writer{weights: r.Uint64(), noise: rates[i%len(rates)]}
			all[check(r, was, is(was)).Decision]++
		}
		return all
	}
	same := count(func(w writer) writer { return w })
	t.Logf("same weights: %v", same)
	if same[Other] > 0 || same[Unknown] > 0 || same[Doubtful] > restarts/20 {
		t.Errorf("of %d restarts with the same weights: %v", restarts, same)
	}
	// Also where another machine or program has other noise, and where texts are sampled.
	loud := count(func(w writer) writer { w.noise *= 4; return w })
	sampled := count(func(w writer) writer { w.noise = .5; return w })
	t.Logf("four times the noise: %v; half of the words by chance: %v", loud, sampled)
	if loud[Other] > 0 {
		t.Errorf("of %d restarts with four times the noise: %v", restarts, loud)
	}
	other := count(func(w writer) writer { w.weights++; return w })
	t.Logf("another checkpoint: %v", other)
	if other[Other] < restarts {
		t.Errorf("of %d exchanges for another checkpoint: %v", restarts, other)
	}
	for _, tuned := range []float64{.005, .01, .02, .05, .1} {
		t.Logf("fine-tuned, %g of the words others: %v", tuned, count(func(w writer) writer { w.tuned = tuned; return w }))
	}
}

func TestChance(t *testing.T) {
	t.Parallel()
	got := []string{}
	for _, k := range []int{0, 10, 11, 13, 14, 20} {
		got = append(got, fmt.Sprintf("%.5f", chance(k, 20)))
	}
	if want := []string{"1.00000", "0.09190", "0.03764", "0.00372", "0.00088", "0.00000"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
