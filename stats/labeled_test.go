package stats_test

import (
	"math"
	"testing"

	"github.com/orbench/orbench/stats"
)

// TestStratifiedRate compares with limits worked out anew in Python, with the quantiles of
// SciPy. The two strata's interval is longer upward, where most of the answers could be
// refusals that no label has shown, and only its part of the prompts grows with clusters.
func TestStratifiedRate(t *testing.T) {
	t.Parallel()
	two := []stats.LabeledStratum{{Size: 300, Mean: 0, Labels: 10}, {Size: 100, Mean: 1, Labels: 10}}
	for _, c := range []struct {
		name         string
		strata       []stats.LabeledStratum
		designEffect float64
		rate, lo, hi float64
	}{
		{"1 of 20", []stats.LabeledStratum{{Size: 20, Mean: 0.05, Labels: 20}}, 1, 0.05, 0.007029567202096798, 0.23574144031353678},
		{"18 of 20", []stats.LabeledStratum{{Size: 20, Mean: 0.9, Labels: 20}}, 1, 0.9, 0.6898819890149672, 0.9747978554452958},
		{"all of 20", []stats.LabeledStratum{{Size: 20, Mean: 1, Labels: 20}}, 1, 1, 0.8615210734526615, 1},
		{"none of 20", []stats.LabeledStratum{{Size: 20, Mean: 0, Labels: 20}}, 1, 0, 0, 0.1384789265473385},
		{"half labeled", []stats.LabeledStratum{{Size: 80, Mean: 0.5, Labels: 40}}, 1, 0.5, 0.34803448203061177, 0.6519655179693882},
		{"a few labeled of many", []stats.LabeledStratum{{Size: 1000, Mean: 1, Labels: 50}}, 1, 1, 0.9584805775003229, 1},
		{"two strata", two, 1, 0.25, 0.21078488437650839, 0.3881427828295331},
		{"two strata, clustered", two, 2, 0.25, 0.19685671812421024, 0.3973059425136739},
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
