package fit

import (
	"math"
	"testing"
)

// TestLogisticFindsTheOptimum checks that the gradient of the penalized
// likelihood is zero at the weights that Logistic gives.
func TestLogisticFindsTheOptimum(t *testing.T) {
	x := [][]float64{{1, 0, 2}, {1, 1, 0}, {1, 1, 1}, {1, 0, 0}, {1, 2, 1}, {1, 0.5, 3}}
	y := []bool{false, true, true, false, true, false}
	const ridge = 0.7
	w := Logistic(x, y, ridge)
	for j := range w {
		gradient := 0.0
		if j > 0 {
			gradient = -ridge * w[j]
		}
		for i, row := range x {
			label := 0.0
			if y[i] {
				label = 1
			}
			gradient += (label - Predict(w, row)) * row[j]
		}
		if math.Abs(gradient) > 1e-6 {
			t.Errorf("gradient %g by weight %d of %v, want 0", gradient, j, w)
		}
	}
}

// TestLogisticKnowsTheBaseRate checks the one case with a closed form: with the
// bias alone the probability is the share of true labels.
func TestLogisticKnowsTheBaseRate(t *testing.T) {
	w := Logistic([][]float64{{1}, {1}, {1}, {1}}, []bool{true, false, false, false}, 1)
	if p := Predict(w, []float64{1}); math.Abs(p-0.25) > 1e-6 {
		t.Errorf("probability %v, want 0.25", p)
	}
}
