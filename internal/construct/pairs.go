package construct

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
)

// Pair is a prompt of a pair: a seed, or a safe prompt that stems from it. Its
// Prompt.Pair is the ID of the first seed of the family.
type Pair struct {
	orbench.Prompt
	// Set is the smallest set that has the prompt, or "seed" for a seed in none.
	Set string
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
func (r *run) pairs() []Pair {
	origins := r.origins()
	cleared, setOf := map[orbench.PromptID]bool{}, map[orbench.PromptID]string{}
	for _, e := range r.entries {
		cleared[e.ID] = cleared[e.ID] || e.Kind == benchmark.CheckedSeed && e.Label != orbench.Toxic
		if slices.Contains(e.Sets, benchmark.ToxicSet) {
			// The seed is only the last turn of this conversation, so it has another ID.
			setOf[e.Asked().ID] = string(benchmark.ToxicSet)
		}
	}
	safe := map[orbench.PromptID][]Pair{}
	rewritten := map[orbench.PromptID]bool{}
	for _, e := range r.entries {
		if !slices.Contains(e.Sets, benchmark.FullSet) {
			continue
		}
		p := Pair{orbench.Prompt{ID: e.ID, Messages: e.Asked().Messages, Category: e.Category, Label: orbench.Safe}, string(benchmark.FullSet)}
		p.Prompt.Pair = string(origins.Of(e.ID))
		if slices.Contains(e.Sets, benchmark.HardSet) {
			p.Set = string(benchmark.HardSet)
		}
		rewritten[e.SeedID] = true
		safe[origins.Of(e.ID)] = append(safe[origins.Of(e.ID)], p)
	}
	toxic := map[orbench.PromptID][]Pair{}
	var order []orbench.PromptID
	for _, s := range r.seeds {
		if !rewritten[s.ID] || cleared[s.ID] {
			continue
		}
		p := Pair{orbench.NewPrompt(s.Text, s.Category, orbench.Toxic), "seed"}
		family := origins.Of(s.ID)
		p.Prompt.Pair = string(family)
		if set := setOf[p.ID]; set != "" {
			p.Set = set
		}
		if toxic[family] == nil {
			order = append(order, family)
		}
		toxic[family] = append(toxic[family], p)
	}
	var all []Pair
	for _, family := range order {
		all = append(append(all, toxic[family]...), safe[family]...)
	}
	return all
}
