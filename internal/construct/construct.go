package construct

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/similar"
)

// Builder builds a benchmark. Set its fields before Build and do not change them later.
type Builder struct {
	Config benchmark.BuildConfig
	// Refs maps the model names of the configuration to models.
	Refs map[string]model.Ref
	// Guards are the moderators among them that are guards.
	Guards map[string]*guard.Guard
	// Structured reports whether a provider accepts a JSON Schema for its output. Nil
	// means that none does.
	Structured func(provider string) bool
	// StructuredLists reports the same for lists of seeds and rewrites.
	StructuredLists func(provider string) bool
	// Judge decides whether a selector refused.
	Judge judge.Judge
	// Ask gives the reply to a request, either remembered or from a new call. ok is false
	// if the call failed for good.
	Ask func(context.Context, model.Request) (r model.Response, ok bool, err error)
	// asking is called with each request and its role, by many at once; nil for nobody.
	asking func(benchmark.Role, model.Request)
	// Width is the number of prompts to work on at once, at least 1.
	Width int
	// Observe is called now and then with the funnel so far. It may be nil.
	Observe func(benchmark.Funnel)
	// Own are the user's own seeds, by category; see OpenSeeds.
	Own map[orbench.Category][]benchmark.Seed
	// Base is the benchmark that this build adds to, nil for a new one.
	Base *benchmark.Folder
	// Search is nil for a build that does not search for what targets refuse.
	Search *Search
}

// Subject describes a benchmark's folder that lacks the results of failed calls.
func (b *Builder) Subject() folder.Subject {
	var base map[string]benchmark.File
	if b.Base != nil {
		base = b.Base.Manifest.Files
	}
	return folder.NewSubject("unfinished benchmark "+b.Config.Name, b.Config, b.Refs, base, b.Search)
}

// run is a build in progress.
type run struct {
	*Builder
	policy     orbench.Policy
	moderators []moderate.Moderator
	rowFile    *rowFile

	// known finds near duplicates among the rewrites kept so far. kept maps its numbers
	// to prompt IDs.
	known *similar.Index
	kept  []orbench.PromptID
	ids   map[orbench.PromptID]bool
	// made counts openings, forms and topics of the kept rewrites of each category.
	made map[orbench.Category]*made
	// wanted is the number of rewrites that were asked for, without those of seeds that
	// were fed back.
	wanted int
	// entries are the rows put to the vote, in the order of the lineage.
	entries []entry
	seeds   []benchmark.Seed
	// safe are the safe prompts of the base, and seedTexts the texts of the seeds, in a
	// search.
	safe      []*benchmark.Record
	seedTexts map[orbench.PromptID]string
	// clusters maps prompts to their clusters, when the sets are chosen.
	clusters map[orbench.PromptID]orbench.PromptID
	// confirmed are the rewrites of the current round that stayed toxic.
	confirmed []benchmark.Seed
	// exhausted lists the categories that gave no more new seeds.
	exhausted []benchmark.Exhausted

	// mu guards the counts that the stages share, since the stages run side by side.
	mu      sync.Mutex
	funnel  benchmark.Funnel
	spent   map[asked]*benchmark.Spent
	gave    map[asked]*benchmark.Generator
	batches map[orbench.Category]int
	// own are the user's own seeds that no round has used yet.
	own map[orbench.Category][]benchmark.Seed
	// calls counts all calls, remembered ones too.
	calls int

	// found and generation are for a search: its prompts, and the number of the current
	// generation.
	found      *population
	generation int
}

// entry is a row that was put to the vote, without the explanations of votes.
type entry struct {
	*benchmark.Record
	row int // of the lineage
}

// Build makes the benchmark. It stays in memory, except for the lineage, which is written
// to a temporary file; Benchmark.Close removes that file. Errors come from Ask or from
// the file system.
func (b *Builder) Build(ctx context.Context) (*Benchmark, error) {
	r := &run{
		Builder: b, policy: b.Config.Definitions(),
		known: similar.NewIndex(b.Config.NearDuplicates), ids: map[orbench.PromptID]bool{},
		funnel: benchmark.NewFunnel(), spent: map[asked]*benchmark.Spent{}, gave: map[asked]*benchmark.Generator{}, made: map[orbench.Category]*made{}, batches: map[orbench.Category]int{}, exhausted: []benchmark.Exhausted{},
		own: b.Own, seedTexts: map[orbench.PromptID]string{},
	}
	for _, m := range b.Config.Moderation.Moderators {
		ref := b.Refs[m.Model]
		r.moderators = append(r.moderators, moderate.Moderator{
			Name: m.Model, Ref: ref, Weight: m.Weight, MaxTokens: b.Config.Moderation.MaxTokens,
			Structured: b.Structured != nil && b.Structured(ref.Provider), Guard: b.Guards[m.Model],
		})
	}
	var err error
	if r.rowFile, err = newRowFile(); err != nil {
		return nil, err
	}
	if err := r.all(ctx); err != nil {
		return nil, errors.Join(err, r.rowFile.Close())
	}
	return r.benchmark(), nil
}

// all runs all rounds.
func (r *run) all(ctx context.Context) error {
	if err := r.inherit(); err != nil {
		return err
	}
	if r.Search != nil {
		return r.search(ctx)
	}
	if err := r.round(ctx, r.gatherAll(ctx)); err != nil {
		return err
	}
	for n := range r.Config.Feedback.Rounds {
		fed := r.fedBack(n + 1)
		if len(fed) == 0 {
			break
		}
		if err := r.round(ctx, job.Each(fed)); err != nil {
			return err
		}
	}
	return r.checkSeeds(ctx)
}

// round takes seeds through all stages. The stages stream into each other: the first
// rewrites reach the selectors while the last seeds are still being made.
func (r *run) round(ctx context.Context, seeds iter.Seq2[benchmark.Seed, error]) error {
	r.confirmed = nil
	stops := map[orbench.Category]*stops{}
	for _, c := range r.Config.Policy {
		stops[c.Category] = newStops(r.madeOf(c.Category))
	}
	numbered := func(yield func(numberedSeed, error) bool) {
		for s, err := range seeds {
			n := numberedSeed{Seed: s}
			if err == nil {
				n.stops = stops[s.Category]
				n.number = n.stops.seeds
				n.stops.seeds++
			}
			if !yield(n, err) {
				return
			}
		}
	}
	return settleAll(ctx, r, numbered, func(ctx context.Context, s numberedSeed) ([]*benchmark.Record, error) {
		var made generator.Made
		if r.Config.Wording > 1 {
			var err error
			if made, err = s.stops.before(ctx, s.number); err != nil {
				return nil, err
			}
		}
		return r.rewrite(ctx, s.Seed, made)
	}, func(s numberedSeed, _ []*benchmark.Record) { s.stops.done(s.number) })
}

// settleAll makes prompts of items, such as the rewrites of a seed, and takes them through
// the other stages. done is called in order, when the duplicates of an item are known.
func settleAll[Item any](ctx context.Context, r *run, items iter.Seq2[Item, error], make func(context.Context, Item) ([]*benchmark.Record, error), done func(Item, []*benchmark.Record)) error {
	type made struct {
		item    Item
		records []*benchmark.Record
	}
	distinct := streamed(func(use func(*benchmark.Record) error) error {
		return job.InOrder(ctx, r.Width, items, func(ctx context.Context, item Item) (made, error) {
			records, err := make(ctx, item)
			return made{item, records}, err
		}, func(m made) error {
			for _, record := range m.records {
				r.dropDuplicate(record)
				if err := use(record); err != nil {
					return err
				}
			}
			done(m.item, m.records)
			return nil
		})
	})
	err := job.InOrder(ctx, r.Width, distinct, func(ctx context.Context, record *benchmark.Record) (*benchmark.Record, error) {
		return record, r.finish(ctx, record)
	}, r.keep)
	return cmp.Or(context.Cause(ctx), err)
}

// dropDuplicate marks a rewrite that repeats an earlier one. In a build of conversations
// it ignores the turns before the rewrite.
func (r *run) dropDuplicate(record *benchmark.Record) {
	if record.Dropped != benchmark.NotDropped {
		return
	}
	if r.ids[record.ID] {
		record.Dropped, record.Cluster, record.Similarity = benchmark.Duplicate, record.ID, 1
		return
	}
	made := r.madeOf(record.Category)
	if made.common(record.Text) {
		record.Dropped = benchmark.CommonOpening
		return
	}
	if r.Config.Wording > 1 && made.commonForm(record.Text) {
		record.Dropped = benchmark.CommonForm
		return
	}
	n, similarity, duplicate := r.known.Add(record.Text)
	if duplicate {
		record.Dropped, record.Cluster, record.Similarity = benchmark.NearDuplicate, r.kept[n], similarity
		return
	}
	made.add(record.Text)
	if r.found != nil {
		r.found.measure(record)
	}
	r.ids[record.ID] = true
	r.kept = append(r.kept, record.ID)
	record.Cluster = record.ID
}

// keep writes a complete row to the lineage and records what the sets need.
func (r *run) keep(record *benchmark.Record) error {
	if r.found != nil {
		r.found.note(record)
	}
	row, err := r.rowFile.add(record)
	if err != nil {
		return err
	}
	r.count(func(f *benchmark.Funnel) { f.Add(record) })
	r.noteRecord(record)
	if record.Dropped != benchmark.NotDropped {
		return nil
	}
	r.enter(record, row)
	if record.Kind == benchmark.Rewritten && record.Label == orbench.Toxic && (record.SecondChance == nil || record.SecondChance.Confirmed) {
		r.confirmed = append(r.confirmed, benchmark.Seed{
			ID: record.ID, Text: record.Text, Category: record.Category,
			Round: record.Round + 1, Generator: record.Rewriter, Call: record.Call,
		})
	}
	return nil
}

// fedBack are the seeds of the next round: the rewrites that stayed toxic in this one, up
// to the configured number for each category.
func (r *run) fedBack(round int) (seeds []benchmark.Seed) {
	taken := map[orbench.Category]int{}
	for _, s := range r.confirmed {
		if most := r.Config.Feedback.PerCategory; most > 0 && taken[s.Category] == most {
			continue
		}
		taken[s.Category]++
		s.Round = round
		seeds = append(seeds, s)
	}
	r.seeds = append(r.seeds, seeds...)
	r.count(func(f *benchmark.Funnel) { f.Seeds.Fed += len(seeds) })
	return seeds
}

// count changes the funnel under the lock.
func (r *run) count(change func(*benchmark.Funnel)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.funnel)
	if r.Observe != nil {
		r.Observe(r.funnel)
	}
}
