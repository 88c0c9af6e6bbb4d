package stats_test

import (
	"math"
	"math/rand/v2"
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

// TestStratifiedChange draws prompts of which some change, one way or both. A quarter of
// them, flipped by a judge, holds most changes; half of its labels are missing, and two
// thirds of the others'. The interval must hold in 91% and turn with the sides.
func TestStratifiedChange(t *testing.T) {
	t.Parallel()
	stratum := func(changed, size, labels int) stats.LabeledStratum {
		return stats.LabeledStratum{Size: size, Mean: float64(changed) / float64(labels), Labels: float64(labels)}
	}
	newly, nolonger := []stats.LabeledStratum{stratum(20, 200, 200)}, []stats.LabeledStratum{stratum(5, 200, 200)}
	e, _ := stats.StratifiedChange(newly, nolonger, 1, 0.95)
	back, _ := stats.StratifiedChange(nolonger, newly, 1, 0.95)
	if math.Abs(back.Lo+e.Hi) > 1e-12 || math.Abs(back.Hi+e.Lo) > 1e-12 {
		t.Errorf("the other way it is %+v, want the negative of %+v", back, e)
	}
	if _, ok := stats.StratifiedChange([]stats.LabeledStratum{{Size: 3}}, nolonger, 1, 0.95); ok {
		t.Error("a stratum without labels has a change")
	}

	const seed, runs = 20261127, 1000
	t.Logf("seed %d; %d runs each", seed, runs)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, prompts := range []int{200, 1000} {
		for _, of := range [][2]float64{{0.03, 0.03}, {0.1, 0}, {0.1, 0.05}, {0.4, 0.1}} {
			truth, held := of[0]-of[1], 0
			for range runs {
				var strata [2][]stats.LabeledStratum
				for _, part := range []struct{ share, changes, labeled float64 }{{0.25, 1.9, 0.5}, {0.75, 0.7, 1.0 / 3}} {
					size := int(part.share * float64(prompts))
					labels, changed := int(part.labeled*float64(size)), [2]int{}
					for range labels {
						switch u := random.Float64(); {
						case u < part.changes*of[0]:
							changed[0]++
						case u < part.changes*(of[0]+of[1]):
							changed[1]++
						}
					}
					for i := range strata {
						strata[i] = append(strata[i], stratum(changed[i], size, labels))
					}
				}
				if e, _ := stats.StratifiedChange(strata[0], strata[1], 1, 0.95); e.Lo <= truth && truth <= e.Hi {
					held++
				}
			}
			t.Logf("%d prompts, newly %.0f%%, no longer %.0f%%: held %.1f%%", prompts, 100*of[0], 100*of[1], 100*float64(held)/runs)
			if held < 0.91*runs {
				t.Error("not what is wanted")
			}
		}
	}
}
