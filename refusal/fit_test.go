package refusal_test

import (
	"math"
	"testing"
)

// ridge is the penalty on large weights that the detector is trained with.
const ridge = 3.0

// sequenceValue is the value that a sequence of words has where it occurs. It is
// below 1, so that a weight which rests on few words is penalized more.
const sequenceValue = 0.3

const (
	// maxPasses bounds how often each weight is moved.
	maxPasses = 150
	// leastStep is the move of a weight below which nothing is left to do.
	leastStep = 0.002
)

// An example is a labeled row of numbers that are mostly zeros: the places of its values
// that are not 0, and what it counts.
type example struct {
	places   []int
	values   []float64
	positive bool
	weight   float64
}

// logistic gives the n weights that make the labels most likely for the rows, less
// ridge/2 times the sum of their squares. The weight at place 0 is taken to be the
// bias and is not penalized. It moves one weight after another, and gives the same bits each
// time.
func logistic(rows []example, n int, ridge float64) []float64 {
	type entry struct {
		row   int
		value float64
	}
	columns := make([][]entry, n)
	bound := make([]float64, n) // of the second derivative
	for i, row := range rows {
		for j, place := range row.places {
			value := row.values[j]
			columns[place] = append(columns[place], entry{i, value})
			bound[place] += float64(float64(row.weight*value) * value / 4)
		}
	}
	w := make([]float64, n)
	sum := make([]float64, len(rows))
	miss := make([]float64, len(rows)) // weight times label less probability
	for i, row := range rows {
		miss[i] = missOf(row, 0)
	}
	for range maxPasses {
		largest := 0.0
		for j, column := range columns {
			if len(column) == 0 {
				continue
			}
			penalty := ridge
			if j == 0 {
				penalty = 1e-9
			}
			gradient := -float64(penalty * w[j])
			for _, e := range column {
				gradient += float64(miss[e.row] * e.value)
			}
			step := gradient / (penalty + bound[j])
			if math.Abs(step) < leastStep/20 {
				continue
			}
			w[j] += step
			largest = math.Max(largest, math.Abs(step))
			for _, e := range column {
				sum[e.row] += float64(step * e.value)
				miss[e.row] = missOf(rows[e.row], sum[e.row])
			}
		}
		if largest < leastStep {
			break
		}
	}
	return w
}

func missOf(row example, sum float64) float64 {
	p := 1 / (1 + math.Exp(-sum))
	if row.positive {
		return row.weight * (1 - p)
	}
	return -float64(row.weight * p)
}

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
