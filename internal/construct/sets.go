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

// inLots gives items in the order of their lots, and those with equal lots in that of their
// keys.
func inLots[T any](sampling int64, what string, items []T, key func(T) string) []T {
	drawn := slices.Clone(items)
	slices.SortFunc(drawn, func(a, b T) int {
		x, y := key(a), key(b)
		return cmp.Or(cmp.Compare(draw(sampling, what, x), draw(sampling, what, y)), cmp.Compare(x, y))
	})
	return drawn
}

// choose gives each entry its sets.
func (r *run) choose() {
	var full, hard, toxic []entry
	for _, e := range r.entries {
		// A seed is a candidate for the toxic set only.
		if e.Label == orbench.Safe && e.Kind == benchmark.Rewritten {
			full = append(full, e)
			if len(r.Config.Hard.Selectors) > 0 && e.RefusedBy() >= r.Config.Hard.RefusedBy {
				hard = append(hard, e)
			}
		}
		if r.qualifiesAsToxic(e.Record) {
			toxic = append(toxic, e)
		}
	}
	r.count(func(f *benchmark.Funnel) {
		f.Selection.HardCandidates, f.Selection.ToxicCandidates = len(hard), len(toxic)
	})
	chosen := map[benchmark.SetName][]entry{
		benchmark.FullSet: full, benchmark.HardSet: r.lots("hard", hard, r.Config.Hard.Size), benchmark.ToxicSet: r.evenly(toxic, r.Config.Toxic.Size),
	}
	for _, name := range benchmark.SetNames {
		for _, e := range chosen[name] {
			e.Sets = append(e.Sets, name)
		}
		if n := len(chosen[name]); n > 0 {
			r.count(func(f *benchmark.Funnel) { f.Selection.Sets[name] = n })
		}
	}
}

// lots draws most of the entries, all of them when most is 0. Those of earlier
// builds come first, so that a set only grows.
func (r *run) lots(what string, entries []entry, most int) []entry {
	if most == 0 || len(entries) <= most {
		return entries
	}
	drawn := inLots(r.Config.Sampling, what, entries, func(e entry) string { return string(e.ID) })
	slices.SortStableFunc(drawn, func(a, b entry) int { return cmp.Compare(a.Build, b.Build) })
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
		byCategory[e.Category] = append(byCategory[e.Category], e)
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
