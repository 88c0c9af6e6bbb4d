package train

import "math"

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
