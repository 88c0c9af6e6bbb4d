package stats_test

import (
	"math"
	"testing"

	"github.com/orbench/orbench/stats"
)

// TestStratifiedRate compares with quantiles of beta distributions, found by bisection of
// their continued fraction in Python: one stratum has Jeffreys' interval of its labels,
// and two that of the number of labels which is worked out by hand.
func TestStratifiedRate(t *testing.T) {
	t.Parallel()
	two := []stats.LabeledStratum{{Size: 300, Mean: 0, Labels: 10}, {Size: 100, Mean: 1, Labels: 10}}
	for _, c := range []struct {
		name         string
		strata       []stats.LabeledStratum
		designEffect float64
		rate, lo, hi float64
	}{
		{"1 of 20", []stats.LabeledStratum{{Size: 20, Mean: 0.05, Labels: 20}}, 1, 0.05, 0.005449032581438473, 0.21081863624927166},
		{"18 of 20", []stats.LabeledStratum{{Size: 20, Mean: 0.9, Labels: 20}}, 1, 0.9, 0.7161467426957557, 0.9786275119775354},
		{"all of 20", []stats.LabeledStratum{{Size: 20, Mean: 1, Labels: 20}}, 1, 1, 0.8833610170951403, 1},
		{"none of 20", []stats.LabeledStratum{{Size: 20, Mean: 0, Labels: 20}}, 1, 0, 0, 0.11663898290485974},
		{"two strata", two, 1, 0.25, 0.18759419469220973, 0.3214184465560521},
		{"two strata, clustered", two, 2, 0.25, 0.16487211508645316, 0.3529644493188613},
	} {
		e, ok := stats.StratifiedRate(c.strata, c.designEffect, 0.95)
		if !ok || e.Value != c.rate || math.Abs(e.Lo-c.lo) > 1e-8 || math.Abs(e.Hi-c.hi) > 1e-8 {
			t.Errorf("%s: %+v, %t, want %v from %v to %v", c.name, e, ok, c.rate, c.lo, c.hi)
		}
	}
	if _, ok := stats.StratifiedRate([]stats.LabeledStratum{{Size: 3}}, 1, 0.95); ok {
		t.Error("a stratum without labels has a rate")
	}
}
