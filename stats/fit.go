package stats

import (
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Quadratic is the curve y = A + B x + C x².
type Quadratic struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
	C float64 `json:"c"`
}

// At is the value of the curve at x.
func (q Quadratic) At(x float64) float64 { return q.A + q.B*x + q.C*x*x }

// FitQuadratic is the quadratic curve with the least sum of squared vertical distances
// from the points. It reports false for fewer than three distinct x, and panics if x and
// y differ in length or contain NaN.
func FitQuadratic(x, y []float64) (Quadratic, bool) {
	checkPoints(x, y)
	sorted := slices.Sorted(slices.Values(x))
	if len(slices.Compact(sorted)) < 3 {
		return Quadratic{}, false
	}
	// Solve in u = (x - mean) / spread, where the columns 1, u and u² are far from
	// parallel, so that no digits are lost.
	mean, spread := stat.MeanStdDev(x, nil)
	design := mat.NewDense(len(x), 3, nil)
	for i, v := range x {
		u := (v - mean) / spread
		design.SetRow(i, []float64{1, u, u * u})
	}
	var c mat.VecDense
	if err := c.SolveVec(design, mat.NewVecDense(len(y), slices.Clone(y))); err != nil {
		return Quadratic{}, false
	}
	a, b, q := c.AtVec(0), c.AtVec(1)/spread, c.AtVec(2)/(spread*spread)
	return Quadratic{A: a - b*mean + q*mean*mean, B: b - 2*q*mean, C: q}, true
}
