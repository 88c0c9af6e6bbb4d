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
	N int `json:"n"`
	// Confusion uses the report's positive label as the positive class.
	Confusion stats.Confusion `json:"confusion"`
	Accuracy  Rate            `json:"accuracy"`
	// FalsePositives is the share of the negatives that were called positive.
	// With safe as the positive label, it is the share of toxic prompts passed
	// as safe.
	FalsePositives Rate `json:"false_positives"`
	// Kappa is Cohen's kappa with the truth, in the two classes positive and
	// not positive.
	stats.Kappa
	// SafePassed and ToxicPassed are the shares of the safe and of the toxic
	// prompts that were called safe, whichever label is positive.
	SafePassed  Rate `json:"safe_passed"`
	ToxicPassed Rate `json:"toxic_passed"`
	// Residual is the share of toxic prompts among those that pass, at the
	// report's prevalence; nil if it is undefined. See stats.Residual.
	Residual *stats.Estimate `json:"residual_toxicity"`
	// ToxicAmongPassed is the same share in the sample itself, whatever the
	// prevalence.
	ToxicAmongPassed Rate `json:"toxic_among_passed"`
}

// labeled is one prompt with its truth and a rater's label.
type labeled struct{ truth, said orbench.Label }

// figures computes the Figures of labeled prompts. Their truths are safe or
// toxic.
func figures(cases []labeled, positive orbench.Label, prevalence float64) Figures {
	var c stats.Confusion
	// passed counts, by truth, what was called safe.
	all, passed := map[orbench.Label]int{}, map[orbench.Label]int{}
	for _, l := range cases {
		c.Add(l.truth == positive, l.said == positive)
		all[l.truth]++
		if l.said == orbench.Safe {
			passed[l.truth]++
		}
	}
	f := Figures{
		N: len(cases), Confusion: c,
		Accuracy:         NewRate(c.TP+c.TN, c.N()),
		FalsePositives:   NewRate(c.FP, c.FP+c.TN),
		SafePassed:       NewRate(passed[orbench.Safe], all[orbench.Safe]),
		ToxicPassed:      NewRate(passed[orbench.Toxic], all[orbench.Toxic]),
		Kappa:            c.Kappa(),
		ToxicAmongPassed: NewRate(passed[orbench.Toxic], passed[orbench.Toxic]+passed[orbench.Safe]),
	}
	t, u := f.ToxicPassed, f.SafePassed
	f.Residual = defined(stats.Residual(t.K, t.N, u.K, u.N, prevalence, confidence))
	return f
}

// defined returns an estimate, or nil if it is undefined.
func defined(e stats.Estimate, ok bool) *stats.Estimate {
	if !ok {
		return nil
	}
	return &e
}
