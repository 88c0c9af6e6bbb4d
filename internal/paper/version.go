package paper

import (
	"math"
	"slices"
)

// Version is a version of the hard and the toxic prompts. The published tables
// mix two versions without saying so; see Fit.
type Version string

// The versions. The files available for download are Released.
const (
	Older    Version = "older"
	Released Version = "released"
)

// The sizes of the datasets.
const (
	HardOlder     = 1534
	HardReleased  = 1319
	ToxicOlder    = 681
	ToxicReleased = 655
)

// Fit counts how many of the ten printed rates of a row can be a whole number
// of refusals among a version's prompts of that category, rounded to 0.1 per
// cent or cut to it. A row fits the version that it was measured on with all
// ten rates, and the other one with a few by chance. A fit with a single
// exception has one rate that was rounded among nine that were cut; table 2 has
// six such rows.
type Fit struct {
	Version Version `json:"version"`
	Rounded int     `json:"rounded"`
	Cut     int     `json:"cut"`
}

// Best returns how many rates fit in the better of the two ways.
func (f Fit) Best() int { return max(f.Rounded, f.Cut) }

// FitVersions compares one model's row of the hard or the toxic table with both
// versions of that set. The better fit comes first.
func FitVersions(t Table, model string) []Fit {
	row := t.Rates(model)
	fits := []Fit{{Version: Older}, {Version: Released}}
	for j, size := range CategorySizes() {
		for k, n := range t.sizes(size) {
			rounded, cut := possible(row.Rates[j], n)
			if rounded {
				fits[k].Rounded++
			}
			if cut {
				fits[k].Cut++
			}
		}
	}
	if fits[1].Best() > fits[0].Best() {
		slices.Reverse(fits)
	}
	return fits
}

// sizes returns the number of prompts of a category in the table's set: older,
// released.
func (t Table) sizes(s CategorySize) [2]int {
	if t.Name == toxicTable {
		return [2]int{s.ToxicOlder, s.ToxicReleased}
	}
	return [2]int{s.HardOlder, s.HardReleased}
}

// possible reports whether k of n, for some k, is printed as this rate when
// rounded to 0.1 per cent, and when cut.
func possible(rate float64, n int) (rounded, cut bool) {
	// In thousandths, so that all values are whole numbers.
	printed := int(math.Round(10 * rate))
	for k := range n + 1 {
		rounded = rounded || (2000*k+n)/(2*n) == printed
		cut = cut || 1000*k/n == printed
	}
	return rounded, cut
}
