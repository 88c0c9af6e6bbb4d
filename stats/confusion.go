package stats

import "gonum.org/v1/gonum/stat/distuv"

// Confusion counts the decisions of a two-class classifier against the truth.
type Confusion struct {
	// TP counts the true positives, and FN the positives that the classifier missed.
	TP int `json:"tp"`
	// FP counts negatives that were called positive.
	FP int `json:"fp"`
	FN int `json:"fn"`
	TN int `json:"tn"`
}

// Add counts one case: its truth, and what the classifier said.
func (c *Confusion) Add(truth, said bool) {
	switch {
	case truth && said:
		c.TP++
	case truth:
		c.FN++
	case said:
		c.FP++
	default:
		c.TN++
	}
}

// N is the number of cases counted.
func (c Confusion) N() int { return c.TP + c.FP + c.FN + c.TN }

// Accuracy is the share of cases classified correctly. It reports false if there are
// none.
func (c Confusion) Accuracy() (float64, bool) { return share(c.TP+c.TN, c.N()) }

// Reversed reports whether both surely say the same of fewer than half of the cases, as where
// the values that mean yes and no are the other way round: as few or fewer come by chance in at
// most 2.5% of samples (binomial test).
func (c Confusion) Reversed() bool {
	return c.N() > 0 && distuv.Binomial{N: float64(c.N()), P: 0.5}.CDF(float64(c.TP+c.TN)) <= 0.025
}

// Precision is the share of true positives among the cases called positive. It reports
// false if nothing was called positive.
func (c Confusion) Precision() (float64, bool) { return share(c.TP, c.TP+c.FP) }

// Recall is the share of the positives that were called positive. It reports false if
// there are no positives.
func (c Confusion) Recall() (float64, bool) { return share(c.TP, c.TP+c.FN) }

// F1 is the harmonic mean of precision and recall, 2TP / (2TP + FP + FN). It reports
// false only if nothing is positive and nothing was called positive. It is 0 if positives
// exist and none was found.
func (c Confusion) F1() (float64, bool) { return share(2*c.TP, 2*c.TP+c.FP+c.FN) }

// Kappa is Cohen's kappa between the classifier and the truth; see CohenKappa.
func (c Confusion) Kappa() Kappa { return KappaOf([][]int{{c.TP, c.FN}, {c.FP, c.TN}}) }

// share is part / whole, undefined if whole is 0.
func share(part, whole int) (float64, bool) {
	if whole == 0 {
		return 0, false
	}
	return float64(part) / float64(whole), true
}

// F1Interval is F1 with an interval. F1 is 2t / (1 + t), where t is the share of true
// positives among all cases except the true negatives. F1 grows with t, so the interval
// is Wilson's interval of t, transformed in the same way (Lam, Gopal and Qian 2023,
// arXiv:2309.14621, the indirect Wilson interval).
func (c Confusion) F1Interval(confidence float64) (Estimate, bool) {
	value, ok := c.F1()
	if !ok {
		return Estimate{}, false
	}
	lo, hi := Wilson(c.TP, c.TP+c.FP+c.FN, confidence)
	of := func(t float64) float64 { return 2 * t / (1 + t) }
	return estimate(value, of(lo), of(hi), 0, 1), true
}
