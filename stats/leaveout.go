package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// LeftOut is an estimate whose interval comes from leaving out one group at a time, and the
// p-value of the hypothesis that the truth is 0.
type LeftOut struct {
	Estimate
	P float64 `json:"p"`
}

// LeaveOneOut gives the interval of an estimate over groups, such as families of models, from
// the estimates without each of them: the jackknife (Tukey 1958) without its factor (n-1)/n,
// which makes it hold for few groups too, and Student's t on one degree of freedom less than
// there are groups. The members of a group need not be independent. It reports false for fewer than three groups, and
// if the estimate does not vary.
func LeaveOneOut(all float64, without []float64, confidence float64) (LeftOut, bool) {
	checkConfidence(confidence)
	n := float64(len(without))
	sum := 0.0
	for _, v := range without {
		sum += (v - all) * (v - all)
	}
	if n < 3 || sum == 0 || math.IsNaN(sum) {
		return LeftOut{}, false
	}
	return tEstimate(all, math.Sqrt(sum), n-1, confidence), true
}

// tEstimate is an estimate with a standard error on some degrees of freedom.
func tEstimate(value, se, df, confidence float64) LeftOut {
	t := distuv.StudentsT{Sigma: 1, Nu: df}
	half := t.Quantile((1+confidence)/2) * se
	return LeftOut{Estimate{value, value - half, value + half}, 2 * t.Survival(math.Abs(value)/se)}
}

// Outlier compares a value with others of its kind: the difference from their mean, with the
// interval that a further value of theirs would keep to, by Student's t. It reports false for
// fewer than three others, and if they are all the same.
func Outlier(value float64, others []float64, confidence float64) (LeftOut, bool) {
	checkConfidence(confidence)
	n, mean, sum := float64(len(others)), 0.0, 0.0
	for _, v := range others {
		mean += v / n
	}
	for _, v := range others {
		sum += (v - mean) * (v - mean)
	}
	if n < 3 || sum == 0 {
		return LeftOut{}, false
	}
	return tEstimate(value-mean, math.Sqrt(sum/(n-1)*(1+1/n)), n-1, confidence), true
}
