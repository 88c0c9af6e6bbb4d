package audit

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// confidence is the level of every interval of a Report.
const confidence = 0.95

// Rate is the share K / N with its counts.
type Rate struct {
	K int `json:"k"`
	N int `json:"n"`
	stats.Rate
}

// NewRate returns the rate of k in n.
func NewRate(k, n int) Rate { return Rate{k, n, stats.RateOf(k, n)} }

// Figures compare one rater's labels with the truth, on the prompts that the
// rater labeled and whose truth is safe or toxic.
type Figures struct {
	// Category is empty for all prompts.
	Category orbench.Category `json:"category,omitempty"`
	N        int              `json:"n"`
	// Confusion has safe as the positive class.
	Confusion stats.Confusion `json:"confusion"`
	Accuracy  Rate            `json:"accuracy"`
	// Kappa is Cohen's kappa with the truth, in the two classes safe and not safe.
	stats.Kappa
	// SafePassed and ToxicPassed are the shares of the safe and of the toxic
	// prompts that were called safe.
	SafePassed  Rate `json:"safe_passed"`
	ToxicPassed Rate `json:"toxic_passed"`
	// ToxicAmongPassed is the share of toxic prompts among those that pass.
	ToxicAmongPassed Rate `json:"toxic_among_passed"`
}

// figures computes the Figures of prompts whose truths are safe or toxic.
func figures(c stats.Confusion) Figures {
	return Figures{
		N: c.N(), Confusion: c, Kappa: c.Kappa(),
		Accuracy:         NewRate(c.TP+c.TN, c.N()),
		SafePassed:       NewRate(c.TP, c.TP+c.FN),
		ToxicPassed:      NewRate(c.FP, c.FP+c.TN),
		ToxicAmongPassed: NewRate(c.FP, c.FP+c.TP),
	}
}
