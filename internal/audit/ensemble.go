package audit

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/moderate"
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

func (x *examination) againstEnsemble() []Against {
	all := []Against{}
	joint := x.ofKind(Joint)
	if len(joint) == 0 {
		return all
	}
	for _, m := range x.ofKind(Moderator) {
		var pairs versus.Pairs
		for _, e := range x.entries {
			one, ok := e.said(m)
			many, okMany := e.said(joint[0])
			if !e.compared || !ok || !okMany {
				continue
			}
			positive := e.truth == orbench.Safe
			pairs.Add(0, versus.Once((one == orbench.Safe) == positive), versus.Once((many == orbench.Safe) == positive))
		}
		gain, ok := pairs.Difference(confidence)
		a := Against{Moderator: m.name, N: int(pairs.N()), Counts: pairs.Counts}
		if ok {
			a.Gain = &gain.Estimate
		}
		all = append(all, a)
	}
	return all
}

// LeftOut is an ensemble that decides by votes alone, without a second chance.
// A label wins if more than half of the members voted for it. Otherwise the
// result is controversial, or undecided if a member abstained. So two of three
// members that disagree do not pass a prompt as safe.
type LeftOut struct {
	// Without is the moderator that is left out; empty for the ensemble of all.
	Without string `json:"without"`
	Members int    `json:"members"`
	Figures
}

// leaveOneOut needs three moderators: two that disagree decide nothing.
func (x *examination) leaveOneOut() []LeftOut {
	all := []LeftOut{}
	moderators := x.ofKind(Moderator)
	if len(moderators) < 3 {
		return all
	}
	joined := func(members []rater) []labeled {
		var cases []labeled
		for _, e := range x.entries {
			if !e.compared {
				continue
			}
			votes := map[orbench.Label]float64{}
			for _, m := range members {
				if said, ok := e.said(m); ok {
					votes[said]++
				}
			}
			said, ok := stats.Majority(votes, float64(len(members)))
			if !ok {
				said = moderate.Unsettled(votes, float64(len(members)))
			}
			cases = append(cases, labeled{e.truth, said})
		}
		return cases
	}
	all = append(all, LeftOut{"", len(moderators), figures(joined(moderators))})
	for i, m := range moderators {
		rest := slices.Concat(moderators[:i], moderators[i+1:])
		all = append(all, LeftOut{m.name, len(rest), figures(joined(rest))})
	}
	return all
}
