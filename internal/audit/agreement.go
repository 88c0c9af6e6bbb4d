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
			agree := 0
			var items [][][2]int // by both labels, each item apart
			for _, e := range x {
				la, okA := e.said(a)
				lb, okB := e.said(b)
				if !okA || !okB {
					continue
				}
				if la == lb {
					agree++
				}
				items = append(items, [][2]int{{slices.Index(orbench.Labels, la), slices.Index(orbench.Labels, lb)}})
			}
			if n := len(items); n > 0 {
				pairs = append(pairs, Agreement{A: a, B: b, Agree: NewRate(agree, n), Kappa: stats.KappaOfClusters(items, len(orbench.Labels))})
			}
		}
	}
	return pairs
}
