package construct

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/benchmark"
)

// draw gives the lot of an item: a number that follows from the sampling seed,
// what is drawn for, and the item. Sorting by lots is drawing without
// replacement, and an item keeps its lot whatever else there is.
func draw(sampling int64, what, item string) uint64 {
	sum := sha256.Sum256([]byte(strconv.FormatInt(sampling, 10) + "\n" + what + "\n" + item))
	return binary.BigEndian.Uint64(sum[:])
}

// choose gives the sets of each row, by the row's number in the lineage.
func (r *run) choose() map[int][]benchmark.SetName {
	sets := map[int][]benchmark.SetName{}
	put := func(name benchmark.SetName, entries []entry) {
		for _, e := range entries {
			sets[e.row] = append(sets[e.row], name)
		}
	}
	var full, hard, toxic []entry
	for _, e := range r.entries {
		if e.label == orbench.Safe {
			full = append(full, e)
		}
		if e.label == orbench.Safe && len(r.Config.Hard.Selectors) > 0 && e.families >= r.Config.Hard.RefusedBy {
			hard = append(hard, e)
		}
		if e.toxic {
			toxic = append(toxic, e)
		}
	}
	r.count(func(f *benchmark.Funnel) {
		f.Selection.HardCandidates, f.Selection.ToxicCandidates = len(hard), len(toxic)
	})
	put(benchmark.FullSet, full)
	put(benchmark.HardSet, r.lots("hard", hard, r.Config.Hard.Size))
	put(benchmark.ToxicSet, r.evenly(toxic, r.Config.Toxic.Size))
	r.count(func(f *benchmark.Funnel) {
		for _, names := range sets {
			for _, name := range names {
				f.Selection.Sets[name]++
			}
		}
	})
	return sets
}

// lots draws most of the entries, all of them when most is 0. Those of earlier
// builds come first, so that a set only grows.
func (r *run) lots(what string, entries []entry, most int) []entry {
	if most == 0 || len(entries) <= most {
		return entries
	}
	drawn := slices.Clone(entries)
	slices.SortFunc(drawn, func(a, b entry) int {
		return cmp.Or(
			cmp.Compare(a.build, b.build),
			cmp.Compare(draw(r.Config.Sampling, what, string(a.id)), draw(r.Config.Sampling, what, string(b.id))),
			cmp.Compare(a.id, b.id),
		)
	})
	return drawn[:most]
}

// evenly draws most of the entries with as many of each category as there can be:
// what one category lacks, the others share.
func (r *run) evenly(entries []entry, most int) []entry {
	if most == 0 || len(entries) <= most {
		return entries
	}
	byCategory := map[orbench.Category][]entry{}
	for _, e := range entries {
		byCategory[e.category] = append(byCategory[e.category], e)
	}
	// The categories with the fewest come first, so that what they lack is known
	// when the others are drawn; the order of the policy breaks ties.
	order := r.policy.Categories()
	slices.SortStableFunc(order, func(a, b orbench.Category) int {
		return cmp.Compare(len(byCategory[a]), len(byCategory[b]))
	})
	var drawn []entry
	for i, c := range order {
		if share := (most - len(drawn)) / (len(order) - i); share > 0 {
			drawn = append(drawn, r.lots("toxic", byCategory[c], share)...)
		}
	}
	return drawn
}
