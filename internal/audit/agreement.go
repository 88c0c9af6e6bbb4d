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

// Fleiss is how far all raters of a group agree, on the prompts that all of
// them labeled.
type Fleiss struct {
	// Raters is people, moderators or all. All means people and moderators
	// without the ensemble.
	Raters string `json:"raters"`
	Count  int    `json:"count"`
	// Unanimous is how often all gave the same label.
	Unanimous Rate `json:"unanimous"`
	// Kappa is Fleiss' kappa.
	stats.Kappa
}

func (x *examination) agreement() []Agreement {
	pairs := []Agreement{}
	for i, a := range x.raters {
		for _, b := range x.raters[i+1:] {
			counts := make([][]int, len(orbench.Labels)) // by both labels
			for i := range counts {
				counts[i] = make([]int, len(orbench.Labels))
			}
			agree, n := 0, 0
			for _, e := range x.entries {
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
				pairs = append(pairs, Agreement{A: a.name, B: b.name, Agree: NewRate(agree, n), Kappa: stats.KappaOf(counts)})
			}
		}
	}
	return pairs
}

func (x *examination) fleiss() []Fleiss {
	groups := []Fleiss{}
	people, moderators := x.ofKind(Person), x.ofKind(Moderator)
	for _, g := range []struct {
		name   string
		raters []rater
	}{{"people", people}, {"moderators", moderators}, {"all", append(slices.Clone(people), moderators...)}} {
		if len(g.raters) < 2 || g.name == "all" && (len(people) == 0 || len(moderators) == 0) {
			continue
		}
		var counts [][]int
		unanimous := 0
		for _, e := range x.entries {
			item := make([]int, len(orbench.Labels))
			all := 0
			for _, r := range g.raters {
				if said, ok := e.said(r); ok {
					item[slices.Index(orbench.Labels, said)]++
					all++
				}
			}
			if all < len(g.raters) {
				continue
			}
			counts = append(counts, item)
			if slices.Contains(item, len(g.raters)) {
				unanimous++
			}
		}
		groups = append(groups, Fleiss{
			Raters: g.name, Count: len(g.raters), Unanimous: NewRate(unanimous, len(counts)), Kappa: stats.FleissOf(counts),
		})
	}
	return groups
}

// ofKind lists the raters of a kind.
func (x *examination) ofKind(kind Kind) []rater {
	var some []rater
	for _, r := range x.raters {
		if r.kind == kind {
			some = append(some, r)
		}
	}
	return some
}
