package audit

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/orbench/orbench"
)

// Draw takes size items at random, by category. Each category contributes to
// the sample in proportion to its size (by largest remainders), but at least
// one item. Within a category every item has the same chance. The sample is in
// a random order, so that raters see no pattern in it.
//
// The sample depends on the seed and on which items there are, not on their
// order. Items with the same ID count once. Draw returns an *orbench.InputError
// if there are fewer items than size, or more categories.
func Draw(items []Item, size int, seed uint64) ([]Item, error) {
	items = slices.Clone(items)
	slices.SortFunc(items, func(a, b Item) int { return cmp.Compare(a.ID, b.ID) })
	items = slices.CompactFunc(items, func(a, b Item) bool { return a.ID == b.ID })
	strata := map[orbench.Category][]Item{}
	for _, it := range items {
		strata[it.Category] = append(strata[it.Category], it)
	}
	bad := func(problem, hint string) error {
		return &orbench.InputError{Setting: "size", Problem: problem, Hint: hint}
	}
	switch {
	case size < 1:
		return nil, bad("a sample has at least one prompt", "\"orbench audit plan\" says how many you need")
	case size > len(items):
		return nil, bad("there are only "+strconv.Itoa(len(items))+" prompts to draw from", "ask for no more than that")
	case size < len(strata):
		return nil, bad("there are "+strconv.Itoa(len(strata))+" categories, and each needs at least one prompt", "ask for at least as many")
	}
	categories := slices.Sorted(maps.Keys(strata))
	var counts []int
	for _, c := range categories {
		counts = append(counts, len(strata[c]))
	}
	r := rand.New(rand.NewPCG(seed, drawStream))
	shuffle := func(items []Item) {
		r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	}
	var sample []Item
	for i, share := range allot(size, counts) {
		stratum := strata[categories[i]]
		shuffle(stratum)
		sample = append(sample, stratum[:share]...)
	}
	shuffle(sample)
	return sample, nil
}

// drawStream separates the random numbers that choose a sample from those that
// other parts of a build derive from the same seed.
const drawStream = 0x617564697420

// allot divides size over strata in proportion to their counts: at least one
// and at most all of each. size is at least the number of strata and at most
// their sum.
func allot(size int, counts []int) []int {
	total := 0
	for _, n := range counts {
		total += n
	}
	shares := make([]int, len(counts))
	given := 0
	for i, n := range counts {
		shares[i] = max(1, size*n/total)
		given += shares[i]
	}
	// lack returns how far a stratum is below its exact share, times total.
	lack := func(i int) int { return size*counts[i] - shares[i]*total }
	for given != size {
		best, step := -1, 1
		if given > size {
			step = -1
		}
		for i := range shares {
			if next := shares[i] + step; next < 1 || next > counts[i] {
				continue
			}
			if best < 0 || step*lack(i) > step*lack(best) {
				best = i
			}
		}
		shares[best] += step
		given += step
	}
	return shares
}
