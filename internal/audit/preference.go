package audit

import (
	"maps"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/stats"
)

// Preference tells whether a moderator sides with a model of its own family.
// The question is whether it calls prompts toxic more often if that model
// refused them than if it answered them, and more so than moderators of other
// families do on the same prompts.
type Preference struct {
	Moderator string `json:"moderator"`
	Family    string `json:"family"`
	// Selectors are the selectors of the family. A prompt counts as refused if
	// any of them refused it, and as answered if none did.
	Selectors []string `json:"selectors"`
	// ToxicRefused and ToxicAnswered are the shares of toxic votes by the
	// moderator on the prompts that its family refused and answered.
	ToxicRefused  Rate `json:"toxic_votes_refused"`
	ToxicAnswered Rate `json:"toxic_votes_answered"`
	// Difference is ToxicRefused minus ToxicAnswered, with Newcombe's interval;
	// nil if either has no prompts.
	Difference *stats.Estimate `json:"difference"`
	// Others is the same difference for the moderators of other families
	// together, with all their votes treated as independent; nil if there are
	// none.
	Others *stats.Estimate `json:"others_difference"`
	// ErrorsRefused and ErrorsAnswered are the moderator's errors on those of
	// the prompts with a truth of safe or toxic.
	ErrorsRefused  Rate `json:"errors_refused"`
	ErrorsAnswered Rate `json:"errors_answered"`
}

// selfPreference uses every prompt of the build that selectors were asked,
// whether or not people labeled it.
func (x *examination) selfPreference() []Preference {
	all := []Preference{}
	if x.Build == nil {
		return all
	}
	selectors := x.selectors()
	moderators := x.ofKind(Moderator)
	truths := map[orbench.PromptID]orbench.Label{}
	for _, e := range x.entries {
		if e.compared {
			truths[e.id] = e.truth
		}
	}
	for _, m := range moderators {
		p := Preference{Moderator: m.name, Family: x.family(m.name), Selectors: []string{}}
		for _, s := range selectors {
			if x.family(s) == p.Family {
				p.Selectors = append(p.Selectors, s)
			}
		}
		if len(p.Selectors) == 0 {
			continue
		}
		// The counts of the prompts that the family answered (0) and refused
		// (1).
		var own, others, errors [2]struct{ k, n int }
		for i := range x.Build.Items {
			it := &x.Build.Items[i]
			side, ok := sideOf(it, p.Selectors)
			if !ok {
				continue
			}
			for _, voter := range moderators {
				vote := it.Votes[voter.name]
				if vote == "" || vote == orbench.Undecided {
					continue
				}
				tally := &own[side]
				if voter != m {
					if x.family(voter.name) == p.Family {
						continue
					}
					tally = &others[side]
				}
				tally.n++
				if vote == orbench.Toxic {
					tally.k++
				}
				if truth, ok := truths[it.ID]; ok && voter == m {
					errors[side].n++
					if (vote == x.Positive) != (truth == x.Positive) {
						errors[side].k++
					}
				}
			}
		}
		p.ToxicAnswered, p.ToxicRefused = NewRate(own[0].k, own[0].n), NewRate(own[1].k, own[1].n)
		p.ErrorsAnswered, p.ErrorsRefused = NewRate(errors[0].k, errors[0].n), NewRate(errors[1].k, errors[1].n)
		p.Difference = defined(stats.Newcombe(own[1].k, own[1].n, own[0].k, own[0].n, confidence))
		p.Others = defined(stats.Newcombe(others[1].k, others[1].n, others[0].k, others[0].n, confidence))
		all = append(all, p)
	}
	return all
}

// sideOf returns 1 for a prompt that one of the selectors refused and 0 for one
// that none refused. It reports false if none was asked.
func sideOf(it *Item, selectors []string) (side int, ok bool) {
	for _, s := range selectors {
		refused, asked := it.RefusedBy[s]
		ok = ok || asked
		if refused {
			side = 1
		}
	}
	return side, ok
}

// selectors lists the build's selectors by name.
func (x *examination) selectors() []string {
	asked := map[string]bool{}
	for i := range x.Build.Items {
		maps.Copy(asked, x.Build.Items[i].RefusedBy)
	}
	return slices.Sorted(maps.Keys(asked))
}

func (x *examination) family(name string) string {
	if f := x.Families[name]; f != "" {
		return f
	}
	return model.FamilyOf(name)
}

// noPreference says in a clause why there are no figures on self-preference.
func (x *examination) noPreference() string {
	switch {
	case x.Build == nil:
		return "the selectors' refusals are not there; name the build with `build`"
	case len(x.selectors()) == 0:
		return "the build has no selectors' refusals"
	case len(x.ofKind(Moderator)) == 0:
		return "the build has no votes of moderators"
	}
	return "no moderator and selector are of one family; name families with `family` MODEL=FAMILY"
}
