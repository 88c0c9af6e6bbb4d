package stats

import "math"

// PredictSum predicts the sum of n further values like those of a sample, such as the
// tokens of answers still to come. It uses the prediction interval of Student's t, which
// counts both the variation of the further values and the error of the sample's mean
// (Hahn and Meeker 1991, Statistical Intervals, section 4.8). The interval is too narrow
// for few values of a skewed distribution.
//
// The sample is given by its size, mean and standard deviation. PredictSum reports false
// for fewer than two values, and panics unless n >= 0, deviation >= 0 and 0 < confidence
// < 1.
func PredictSum(size int, mean, deviation float64, n int, confidence float64) (Estimate, bool) {
	checkConfidence(confidence)
	if n < 0 || !(deviation >= 0) {
		panic("stats: PredictSum of fewer than no values, or a negative deviation")
	}
	if size < 2 {
		return Estimate{}, false
	}
	sum, further := mean*float64(n), float64(n)
	half := tOf(confidence, size) * deviation * math.Sqrt(further+further*further/float64(size))
	return Estimate{Value: sum, Lo: sum - half, Hi: sum + half}, true
}
