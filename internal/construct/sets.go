package construct

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/similar"
)

// draw gives an item a pseudorandom number. It depends on the sampling seed, the purpose
// of the draw, and the item. Sorting by it is drawing without replacement, and an item
// keeps its number whatever other items there are.
func draw(sampling int64, what, item string) uint64 {
	sum := sha256.Sum256([]byte(strconv.FormatInt(sampling, 10) + "\n" + what + "\n" + item))
	return binary.BigEndian.Uint64(sum[:])
}

// inLots sorts items by their numbers from draw; ties are broken by key.
func inLots[T any](sampling int64, what string, items []T, key func(T) string) []T {
	drawn := slices.Clone(items)
	slices.SortFunc(drawn, func(a, b T) int {
		x, y := key(a), key(b)
		return cmp.Or(cmp.Compare(draw(sampling, what, x), draw(sampling, what, y)), cmp.Compare(x, y))
	})
	return drawn
}

// choose assigns the sets to each entry.
func (r *run) choose() {
	var full, toxic []entry
	for _, e := range r.entries {
		// A seed is a candidate only for the toxic set.
		if e.Label == orbench.Safe && e.Kind == benchmark.Rewritten {
			full = append(full, e)
		}
		// All moderators called it toxic and, if there is a second chance, its answer too.
		all := len(e.Votes) > 0 && !slices.ContainsFunc(e.Votes, func(v benchmark.Vote) bool { return v.Label != orbench.Toxic })
		if e.Label == orbench.Toxic && all && (r.Config.SecondChance.Model == "" || e.SecondChance.Confirmed) {
			toxic = append(toxic, e)
		}
	}
	r.clusters = clusters(r.entries)
	candidates := len(full)
	full = r.lots("full", full, r.Config.Full.Size)
	hard := slices.DeleteFunc(slices.Clone(full), func(e entry) bool {
		return len(r.Config.Hard.Selectors) == 0 || len(e.RefusedBy()) < r.Config.Hard.RefusedBy
	})
	r.count(func(f *benchmark.Funnel) {
		f.Selection.FullCandidates, f.Selection.HardCandidates, f.Selection.ToxicCandidates = candidates, len(hard), len(toxic)
	})
	has := 0
	if r.Base != nil {
		has = r.Base.Manifest.Funnel.Selection.Sets[benchmark.HardSet]
	}
	chosen := map[benchmark.SetName][]entry{
		benchmark.FullSet: full, benchmark.HardSet: r.across(hard, r.Config.Hard.Most(len(full), has)), benchmark.ToxicSet: r.evenly(toxic, r.Config.Toxic.Size),
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

// lots draws entries, no more than most; 0 means all.
func (r *run) lots(what string, entries []entry, most int) []entry {
	if most == 0 || len(entries) <= most {
		return entries
	}
	return r.drawn(what, entries)[:most]
}

// drawn puts entries in a random order. Those of earlier builds come first, so that a set
// only grows.
func (r *run) drawn(what string, entries []entry) []entry {
	all := inLots(r.Config.Sampling, what, entries, func(e entry) string { return string(e.ID) })
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.Build, b.Build) })
	return all
}

// clusterJaccard is the similarity from which two prompts are in one cluster.
const clusterJaccard = 0.2

// clusters groups entries. A cluster has the rewrites of a seed, and those near one of them.
// It is named by the ID of its first seed.
func clusters(entries []entry) map[orbench.PromptID]orbench.PromptID {
	index, named := similar.NewIndex(clusterJaccard), []orbench.PromptID{}
	of := map[orbench.PromptID]orbench.PromptID{}
	for _, e := range entries {
		cluster := e.SeedID
		if n, _, near := index.Add(e.Text); near {
			cluster = named[n]
		} else {
			named = append(named, cluster)
		}
		of[e.ID] = cluster
	}
	return of
}

// across draws hard entries like lots, and across clusters: no cluster gives a second
// entry before each has given one.
func (r *run) across(entries []entry, most int) []entry {
	if r.Config.Wording < 2 || most == 0 || len(entries) <= most {
		return r.lots("hard", entries, most)
	}
	given, rank := map[orbench.PromptID]int{}, map[orbench.PromptID]int{}
	drawn := r.drawn("hard", entries)
	for _, e := range drawn {
		rank[e.ID] = given[r.clusters[e.ID]]
		given[r.clusters[e.ID]]++
	}
	slices.SortStableFunc(drawn, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Build, b.Build), cmp.Compare(rank[a.ID], rank[b.ID]))
	})
	return drawn[:most]
}

// evenly draws entries, no more than most, with categories as equal in size as possible.
// If a category has too few, the others share the difference.
func (r *run) evenly(entries []entry, most int) []entry {
	if most == 0 || len(entries) <= most {
		return entries
	}
	byCategory := map[orbench.Category][]entry{}
	for _, e := range entries {
		byCategory[e.Category] = append(byCategory[e.Category], e)
	}
	// The smallest categories come first, so that their shortfall is known before the
	// others are drawn. The order of the policy breaks ties.
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

// origins maps each prompt to its seed. A seed of a later round is a rewrite of an earlier
// one.
func (r *run) origins() benchmark.Origins {
	origins := benchmark.Origins{}
	for _, e := range r.entries {
		if e.SeedID != e.ID {
			origins[e.ID] = e.SeedID
		}
	}
	return origins
}

// pairs lists each family of seeds with safe rewrites: first the seeds that were
// rewritten, in their own order, then the safe prompts in the order of the lineage. A
// seed that was put to the vote and not called toxic is left out. So is a family without
// any toxic seed.
func (r *run) pairs() []Row {
	origins := r.origins()
	cleared, setOf := map[orbench.PromptID]bool{}, map[orbench.PromptID]string{}
	for _, e := range r.entries {
		cleared[e.ID] = cleared[e.ID] || e.Kind == benchmark.CheckedSeed && e.Label != orbench.Toxic
		if slices.Contains(e.Sets, benchmark.ToxicSet) {
			// The seed is only the last turn of this conversation, so it has another ID.
			setOf[e.Asked().ID] = string(benchmark.ToxicSet)
		}
	}
	safe := map[orbench.PromptID][]Row{}
	rewritten := map[orbench.PromptID]bool{}
	for _, e := range r.entries {
		if !slices.Contains(e.Sets, benchmark.FullSet) {
			continue
		}
		p := Row{Prompt: orbench.Prompt{ID: e.ID, Messages: e.Asked().Messages, Category: e.Category, Label: orbench.Safe, Pair: string(origins.Of(e.ID))}, Set: string(benchmark.FullSet)}
		if slices.Contains(e.Sets, benchmark.HardSet) {
			p.Set = string(benchmark.HardSet)
		}
		rewritten[e.SeedID] = true
		safe[origins.Of(e.ID)] = append(safe[origins.Of(e.ID)], p)
	}
	toxic := map[orbench.PromptID][]Row{}
	var order []orbench.PromptID
	for _, s := range r.seeds {
		if !rewritten[s.ID] || cleared[s.ID] {
			continue
		}
		p := Row{Prompt: orbench.NewPrompt(s.Text, s.Category, orbench.Toxic)}
		family := origins.Of(s.ID)
		p.Prompt.Pair, p.Set = string(family), cmp.Or(setOf[p.ID], "seed")
		if toxic[family] == nil {
			order = append(order, family)
		}
		toxic[family] = append(toxic[family], p)
	}
	var all []Row
	for _, family := range order {
		all = append(append(all, toxic[family]...), safe[family]...)
	}
	return all
}
