package stats

// Confusion counts what a two-class classifier said against what was true.
type Confusion struct {
	// TP and FN count the true positives and what the classifier missed of them.
	TP int `json:"tp"`
	// FP counts negatives that were called positive.
	FP int `json:"fp"`
	FN int `json:"fn"`
	TN int `json:"tn"`
}

// Add counts one case: what is true of it and what was said of it.
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

// Accuracy is the share of cases that were called right. It reports false when
// there are none.
func (c Confusion) Accuracy() (float64, bool) { return share(c.TP+c.TN, c.N()) }

// Precision is the share of the called positives that are positive. It reports
// false when nothing was called positive.
func (c Confusion) Precision() (float64, bool) { return share(c.TP, c.TP+c.FP) }

// Recall is the share of the positives that were called positive. It reports
// false when there are no positives.
func (c Confusion) Recall() (float64, bool) { return share(c.TP, c.TP+c.FN) }

// F1 is the harmonic mean of precision and recall, 2TP / (2TP + FP + FN). It
// reports false only when nothing is positive and nothing was called so; it is 0
// where positives exist and none was found.
func (c Confusion) F1() (float64, bool) { return share(2*c.TP, 2*c.TP+c.FP+c.FN) }

// Kappa is Cohen's kappa between the classifier and the truth; see CohenKappa.
func (c Confusion) Kappa() Kappa { return KappaOf([][]int{{c.TP, c.FN}, {c.FP, c.TN}}) }

// share is part / whole, undefined for an empty whole.
func share(part, whole int) (float64, bool) {
	if whole == 0 {
		return 0, false
	}
	return float64(part) / float64(whole), true
}

// F1Interval is F1 with an interval. F1 is 2t / (1 + t) of the share t of true
// positives among all cases but the true negatives, and grows with it, so the interval
// is Wilson's of that share, so transformed (Lam, Gopal and Qian 2023,
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
