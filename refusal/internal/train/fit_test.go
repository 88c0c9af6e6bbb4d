package train

import (
	"math"
	"testing"
)

// dense gives rows of weight 1 from a table of values.
func dense(x [][]float64, y []bool) []example {
	var rows []example
	for i, values := range x {
		row := example{positive: y[i], weight: 1}
		for j, value := range values {
			if value != 0 {
				row.places, row.values = append(row.places, j), append(row.values, value)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// predict gives the probability that a row's label is true.
func predict(w []float64, row example) float64 {
	var z float64
	for j, place := range row.places {
		z += w[place] * row.values[j]
	}
	return 1 / (1 + math.Exp(-z))
}

// TestLogisticFindsTheOptimum checks that the gradient of the penalized likelihood
// is nearly zero at the weights that logistic gives, for rows that count differently.
func TestLogisticFindsTheOptimum(t *testing.T) {
	x := [][]float64{{1, 0, 2}, {1, 1, 0}, {1, 1, 1}, {1, 0, 0}, {1, 2, 1}, {1, 0.5, 3}}
	rows := dense(x, []bool{false, true, true, false, true, false})
	rows[1].weight = 0.5
	const ridge = 0.7
	w := logistic(rows, 3, ridge)
	for j := range w {
		gradient := 0.0
		if j > 0 {
			gradient = -ridge * w[j]
		}
		for i, row := range rows {
			label := 0.0
			if row.positive {
				label = 1
			}
			gradient += row.weight * (label - predict(w, row)) * x[i][j]
		}
		if math.Abs(gradient) > 0.01 {
			t.Errorf("gradient %g by weight %d of %v, want about 0", gradient, j, w)
		}
	}
}

// TestLogisticKnowsTheBaseRate checks the one case with a closed form: with the
// bias alone the probability is the share of true labels.
func TestLogisticKnowsTheBaseRate(t *testing.T) {
	rows := dense([][]float64{{1}, {1}, {1}, {1}}, []bool{true, false, false, false})
	w := logistic(rows, 1, 1)
	if p := predict(w, rows[0]); math.Abs(p-0.25) > 0.001 {
		t.Errorf("probability %v, want 0.25", p)
	}
}
