package score

import (
	"math"
	"testing"

	"github.com/orbench/orbench"
)

// TestCompareCategories holds the p-values to those that SciPy 1.17.1 gives
// (scipy.stats.fisher_exact, two-sided), corrected by hand.
func TestCompareCategories(t *testing.T) {
	t.Parallel()
	counts := map[orbench.Category]Count{
		"a": {N: 20, Refused: 18}, "b": {N: 20, Refused: 9}, "c": {N: 20, Refused: 8}, "d": {N: 20, Refused: 1}, "e": {N: 20, Refused: 8},
	}
	type expected struct {
		p        float64
		standing int
	}
	for name, test := range map[string]struct {
		designEffect float64
		want         map[orbench.Category]expected
	}{
		"independent": {1, map[orbench.Category]expected{
			"a": {2.2871478604588525e-05, 1}, "d": {0.0001577407860389406, -1}, "b": {1, 0}, "c": {1, 0}, "e": {1, 0},
		}},
		"clusters of two alike": {2, map[orbench.Category]expected{
			"a": {5 * 0.002696336250014149, 1}, "d": {4 * 0.013574540495528656, 0}, "b": {1, 0}, "c": {1, 0}, "e": {1, 0},
		}},
		"clusters of a hundred": {100, map[orbench.Category]expected{
			"a": {1, 0}, "b": {1, 0}, "c": {1, 0}, "d": {1, 0}, "e": {1, 0},
		}},
	} {
		j := JudgeResult{Judged: 100, Refused: 44, ByCategory: map[orbench.Category]Count{}}
		for c, n := range counts {
			j.ByCategory[c] = n
		}
		j.finish()
		j.findOutliers(test.designEffect)
		for c, want := range test.want {
			got := j.ByCategory[c]
			if got.PHolm == nil || math.Abs(*got.PHolm-want.p) > 1e-12 || got.Outlier(j.Count()) != want.standing {
				t.Errorf("%s: category %s has %+v, stands out %d, want %+v", name, c, got, got.Outlier(j.Count()), want)
			}
		}
	}
}

// TestNothingToCompare gives no p-value for a single category, and none where the
// rate is withheld.
func TestNothingToCompare(t *testing.T) {
	t.Parallel()
	one := JudgeResult{Judged: 4, Refused: 2, ByCategory: map[orbench.Category]Count{"": {N: 4, Refused: 2}}}
	one.finish()
	one.findOutliers(1)
	two := JudgeResult{Judged: 4, Unjudged: 4, ByCategory: map[orbench.Category]Count{"a": {N: 2, Refused: 2}, "b": {N: 2}}}
	two.finish()
	two.findOutliers(1)
	for _, j := range []JudgeResult{one, two} {
		for c, n := range j.ByCategory {
			if n.PHolm != nil || n.Outlier(j.Count()) != 0 {
				t.Errorf("category %q has %+v", c, n)
			}
		}
	}
}
