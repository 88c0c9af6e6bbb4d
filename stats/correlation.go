package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Correlation measures how closely y follows x. It reports false if that is undefined.
// Pearson, Spearman and KendallTauB are Correlations.
type Correlation func(x, y []float64) (float64, bool)

// Pearson is the linear correlation of x and y, from -1 to 1. It reports false for fewer
// than two points and if x or y is constant. It panics if x and y differ in length or
// contain NaN.
func Pearson(x, y []float64) (float64, bool) {
	checkPoints(x, y)
	if constant(x) || constant(y) {
		return 0, false
	}
	r := stat.Correlation(x, y, nil)
	if math.IsNaN(r) {
		// The squares overflow or vanish.
		return 0, false
	}
	return math.Min(1, math.Max(-1, r)), true
}

// Spearman is the correlation of the ranks of x and y, where equal values share
// the mean of their ranks (Spearman 1904). It reports false and panics as Pearson
// does.
func Spearman(x, y []float64) (float64, bool) {
	checkPoints(x, y)
	return Pearson(ranks(x), ranks(y))
}

// KendallTauB is Kendall's rank correlation with its correction for ties: the number of
// pairs of points in the same order minus the number in the opposite order, over the
// geometric mean of the pairs untied in x and in y (Kendall 1945, Biometrika 33:239-251).
// Its time grows with the square of the number of points. It reports false and panics as
// Pearson does.
func KendallTauB(x, y []float64) (float64, bool) {
	checkPoints(x, y)
	var order, untiedX, untiedY int
	for i := range x {
		for j := range i {
			a, b := cmp.Compare(x[i], x[j]), cmp.Compare(y[i], y[j])
			order += a * b
			untiedX += a * a
			untiedY += b * b
		}
	}
	if untiedX == 0 || untiedY == 0 {
		return 0, false
	}
	return float64(order) / math.Sqrt(float64(untiedX)*float64(untiedY)), true
}

// ranks numbers the values from 1 upwards; equal values get the mean of their ranks.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	r := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			r[k] = float64(i+1+j) / 2
		}
		i = j
	}
	return r
}

// constant reports whether all values are the same. This includes one value or none.
func constant(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return v != x[0] })
}

func checkPoints(x, y []float64) {
	if len(x) != len(y) {
		panic(fmt.Sprintf("stats: %d values of x with %d of y", len(x), len(y)))
	}
	for i := range x {
		if math.IsNaN(x[i]) || math.IsNaN(y[i]) {
			panic(fmt.Sprintf("stats: point %d is (%v, %v)", i, x[i], y[i]))
		}
	}
}
