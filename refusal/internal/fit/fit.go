package fit

import "math"

// Ridge is the penalty on large weights that the detector is trained with.
const Ridge = 3.0

// SequenceValue is the value that a sequence of words has where it occurs. It is
// below 1, so that a weight which rests on few words is penalized more.
const SequenceValue = 0.3

const (
	// maxPasses bounds how often each weight is moved.
	maxPasses = 150
	// leastStep is the move of a weight below which nothing is left to do.
	leastStep = 0.002
)

// A Row is one labeled example: the places of its values that are not 0, and what
// it counts.
type Row struct {
	Places   []int
	Values   []float64
	Positive bool
	Weight   float64
}

// Logistic gives the n weights that make the labels most likely for the rows, less
// ridge/2 times the sum of their squares. The weight at place 0 is taken to be the
// bias and is not penalized.
func Logistic(rows []Row, n int, ridge float64) []float64 {
	type entry struct {
		row   int
		value float64
	}
	columns := make([][]entry, n)
	bound := make([]float64, n) // of the second derivative
	for i, row := range rows {
		for j, place := range row.Places {
			value := row.Values[j]
			columns[place] = append(columns[place], entry{i, value})
			bound[place] += float64(float64(row.Weight*value) * value / 4)
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

func missOf(row Row, sum float64) float64 {
	p := 1 / (1 + math.Exp(-sum))
	if row.Positive {
		return row.Weight * (1 - p)
	}
	return -float64(row.Weight * p)
}

// Predict gives the probability that a row's label is true.
func Predict(w []float64, row Row) float64 {
	var z float64
	for j, place := range row.Places {
		z += float64(w[place] * row.Values[j])
	}
	return 1 / (1 + math.Exp(-z))
}
