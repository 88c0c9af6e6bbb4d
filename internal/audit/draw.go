package audit

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/table"
)

// Usual is how many prompts are drawn where nobody says how many.
const Usual = 50

// Draw takes size items at random, by category. Each category contributes to
// the sample in proportion to its size (by largest remainders), but at least
// one item. Within a category every item has the same chance. A later draw adds to an
// earlier one of the same seed.
//
// The sample depends on the seed and on which items there are, not on their
// order. Draw returns an *orbench.InputError if there are fewer items than size, or more
// categories.
func Draw(items []Item, words annotation.Words, size int, seed uint64, at time.Time) ([]orbench.Annotation, error) {
	of, strata, before := design(items), map[orbench.Category][]Item{}, map[orbench.Category]int{}
	for _, it := range slices.SortedFunc(slices.Values(items), func(a, b Item) int { return cmp.Compare(a.ID, b.ID) }) {
		strata[it.Category] = append(strata[it.Category], it)
		if words.ChanceIn(of, it.subject()) > 0 {
			before[it.Category]++
		}
	}
	switch {
	case size > len(items):
		return nil, &orbench.InputError{Setting: "size", Problem: "there are only " + strconv.Itoa(len(items)) + " prompts to draw from", Hint: "ask for no more than that"}
	case size < len(strata):
		return nil, &orbench.InputError{Setting: "size", Problem: "there are " + strconv.Itoa(len(strata)) + " categories, and each needs at least one prompt", Hint: "ask for at least as many"}
	}
	categories := slices.Sorted(maps.Keys(strata))
	counts := table.RowsOf(categories, func(c orbench.Category) int { return len(strata[c]) })
	r := rand.New(rand.NewPCG(seed, drawStream))
	var drawn []orbench.Annotation
	for i, share := range allot(size, counts) {
		stratum := strata[categories[i]]
		r.Shuffle(len(stratum), func(i, j int) { stratum[i], stratum[j] = stratum[j], stratum[i] })
		share = max(share, before[categories[i]])
		for _, it := range stratum[:share] {
			drawn = append(drawn, orbench.Annotation{Subject: it.subject(), At: at, Design: of, Chance: float64(share) / float64(len(stratum))})
		}
	}
	return drawn, nil
}

// drawStream separates the random numbers that choose a sample from those that
// other parts of a build derive from the same seed.
const drawStream = 0x617564697420

// allot divides size over strata in proportion to their counts: at least one
// and at most all of each. size is at least the number of strata and at most
// their sum.
func allot(size int, counts []int) []int {
	total, shares := 0, make([]int, len(counts))
	for i, n := range counts {
		total, shares[i] = total+n, 1
	}
	for range size - len(counts) {
		best, most := -1, 0
		for i, n := range counts {
			// How far the stratum is below its exact share, times total.
			if lack := size*n - shares[i]*total; shares[i] < n && (best < 0 || lack > most) {
				best, most = i, lack
			}
		}
		shares[best]++
	}
	return shares
}
