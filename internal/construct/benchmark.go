package construct

import (
	"cmp"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/benchmark"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/moderate"
)

// Benchmark is what a build made. Close it when done.
type Benchmark struct {
	Config benchmark.Config
	// Builds is 0 for a new benchmark and n after the n-th refresh.
	Builds int
	Funnel benchmark.Funnel
	// Spent lists the models in the order of Roles, then by name.
	Spent     []benchmark.Spent
	Exhausted []benchmark.Exhausted
	// Batches is the number of calls for seeds so far, by category.
	Batches map[orbench.Category]int
	Seeds   []benchmark.Seed
	// Sets has the prompts of each set, in the order of the lineage.
	Sets map[benchmark.SetName][]orbench.Prompt
	// Pairs has the safe prompts beside the seeds that they stem from, family by family.
	Pairs []Pair
	// Agreement is how far the moderators agree on the prompts that were put to
	// the vote.
	Agreement moderate.Agreement
	// Steering says how the refusal rate climbed; nil without a target.
	Steering *benchmark.Steering

	subject folder.Subject
	lineage *spool
	// setsOf has the sets of each row of the lineage, by its number.
	setsOf map[int][]benchmark.SetName
}

// benchmark chooses the sets of a run that is over.
func (r *run) benchmark() *Benchmark {
	rows := r.choose()
	b := &Benchmark{
		Config: r.Config, Builds: r.number(), Funnel: r.funnel, Exhausted: r.exhausted, Batches: r.batches, Seeds: r.seeds,
		Sets: map[benchmark.SetName][]orbench.Prompt{}, Steering: r.steering,
		subject: r.Subject(), lineage: r.spool, setsOf: rows,
	}
	votes, seeds := make([][]moderate.Vote, 0, len(r.entries)), make([]string, 0, len(r.entries))
	for _, e := range r.entries {
		votes, seeds = append(votes, e.votes), append(seeds, string(cmp.Or(e.seed, e.id)))
		for _, name := range rows[e.row] {
			b.Sets[name] = append(b.Sets[name], orbench.Prompt{ID: orbench.PromptIDOf(e.messages), Messages: e.messages, Category: e.category, Label: name.Label()})
		}
	}
	b.Agreement = moderate.Agree(votes, seeds)
	b.Pairs = r.pairs(rows)
	for _, s := range r.spent {
		slices.Sort(s.Versions)
		b.Spent = append(b.Spent, *s)
	}
	slices.SortFunc(b.Spent, func(x, y benchmark.Spent) int {
		return cmp.Or(
			cmp.Compare(slices.Index(benchmark.Roles, x.Role), slices.Index(benchmark.Roles, y.Role)),
			cmp.Compare(x.Provider, y.Provider), cmp.Compare(x.Model, y.Model),
		)
	})
	slices.SortFunc(b.Exhausted, func(x, y benchmark.Exhausted) int { return cmp.Compare(x.Category, y.Category) })
	return b
}

// Close removes what the benchmark keeps outside the memory.
func (b *Benchmark) Close() error { return b.lineage.Close() }

// Simulated reports whether any model of the build was simulated, behind a server
// or in the process.
func (b *Benchmark) Simulated() bool {
	return slices.ContainsFunc(b.Spent, func(s benchmark.Spent) bool {
		return slices.ContainsFunc(s.Versions, func(version string) bool {
			return model.Response{Model: version}.Simulated()
		})
	})
}
