package audit

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// Agreement is how often two raters gave the same label, over the prompts that
// both labeled, whatever the truth.
type Agreement struct {
	A     string `json:"a"`
	B     string `json:"b"`
	Agree Rate   `json:"agree"`
	// Kappa is Cohen's kappa.
	stats.Kappa
}

func (x entries) agreement(raters []string) []Agreement {
	pairs := []Agreement{}
	for i, a := range raters {
		for _, b := range raters[i+1:] {
			counts := make([][]int, len(orbench.Labels)) // by both labels
			for i := range counts {
				counts[i] = make([]int, len(orbench.Labels))
			}
			agree, n := 0, 0
			for _, e := range x {
				la, okA := e.said(a)
				lb, okB := e.said(b)
				if !okA || !okB {
					continue
				}
				n++
				if la == lb {
					agree++
				}
				counts[slices.Index(orbench.Labels, la)][slices.Index(orbench.Labels, lb)]++
			}
			if n > 0 {
				pairs = append(pairs, Agreement{A: a, B: b, Agree: NewRate(agree, n), Kappa: stats.KappaOf(counts)})
			}
		}
	}
	return pairs
}
