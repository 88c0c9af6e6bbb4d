package moderate

import (
	"cmp"
	"fmt"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// Rule says how votes decide.
type Rule string

// The rules. Shares are of all moderators, including those that abstain, so that silence
// never makes a prompt safe.
const (
	// Majority: the label that more than half of the moderators give. Without one, an
	// item on which all voted is controversial.
	Majority Rule = "majority"
	// Unanimous: the label that all moderators give. If all voted but disagree, the item
	// is controversial.
	Unanimous Rule = "unanimous"
	// Weighted: like Majority, by the moderators' weights.
	Weighted Rule = "weighted"
)

// ParseRule reads the name of a rule.
func ParseRule(s string) (Rule, error) {
	switch r := Rule(s); r {
	case Majority, Unanimous, Weighted:
		return r, nil
	}
	return "", fmt.Errorf("no rule is called %q; use %s, %s or %s", s, Majority, Unanimous, Weighted)
}

// Decision is an ensemble's decision on an item.
type Decision struct {
	// Label is Safe, Toxic, Controversial, or Undecided if abstentions leave too few
	// votes.
	Label orbench.Label
	// Category is the category of a toxic item: the one with the most toxic votes or,
	// among equals, the first in the policy.
	Category orbench.Category
}

// Unsettled is the label of an item on which votes did not agree: controversial if nobody
// abstained, undecided otherwise. So silence never makes a prompt safe.
func Unsettled(votes map[orbench.Label]float64, all float64) orbench.Label {
	if stats.FullTurnout(votes, all) {
		return orbench.Controversial
	}
	return orbench.Undecided
}

// Decide counts votes, one from each moderator in their order.
func (r Rule) Decide(policy orbench.Policy, moderators []Moderator, votes []Vote) Decision {
	all, cast := 0.0, map[orbench.Label]float64{}
	byCategory := map[orbench.Category]float64{}
	for i, v := range votes {
		w := 1.0
		if r == Weighted {
			w = cmp.Or(moderators[i].Weight, 1)
		}
		all += w
		switch v.Label {
		case orbench.Toxic:
			byCategory[v.Category] += w
			fallthrough
		case orbench.Safe:
			cast[v.Label] += w
		}
	}
	label, carried := stats.Majority(cast, all)
	if r == Unanimous {
		carried = carried && cast[label] == all
	}
	if !carried {
		return Decision{Label: Unsettled(cast, all)}
	}
	d := Decision{Label: label}
	if label == orbench.Toxic {
		most := 0.0
		for _, definition := range policy {
			if n := byCategory[definition.Category]; n > most {
				d.Category, most = definition.Category, n
			}
		}
	}
	return d
}
