package stats

import (
	"fmt"
	"math"
)

// Estimate is a value with its confidence interval. The interval need not be symmetric
// around the value, but always contains it.
type Estimate struct {
	Value float64 `json:"value"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
}

// OrNil returns a figure as functions of this package give it, nil if it is not defined.
func OrNil[T any](figure T, defined bool) *T {
	if !defined {
		return nil
	}
	return &figure
}

// Interval is a range of values, both ends included.
type Interval struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
}

// Holds reports whether v lies within the interval.
func (i Interval) Holds(v float64) bool { return i.Lo <= v && v <= i.Hi }

// estimate makes an Estimate. It keeps the interval within [least, most], and makes it
// contain the value despite rounding of its ends.
func estimate(value, lo, hi, least, most float64) Estimate {
	value = math.Min(most, math.Max(least, value))
	return Estimate{
		Value: value,
		Lo:    math.Min(value, math.Max(least, lo)),
		Hi:    math.Max(value, math.Min(most, hi)),
	}
}

// bisect repeatedly halves the range between a value that is not rejected and one that
// is, times times, and gives the remaining range.
func bisect(in, out float64, times int, rejected func(float64) bool) (float64, float64) {
	for range times {
		if mid := (in + out) / 2; rejected(mid) {
			out = mid
		} else {
			in = mid
		}
	}
	return in, out
}

// Z95 is the number of standard deviations that a 95% interval extends to each side.
const Z95 = 1.959963984540054

// zOf is the number of standard deviations that an interval at this confidence extends to
// each side.
func zOf(confidence float64) float64 {
	checkConfidence(confidence)
	return math.Sqrt2 * math.Erfinv(confidence)
}

func checkConfidence(confidence float64) {
	if !(confidence > 0 && confidence < 1) {
		panic(fmt.Sprintf("stats: the confidence %v is not between 0 and 1", confidence))
	}
}

// checkCounts panics unless 0 <= k <= n.
func checkCounts(what string, k, n int) {
	if k < 0 || k > n {
		panic(fmt.Sprintf("stats: %s of %d positives among %d trials", what, k, n))
	}
}
