package stats

import "math"

// PredictSum predicts the sum of n further values like those of a sample, such as the
// tokens of answers that are still to come, with the prediction interval of Student's t:
// it counts both how the further values vary and that the sample's mean is not theirs
// (Hahn and Meeker 1991, Statistical Intervals, section 4.8). Few values of a skew
// distribution make it too narrow.
//
// The sample is given by its size, mean and standard deviation. PredictSum reports false
// for fewer than two values, and panics unless n >= 0, deviation >= 0 and
// 0 < confidence < 1.
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
