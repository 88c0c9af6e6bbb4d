package construct

import (
	"cmp"
	"iter"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/moderate"
)

// Benchmark is what a build made. Close it when done.
type Benchmark struct {
	Config Config
	// Builds is 0 for a new benchmark and n after the n-th refresh.
	Builds int
	Funnel Funnel
	// Spent lists the models in the order of Roles, then by name.
	Spent   []Spent
	WornOut []WornOut
	// Batches is the number of calls for seeds so far, by category.
	Batches map[orbench.Category]int
	Seeds   []Seed
	// Sets has the prompts of each set, in the order of the lineage.
	Sets map[SetName][]orbench.Prompt
	// Agreement is how far the moderators agree on the prompts that were put to
	// the vote.
	Agreement moderate.Agreement
	// Steering says how the refusal rate climbed; nil without a target.
	Steering *Steering

	lines func() iter.Seq2[[]byte, error]
	close func() error
}

// benchmark chooses the sets of a run that is over.
func (r *run) benchmark() *Benchmark {
	rows := r.choose()
	b := &Benchmark{
		Config: r.Config, Builds: r.number(), Funnel: r.funnel, WornOut: r.wornOut, Batches: r.batches, Seeds: r.seeds,
		Sets: map[SetName][]orbench.Prompt{}, Steering: r.steering,
		lines: func() iter.Seq2[[]byte, error] { return r.spool.lines(rows) }, close: r.spool.Close,
	}
	votes := make([][]moderate.Vote, 0, len(r.entries))
	for _, e := range r.entries {
		votes = append(votes, e.votes)
		for _, name := range rows[e.row] {
			label := orbench.Safe
			if name == ToxicSet {
				label = orbench.Toxic
			}
			b.Sets[name] = append(b.Sets[name], orbench.NewPrompt(e.text, e.category, label))
		}
	}
	b.Agreement = moderate.Agree(votes)
	for _, s := range r.spent {
		slices.Sort(s.Versions)
		b.Spent = append(b.Spent, *s)
	}
	slices.SortFunc(b.Spent, func(x, y Spent) int {
		return cmp.Or(
			cmp.Compare(slices.Index(Roles, x.Role), slices.Index(Roles, y.Role)),
			cmp.Compare(x.Provider, y.Provider), cmp.Compare(x.Model, y.Model),
		)
	})
	slices.SortFunc(b.WornOut, func(x, y WornOut) int { return cmp.Compare(x.Category, y.Category) })
	return b
}

// Rows streams the lineage.
func (b *Benchmark) Rows() iter.Seq2[Record, error] { return records(LineageFile, b.lines()) }

// Close removes what the benchmark keeps outside the memory.
func (b *Benchmark) Close() error { return b.close() }

// Simulated reports whether any model of the build was simulated, behind a server
// or in the process.
func (b *Benchmark) Simulated() bool {
	return slices.ContainsFunc(b.Spent, func(s Spent) bool {
		return slices.ContainsFunc(s.Versions, func(version string) bool {
			return model.Response{Model: version}.Simulated()
		})
	})
}
