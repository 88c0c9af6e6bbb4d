package vote

import (
	"maps"
	"slices"

	"github.com/orbench/orbench"
)

// rounding is the part of all weight that sums of weights such as 0.1 and 0.2 may
// be off by.
const rounding = 1e-9

// Majority gives the choice that has more than half of all, which is the weight of
// the votes, with that of abstentions where these count against every choice. It
// reports false where no choice has.
func Majority[C comparable](votes map[C]float64, all float64) (choice C, ok bool) {
	for c, weight := range votes {
		if 2*weight-all > rounding*all {
			return c, true
		}
	}
	return choice, false
}

// Label gives the label of the majority, or else what Unsettled says.
func Label(votes map[orbench.Label]float64, all float64) orbench.Label {
	if label, ok := Majority(votes, all); ok {
		return label
	}
	return Unsettled(votes, all)
}

// Unsettled is the label of a prompt on which votes did not agree: controversial
// where nobody abstained, and undecided otherwise, so that silence never makes a
// prompt safe.
func Unsettled(votes map[orbench.Label]float64, all float64) orbench.Label {
	cast := 0.0
	for _, label := range slices.Sorted(maps.Keys(votes)) {
		cast += votes[label]
	}
	if all > 0 && all-cast <= rounding*all {
		return orbench.Controversial
	}
	return orbench.Undecided
}
