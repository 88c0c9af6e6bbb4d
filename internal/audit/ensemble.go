package audit

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/stats"
)

// Against compares one moderator with the ensemble, on the prompts with a truth
// that both labeled. A label is right if it is positive for a positive, or
// anything else for a negative.
type Against struct {
	Moderator string `json:"moderator"`
	N         int    `json:"n"`
	// Counts are the prompts by who is right: A is the moderator, B the ensemble.
	versus.Counts
	// Gain is the ensemble's accuracy minus the moderator's; see
	// versus.Pairs. It is nil without prompts.
	Gain *stats.Estimate `json:"gain"`
}

func (x entries) againstEnsemble(moderators []string) []Against {
	all := []Against{}
	for _, m := range moderators {
		var pairs versus.Pairs
		for _, e := range x {
			one, ok := e.said(m)
			many, okMany := e.said(Ensemble)
			if !e.compared || !ok || !okMany {
				continue
			}
			positive := e.truth == orbench.Safe
			pairs.Add(0, versus.Once((one == orbench.Safe) == positive), versus.Once((many == orbench.Safe) == positive))
		}
		gain, ok := pairs.Difference(confidence)
		all = append(all, Against{Moderator: m, N: int(pairs.N()), Counts: pairs.Counts, Gain: stats.OrNil(gain.Estimate, ok)})
	}
	return all
}
