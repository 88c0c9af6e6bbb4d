package stats

import (
	"cmp"
	"maps"
	"slices"
)

// rounding is the relative rounding error allowed in sums of weights such as 0.1 and 0.2.
const rounding = 1e-9

// Majority gives the choice with more than half of all. all is the weight of the votes,
// plus that of abstentions if these count against every choice. It reports false if no
// choice has more than half.
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
