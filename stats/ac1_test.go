package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/orbench/orbench/stats"
)

// TestGwetAC1 has the value of a table with few positives, worked out by hand: 0.944
// observed, 2 × 0.972 × 0.028 by chance. Kappa is below 0 there.
func TestGwetAC1(t *testing.T) {
	t.Parallel()
	e, ok := stats.GwetAC1([][]int{{118, 5}, {2, 0}}, 0.95)
	if want := (0.944 - 2*0.972*0.028) / (1 - 2*0.972*0.028); !ok || math.Abs(e.Value-want) > 1e-12 {
		t.Errorf("AC1 %v, %t; want %v", e.Value, ok, want)
	}
	if _, ok := stats.GwetAC1([][]int{{0, 0}, {0, 0}}, 0.95); ok {
		t.Error("AC1 of nothing")
	}
	if e, _ := stats.GwetAC1([][]int{{0, 0}, {0, 50}}, 0.95); e.Value != 1 || e.Lo > 0.95 || e.Lo < 0.9 {
		t.Errorf("AC1 of 50 alike: %+v", e)
	}
}

// TestGwetAC1Coverage draws tables from known shares.
func TestGwetAC1Coverage(t *testing.T) {
	t.Parallel()
	const seed, runs = 1, 3000
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d; %d runs each", seed, runs)
	for _, c := range []struct {
		n                 int
		both, onlyA, none float64
	}{{60, 0.2, 0.05, 0.7}, {100, 0.02, 0.02, 0.95}, {100, 0.4, 0.1, 0.45}, {300, 0.1, 0.03, 0.85}} {
		onlyB := 1 - c.both - c.onlyA - c.none
		p := c.both + (c.onlyA+onlyB)/2
		chance := 2 * p * (1 - p)
		truth := (c.both + c.none - chance) / (1 - chance)
		held := 0
		for range runs {
			table := [][]int{{0, 0}, {0, 0}}
			for range c.n {
				switch u := random.Float64(); {
				case u < c.both:
					table[0][0]++
				case u < c.both+c.onlyA:
					table[0][1]++
				case u < c.both+c.onlyA+onlyB:
					table[1][0]++
				default:
					table[1][1]++
				}
			}
			if e, ok := stats.GwetAC1(table, 0.95); ok && e.Lo <= truth && truth <= e.Hi {
				held++
			}
		}
		coverage := float64(held) / runs
		t.Logf("n %d, AC1 %.3f: coverage %.3f", c.n, truth, coverage)
		if coverage < 0.93 || coverage > 0.985 {
			t.Errorf("n %d, AC1 %.3f: coverage %.3f", c.n, truth, coverage)
		}
	}
}

// TestStratifiedRatio has limits where they are known: those of one stratum whose
// labels are all of its answers are Jeffreys', and a stratum with nothing of the
// denominator changes nothing.
func TestStratifiedRatio(t *testing.T) {
	t.Parallel()
	one := []stats.RatioStratum{{Size: 50, Labels: 50, Part: 0.5, Rest: 0.1}}
	e, ok := stats.StratifiedRatio(one, 1, 0.95)
	// Beta(25.5, 5.5) at 2.5% and 97.5%.
	if !ok || math.Abs(e.Value-25./30) > 1e-12 || math.Abs(e.Lo-0.67257) > 1e-4 || math.Abs(e.Hi-0.93343) > 1e-4 {
		t.Errorf("%+v, %t", e, ok)
	}
	more, _ := stats.StratifiedRatio(append(one, stats.RatioStratum{Size: 70, Labels: 70}), 1, 0.95)
	if more != e {
		t.Errorf("%+v with answers that do not count, %+v without", more, e)
	}
	fewer, _ := stats.StratifiedRatio([]stats.RatioStratum{{Size: 50, Labels: 20, Part: 0.5, Rest: 0.1}}, 1, 0.95)
	if !(fewer.Lo < e.Lo && fewer.Hi > e.Hi) {
		t.Errorf("%+v with 20 labels, %+v with 50", fewer, e)
	}
	if _, ok := stats.StratifiedRatio([]stats.RatioStratum{{Size: 5, Labels: 5}}, 1, 0.95); ok {
		t.Error("a share of nothing")
	}
	if _, ok := stats.StratifiedRatio([]stats.RatioStratum{{Size: 5}}, 1, 0.95); ok {
		t.Error("a share without labels")
	}
}
