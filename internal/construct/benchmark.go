package construct

import (
	"cmp"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/audit"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/similar"
	"github.com/orbench/orbench/stats"
)

// Benchmark is the result of a build. Close it when done.
type Benchmark struct {
	// Manifest is complete except for its files and the diversity of the sets.
	benchmark.Manifest
	Seeds []benchmark.Seed
	// Sets has the prompts of each set, in the order of the lineage.
	Sets map[benchmark.SetName][]Row
	// Pairs has the safe prompts together with the seeds that they stem from, family by
	// family.
	Pairs []Row
	// Dir is the folder of the benchmark. It is empty if it was not written.
	Dir string
	// Audit compares the moderators with people; nil if no prompt was drawn for that.
	Audit *audit.Report

	// cost is the cost of all calls. It is empty if the benchmark was not written.
	cost    string
	subject folder.Subject
	lineage *rowFile
	// wanted is the number of rewrites that this build asked for, and made that of those
	// that are safe.
	wanted, made int
	// setsOf has the sets of each row of the lineage, by its number.
	setsOf map[int][]benchmark.SetName
}

// Row is a prompt of a set, or of a pair: a seed, or a safe prompt that stems from it.
type Row struct {
	orbench.Prompt
	// Votes has each moderator's vote, and RefusedBy the families with a selector that
	// refused. SeedID is the first seed that the prompt goes back to, and Cluster names the
	// prompts that are like it. A prompt of a pair has none of these.
	Votes, RefusedBy, SeedID, Cluster string
	// Set is, of a prompt of a pair, the smallest set that has it, or "seed" for a seed in
	// none. Its Prompt.Pair is the ID of the first seed of the family.
	Set string
}

// benchmark chooses the sets at the end of a run.
func (r *run) benchmark() *Benchmark {
	r.choose()
	b := &Benchmark{
		Manifest: benchmark.Manifest{
			Format: benchmark.Format, Name: r.Config.Name, Version: r.Config.Version, Builds: r.number(), Config: r.Config,
			Funnel: r.funnel, Exhausted: r.exhausted, Batches: r.batches,
		},
		wanted: r.wanted,
		Seeds:  r.seeds, Sets: map[benchmark.SetName][]Row{}, Pairs: r.pairs(),
		subject: r.Subject(), lineage: r.rowFile, setsOf: map[int][]benchmark.SetName{},
	}
	if r.found != nil {
		b.Manifest.Search = r.found.Search
	}
	votes, seeds := make([][]moderate.Vote, 0, len(r.entries)), make([]string, 0, len(r.entries))
	origins := r.origins()
	for _, e := range r.entries {
		var of []moderate.Vote
		var said []string
		for _, v := range e.Votes {
			of, said = append(of, v.Vote), append(said, v.Moderator+": "+string(v.Label))
		}
		votes, seeds = append(votes, of), append(seeds, string(cmp.Or(e.SeedID, e.ID)))
		b.setsOf[e.row] = e.Sets
		for _, name := range e.Sets {
			p := e.Asked()
			p.Category, p.Label = e.Category, name.Label()
			b.Sets[name] = append(b.Sets[name], Row{
				Prompt: p, Votes: strings.Join(said, "; "), RefusedBy: strings.Join(e.RefusedBy(), "; "), SeedID: string(origins.Of(e.ID)), Cluster: string(r.clusters[e.ID]),
			})
		}
		if e.Label == orbench.Safe && e.Kind == benchmark.Rewritten && e.Build == r.number() {
			b.made++
		}
	}
	b.Quality = benchmark.Quality{Agreement: moderate.Agree(votes, seeds)}
	voted := r.funnel.Moderation.Voted
	if decided := voted[orbench.Safe] + voted[orbench.Toxic]; decided > 0 {
		toxic := float64(voted[orbench.Toxic]) / float64(decided)
		e, _ := stats.Residual(4, 25, 72, 75, toxic, 0.95)
		b.Quality.Residual = benchmark.Residual{Prevalence: toxic, Share: e.Value, Low: e.Lo, High: e.Hi}
	}
	if full := b.Sets[benchmark.FullSet]; len(full) > 0 {
		b.Quality.Forms = map[generator.Form]int{}
		for _, p := range full {
			b.Quality.Forms[generator.FormOf(p.Text())]++
		}
	}
	for _, g := range r.gave {
		b.Generators = append(b.Generators, *g)
	}
	slices.SortFunc(b.Generators, func(x, y benchmark.Generator) int {
		return cmp.Or(x.Role.Compare(y.Role), strings.Compare(x.Model, y.Model))
	})
	for _, s := range r.spent {
		slices.Sort(s.Versions)
		b.Simulated = b.Simulated || slices.ContainsFunc(s.Versions, func(version string) bool { return model.Response{Model: version}.Simulated() })
		b.Models = append(b.Models, *s)
	}
	slices.SortFunc(b.Models, func(x, y benchmark.Spent) int {
		return cmp.Or(x.Role.Compare(y.Role), cmp.Compare(x.Provider, y.Provider), cmp.Compare(x.Model, y.Model))
	})
	slices.SortFunc(b.Exhausted, func(x, y benchmark.Exhausted) int { return cmp.Compare(x.Category, y.Category) })
	return b
}

// Close removes what the benchmark keeps on disk.
func (b *Benchmark) Close() error { return b.lineage.Close() }

// diversity measures each set, as a whole and by category.
func (b *Benchmark) diversity() map[benchmark.SetName]map[orbench.Category]similar.Diversity {
	all := map[benchmark.SetName]map[orbench.Category]similar.Diversity{}
	for _, name := range benchmark.SetNames {
		texts := map[orbench.Category][]string{}
		for _, p := range b.Sets[name] {
			texts[""] = append(texts[""], p.Text())
			texts[p.Category] = append(texts[p.Category], p.Text())
		}
		all[name] = map[orbench.Category]similar.Diversity{}
		for c, of := range texts {
			all[name][c], _ = similar.DiversityOf(of, dataset.NearThreshold, uint64(b.Config.Sampling))
		}
	}
	return all
}
