package score

import (
	"math"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
)

// TestCompareCategories holds the p-values to those that SciPy 1.17.1 gives
// (scipy.stats.fisher_exact, two-sided), corrected by hand.
func TestCompareCategories(t *testing.T) {
	t.Parallel()
	counts := map[orbench.Category]Count{
		"a": {N: 20, Refused: 18}, "b": {N: 20, Refused: 9}, "c": {N: 20, Refused: 8}, "d": {N: 20, Refused: 1}, "e": {N: 20, Refused: 8},
	}
	type expected struct {
		p     float64
		apart bool
	}
	for name, test := range map[string]struct {
		designEffect float64
		want         map[orbench.Category]expected
	}{
		"independent": {1, map[orbench.Category]expected{
			"a": {2.2871478604588525e-05, true}, "d": {0.0001577407860389406, true}, "b": {1, false}, "c": {1, false}, "e": {1, false},
		}},
		"clusters of two alike": {2, map[orbench.Category]expected{
			"a": {5 * 0.002696336250014149, true}, "d": {4 * 0.013574540495528656, false}, "b": {1, false}, "c": {1, false}, "e": {1, false},
		}},
		"clusters of a hundred": {100, map[orbench.Category]expected{
			"a": {1, false}, "b": {1, false}, "c": {1, false}, "d": {1, false}, "e": {1, false},
		}},
	} {
		j := JudgeResult{Judged: 100, Refused: 44, ByCategory: map[orbench.Category]Count{}}
		for c, n := range counts {
			j.ByCategory[c] = n
		}
		j.finish(figure.Keys{})
		j.findOutliers(test.designEffect)
		for c, want := range test.want {
			got := find(j.Figures, figure.Refusal, figure.Keys{Category: c})
			if got.PHolm == nil || math.Abs(*got.PHolm-want.p) > 1e-12 || got.Apart() != want.apart {
				t.Errorf("%s: category %s has %+v, want %+v", name, c, got, want)
			}
		}
	}
}

// TestNothingToCompare gives no p-value for a single category, and none where the
// rate is withheld.
func TestNothingToCompare(t *testing.T) {
	t.Parallel()
	one := JudgeResult{Judged: 4, Refused: 2, ByCategory: map[orbench.Category]Count{"": {N: 4, Refused: 2}}}
	one.finish(figure.Keys{})
	one.findOutliers(1)
	two := JudgeResult{Judged: 4, Unjudged: 4, ByCategory: map[orbench.Category]Count{"a": {N: 2, Refused: 2}, "b": {N: 2}}}
	two.finish(figure.Keys{})
	two.findOutliers(1)
	for _, j := range []JudgeResult{one, two} {
		for _, f := range j.Figures {
			if f.PHolm != nil {
				t.Errorf("%+v", f)
			}
		}
	}
}
