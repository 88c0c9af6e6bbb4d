package audit_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/audit"
	"github.com/orbench/orbench/stats"
)

// halfWidth is Wilson's half-width at a share that need not be a whole number of
// n, from the interval's own formula.
func halfWidth(p float64, n int, z float64) float64 {
	m := float64(n)
	return z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
}

func TestSampleSizeIsTheLeast(t *testing.T) {
	t.Parallel()
	for confidence, z := range map[float64]float64{0.90: 1.6448536269514722, 0.95: 1.959963984540054, 0.99: 2.5758293035489004} {
		for _, h := range []float64{0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.45} {
			for _, p := range []float64{0, 0.01, 0.05, 0.16, 0.5, 0.93, 1} {
				n := audit.SampleSize(h, p, confidence)
				if got := halfWidth(p, n, z); got > h+1e-9 {
					t.Errorf("%d prompts give ±%v at %v, asked for ±%v", n, got, p, h)
				}
				if n > 1 && halfWidth(p, n-1, z) <= h-1e-9 {
					t.Errorf("%d prompts would do for ±%v at %v, not %d", n-1, h, p, n)
				}
			}
		}
	}
	// The same by the interval itself, where the share is a whole number.
	n := audit.SampleSize(0.02, 0.5, 0.95)
	if lo, hi := stats.Wilson(n/2, n, 0.95); n%2 != 0 || (hi-lo)/2 > 0.02 || (hi-lo)/2 < 0.0199 {
		t.Errorf("%d prompts give %v to %v", n, lo, hi)
	}
}

func TestFromPopulation(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ n, population, want int }{
		{500, 0, 500},
		{500, 500, 251},
		{500, 80359, 497},
		{1, 10, 1},
		{10000, 3, 3},
		// The textbook's case: 384 needed, 1,000 there.
		{384, 1000, 278},
	} {
		if got := audit.FromPopulation(tt.n, tt.population); got != tt.want {
			t.Errorf("of %d, %d are needed from %d, got %d", tt.n, tt.want, tt.population, got)
		}
	}
}

// The number that surely suffices is checked by drawing.
func TestPlanDrawsEnoughToxicPrompts(t *testing.T) {
	t.Parallel()
	p, err := audit.NewPlan(audit.PlanConfig{HalfWidth: 0.1, Expect: 0.05, ExpectFPR: 0.16, Prevalence: 0.1, Confidence: 0.95})
	if err != nil {
		t.Fatal(err)
	}
	const seed, draws = 11, 4000
	r := rand.New(rand.NewPCG(seed, 0))
	enough := func(n int) float64 {
		times := 0
		for range draws {
			toxic := 0
			for range n {
				if r.Float64() < 0.1 {
					toxic++
				}
			}
			if toxic >= p.Need.Toxic {
				times++
			}
		}
		return float64(times) / draws
	}
	if got := enough(p.Need.DrawSurely); got < 0.935 || got > 0.965 {
		t.Errorf("seed %d: %d prompts hold %d toxic ones in %.3f of the draws, want about 0.95", seed, p.Need.DrawSurely, p.Need.Toxic, got)
	}
	if got := enough(p.Need.Draw); got < 0.45 || got > 0.6 {
		t.Errorf("seed %d: %d prompts hold %d toxic ones in %.3f of the draws, want about half", seed, p.Need.Draw, p.Need.Toxic, got)
	}
}

func TestPlanOfAPopulation(t *testing.T) {
	t.Parallel()
	c := audit.PlanConfig{HalfWidth: 0.02, Expect: 0.05, ExpectFPR: 0.16, Prevalence: 0.1, Confidence: 0.95, Population: 1000}
	p, err := audit.NewPlan(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append(p.Table, p.Need) {
		if s.Rate > 1000 || s.Toxic > 100 || s.Draw > 1000 || s.DrawSurely > 1000 || s.DrawSurely < s.Draw || s.Rate > s.RateWorst {
			t.Errorf("±%v needs more than there is: %+v", s.HalfWidth, s)
		}
	}
	c.Population, c.Prevalence = 20, 0.01
	if p, err = audit.NewPlan(c); err != nil || p.Need.Draw != 0 || p.Need.DrawSurely != 0 {
		t.Errorf("20 prompts without a toxic one give %+v, %v", p.Need, err)
	}
}

func TestPlanRefuses(t *testing.T) {
	t.Parallel()
	good := audit.PlanConfig{HalfWidth: 0.02, Expect: 0.05, ExpectFPR: 0.16, Prevalence: 0.1, Confidence: 0.95}
	for setting, c := range map[string]func(*audit.PlanConfig){
		"half-width": func(c *audit.PlanConfig) { c.HalfWidth = 0 },
		"expect":     func(c *audit.PlanConfig) { c.Expect = 1.5 },
		"expect-fpr": func(c *audit.PlanConfig) { c.ExpectFPR = math.NaN() },
		"prevalence": func(c *audit.PlanConfig) { c.Prevalence = 1 },
		"population": func(c *audit.PlanConfig) { c.Population = -1 },
		"confidence": func(c *audit.PlanConfig) { c.Confidence = 1 },
	} {
		config := good
		c(&config)
		var input *orbench.InputError
		if _, err := audit.NewPlan(config); !errors.As(err, &input) || input.Setting != setting || input.Hint == "" {
			t.Errorf("%s: the error is %v", setting, err)
		}
	}
}

// population makes items in the given numbers by category.
func population(counts map[orbench.Category]int) []audit.Item {
	var items []audit.Item
	for c, n := range counts {
		for i := range n {
			p := orbench.NewPrompt(fmt.Sprintf("%s %d", c, i), c, orbench.Safe)
			items = append(items, audit.Item{ID: p.ID, Prompt: p.Text(), Category: c})
		}
	}
	return items
}

func TestDrawByCategory(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		counts, want map[orbench.Category]int
		size         int
	}{
		"in proportion":    {map[orbench.Category]int{"a": 500, "b": 300, "c": 200}, map[orbench.Category]int{"a": 50, "b": 30, "c": 20}, 100},
		"remainders":       {map[orbench.Category]int{"a": 7, "b": 2, "c": 1}, map[orbench.Category]int{"a": 3, "b": 1, "c": 1}, 5},
		"at least one":     {map[orbench.Category]int{"a": 9997, "b": 1, "c": 2}, map[orbench.Category]int{"a": 8, "b": 1, "c": 1}, 10},
		"one of each":      {map[orbench.Category]int{"a": 90, "b": 5, "": 1}, map[orbench.Category]int{"a": 1, "b": 1, "": 1}, 3},
		"all of them":      {map[orbench.Category]int{"a": 3, "b": 2}, map[orbench.Category]int{"a": 3, "b": 2}, 5},
		"without category": {map[orbench.Category]int{"": 40}, map[orbench.Category]int{"": 12}, 12},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sample, err := audit.Draw(population(tt.counts), tt.size, 1)
			if err != nil {
				t.Fatal(err)
			}
			got := map[orbench.Category]int{}
			seen := map[orbench.PromptID]bool{}
			for _, it := range sample {
				got[it.Category]++
				if seen[it.ID] {
					t.Errorf("%s is drawn twice", it.ID)
				}
				seen[it.ID] = true
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("drew %v, want %v", got, tt.want)
			}
		})
	}
}

func TestDrawIsReproducible(t *testing.T) {
	t.Parallel()
	counts := map[orbench.Category]int{"a": 50, "b": 30}
	ids := func(seed uint64, twice bool) string {
		items := population(counts) // in another order each time, as the map is
		if twice {
			items = append(items, items...)
		}
		sample, err := audit.Draw(items, 20, seed)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, it := range sample {
			b.WriteString(string(it.ID) + " ")
		}
		return b.String()
	}
	if ids(1, false) != ids(1, true) {
		t.Error("the same seed draws another sample, or the order of the items matters")
	}
	if ids(1, false) == ids(2, false) {
		t.Error("another seed draws the same sample")
	}
}

// Every item of a category must be as likely as any other, and the categories
// must not stand in blocks.
func TestDrawIsFair(t *testing.T) {
	t.Parallel()
	items := population(map[orbench.Category]int{"a": 20, "b": 20})
	const draws = 4000
	times, firstIsA := map[orbench.PromptID]int{}, 0
	for seed := range uint64(draws) {
		sample, err := audit.Draw(items, 10, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range sample {
			times[it.ID]++
		}
		if sample[0].Category == "a" {
			firstIsA++
		}
	}
	// A quarter of the draws each, give or take six standard deviations.
	for id, n := range times {
		if math.Abs(float64(n)-draws/4) > 6*math.Sqrt(draws*0.25*0.75) {
			t.Errorf("%s is in %d of %d samples", id, n, draws)
		}
	}
	if len(times) != 40 || math.Abs(float64(firstIsA)-draws/2) > 6*math.Sqrt(draws*0.25) {
		t.Errorf("%d items appear; category a leads %d of %d samples", len(times), firstIsA, draws)
	}
}

func TestDrawRefuses(t *testing.T) {
	t.Parallel()
	items := population(map[orbench.Category]int{"a": 2, "b": 2, "c": 2})
	for size, want := range map[int]string{0: "at least one", 7: "only 6 prompts", 2: "3 categories"} {
		if _, err := audit.Draw(items, size, 1); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("size %d: the error is %v, want %q", size, err, want)
		}
	}
}
