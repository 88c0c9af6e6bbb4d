package stats

import (
	"cmp"
	"maps"
	"slices"
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

// FullTurnout reports whether the votes have all the weight, so that nobody abstained.
func FullTurnout[C cmp.Ordered](votes map[C]float64, all float64) bool {
	cast := 0.0
	for _, choice := range slices.Sorted(maps.Keys(votes)) {
		cast += votes[choice]
	}
	return all > 0 && all-cast <= rounding*all
}
