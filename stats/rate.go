package stats

import "cmp"

// Rate is a share of counted things with its 95% interval. It is embedded in what
// says the counts, so that its fields lie beside them in JSON.
type Rate struct {
	// Share is from 0 to 1, nil of nothing and where it is withheld.
	Share *float64 `json:"rate"`
	// CI95 is the 95% interval, Wilson's unless said otherwise, nil with Share.
	CI95 *[2]float64 `json:"ci95"`
	// CI95Clustered is Wilson's interval for prompts that share clusters (see
	// WilsonClustered), nil where they do not, and with Share. Then CI95, which
	// takes them as independent, is mostly too narrow.
	CI95Clustered *[2]float64 `json:"ci95_clustered,omitempty"`
	Stopping
}

// Stopping has the 95% interval of a rate whose counting stopped once the interval was
// narrow enough. At most one is there; none where counting did not stop, or without Share.
// They are about the rate of the whole population.
type Stopping struct {
	// CI95Sequence is that of a confidence sequence; see Sequence. The other intervals,
	// which are for a number that is fixed before, are too narrow then.
	CI95Sequence *[2]float64 `json:"ci95_sequence,omitempty"`
	// CI95Stopped is Wilson's with the finite-population correction; see WilsonFinite. It
	// is wider where several targets stop together, so that all of theirs hold in 95%.
	CI95Stopped *[2]float64 `json:"ci95_stopped,omitempty"`
}

// RateOf is k of n with Wilson's interval, without share and interval when n is 0.
// It panics unless 0 <= k <= n.
func RateOf(k, n int) Rate {
	lo, hi := Wilson(k, n, 0.95)
	if n == 0 {
		return Rate{}
	}
	share := float64(k) / float64(n)
	return Rate{Share: &share, CI95: &[2]float64{lo, hi}}
}

// Interval is the interval to show with Share: that of Stopping where there is one, else
// the one that counts clusters, else CI95.
func (r Rate) Interval() *[2]float64 {
	return cmp.Or(r.CI95Sequence, r.CI95Stopped, r.CI95Clustered, r.CI95)
}

// Estimate is the rate with the interval to show, nil where either is missing.
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
