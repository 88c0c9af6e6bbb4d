package stats

import "cmp"

// Rate is a share of counted things with its 95% interval. It is embedded in the type
// that has the counts, so that its fields are beside them in JSON.
type Rate struct {
	// Share is from 0 to 1. It is nil if nothing was counted or if it is withheld.
	Share *float64 `json:"rate"`
	// CI95 is the 95% interval, Wilson's unless stated otherwise. It is nil if Share is.
	CI95 *[2]float64 `json:"ci95"`
	// CI95Clustered is Wilson's interval for prompts that share clusters (see
	// WilsonClustered). It is nil if they share none, or if Share is nil. If it is set,
	// CI95 treats the prompts as independent and is mostly too narrow.
	CI95Clustered *[2]float64 `json:"ci95_clustered,omitempty"`
}

// RateOf is k of n with Wilson's interval. It has no share and no interval if n is 0. It
// panics unless 0 <= k <= n.
func RateOf(k, n int) Rate {
	lo, hi := Wilson(k, n, 0.95)
	if n == 0 {
		return Rate{}
	}
	return Rate{Share: new(float64(k) / float64(n)), CI95: &[2]float64{lo, hi}}
}

// Interval is the interval to show with Share: the clustered one if there is one, else CI95.
func (r Rate) Interval() *[2]float64 {
	return cmp.Or(r.CI95Clustered, r.CI95)
}

// Estimate is the rate with the interval to show, nil if either is missing.
func (r Rate) Estimate() *Estimate {
	ci := r.Interval()
	if r.Share == nil || ci == nil {
		return nil
	}
	return &Estimate{Value: *r.Share, Lo: ci[0], Hi: ci[1]}
}

// Ends is the interval of an estimate as a pair, nil without one.
func (e *Estimate) Ends() *[2]float64 {
	if e == nil {
		return nil
	}
	return &[2]float64{e.Lo, e.Hi}
}
