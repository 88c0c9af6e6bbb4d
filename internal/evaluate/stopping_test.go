package evaluate

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/stats"
)

// ask draws a population in the blocks of a rule, as prompts of one category would be, until
// the intervals of all targets are as narrow as the rule asks. Targets answer independently.
// It reports how many of the intervals hold the share of all prompts, and how many prompts
// were asked.
func ask(r Rule, size, positive, targets int, random *rand.Rand) (held, asked int) {
	came := make([]int, targets)
	share := float64(positive) / float64(size)
	confidence := 1 - (1-score.Confidence)/float64(targets)
	sequences := make([]*stats.Sequence, targets)
	for t := range sequences {
		sequences[t] = stats.NewSequence(size)
	}
	for {
		n := min(r.blockAfter(asked), size-asked)
		narrow := true
		held = 0
		for t := range targets {
			before := came[t]
			for i := range n {
				if random.IntN(size-asked-i) < positive-came[t] {
					came[t]++
				}
			}
			var lo, hi float64
			if r.Interval == Wilson {
				lo, hi = stats.WilsonFinite(float64(came[t]), 0, asked+n, size, confidence)
			} else {
				sequences[t].Add(float64(came[t]-before), 0, n)
				lo, hi = sequences[t].Interval(score.Confidence)
			}
			narrow = narrow && hi-lo <= 2*r.HalfWidth
			if lo-1e-9 <= share && share <= hi+1e-9 {
				held++
			}
		}
		if asked += n; narrow || asked == size {
			return held, asked
		}
	}
}

// TestStopCoverage holds Wilson's interval where it stopped a run to the truth: 192 settings
// of rate, width and size. ORBENCH_LONG=1 logs the figures of docs/statistics.md, of 4,000
// runs each.
func TestStopCoverage(t *testing.T) {
	t.Parallel()
	runs := 200
	if os.Getenv("ORBENCH_LONG") != "" {
		runs = 4000
	}
	const seed = 28
	least, settings := 1.0, 0
	var at [3]float64
	least2, most2 := 1.0, 0.0
	for _, size := range []int{400, 1320, 5000, 20_000} {
		for _, points := range []float64{1, 2, 3, 5} {
			for _, rate := range []float64{0.01, 0.02, 0.05, 0.1, 0.13, 0.2, 0.3, 0.5, 0.7, 0.85, 0.96, 0.99} {
				settings++
				random := rand.New(rand.NewPCG(seed, uint64(settings)))
				rule := Rule{HalfWidth: points / 100, Interval: Wilson}
				held, asked, cut := 0, 0, 0
				for range runs {
					h, n := ask(rule, size, int(math.Round(rate*float64(size))), 1, random)
					held, asked = held+h, asked+n
					if n < size {
						cut++
					}
				}
				share := float64(held) / float64(runs)
				if share < least {
					least, at = share, [3]float64{rate, points, float64(size)}
				}
				if points == 2 && cut > runs/2 {
					least2, most2 = min(least2, share), max(most2, share)
				}
				// Three standard errors below what is promised is no chance.
				if slack := 3 * math.Sqrt(0.92*0.08/float64(runs)); share < 0.92-slack {
					t.Errorf("seed %d: %g%% of %d at %gpp: the interval held in %.1f%% of %d runs", seed, 100*rate, size, points, 100*share, runs)
				}
			}
		}
	}
	t.Logf("%d settings: the interval at the stop held in %.1f%% of %d runs or more (%g%% of %g prompts at %gpp); at 2pp in %.1f to %.1f%%",
		settings, 100*least, runs, 100*at[0], at[2], at[1], 100*least2, 100*most2)
}

// TestStopSavings counts the prompts that either interval asks, and how often those of ten
// targets hold together.
func TestStopSavings(t *testing.T) {
	t.Parallel()
	runs := 40
	if os.Getenv("ORBENCH_LONG") != "" {
		runs = 1000
	}
	const size, positive = 20_000, 2600
	mean := func(r Rule, runs int) int {
		random := rand.New(rand.NewPCG(28, 13))
		sum := 0
		for range runs {
			_, asked := ask(r, size, positive, 1, random)
			sum += asked
		}
		return sum / runs
	}
	wilson, sequence := mean(Rule{HalfWidth: 0.02, Interval: Wilson}, runs), mean(Rule{HalfWidth: 0.02}, min(runs, 100))
	together, single := 0, 0
	random := rand.New(rand.NewPCG(28, 10))
	for range runs {
		if held, _ := ask(Rule{HalfWidth: 0.02, Interval: Wilson}, size, positive, 10, random); held == 10 {
			together++
		}
		all := 0
		for range 10 {
			held, _ := ask(Rule{HalfWidth: 0.02, Interval: Wilson}, size, positive, 1, random)
			all += held
		}
		if all == 10 {
			single++
		}
	}
	t.Logf("13%% of %d at 2pp: Wilson's interval asks %d, the confidence sequence %d; ten targets are all held in %.1f%% of %d runs, each by itself in %.1f%%",
		size, wilson, sequence, 100*float64(together)/float64(runs), runs, 100*float64(single)/float64(runs))
	if wilson > 1150 || sequence < 3*wilson {
		t.Errorf("Wilson's interval asks %d prompts, the sequence %d", wilson, sequence)
	}
	if slack := 3 * math.Sqrt(0.05*0.95/float64(runs)); float64(together)/float64(runs) < 0.95-slack {
		t.Errorf("ten targets were all held in %d of %d runs", together, runs)
	}
}
