package construct

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/similar"
)

// gatherAll makes new seeds for all categories at once and streams them in the order of the
// policy.
func (r *run) gatherAll(ctx context.Context) iter.Seq2[benchmark.Seed, error] {
	return streamed(func(use func(benchmark.Seed) error) error {
		earlier, own := slices.Clone(r.seeds), r.own
		r.own = nil
		for _, c := range r.Config.Policy {
			n := r.Config.Wanted(c)
			if len(r.Config.Seeds.Generators) == 0 {
				n = len(own[c.Category])
			}
			r.wanted += n * r.Config.Rewrites.PerSeed
		}
		return job.InOrder(ctx, len(r.Config.Policy), job.Each(r.Config.Policy), func(ctx context.Context, c benchmark.Category) ([]benchmark.Seed, error) {
			return r.gather(ctx, c, earlier, own[c.Category])
		}, func(seeds []benchmark.Seed) error {
			for _, s := range seeds {
				if err := use(s); err != nil {
					return err
				}
				r.seeds = append(r.seeds, s)
			}
			return nil
		})
	})
}

// yieldCalls is the number of calls over which the yield of new seeds is measured.
const yieldCalls = 10

// gather takes all distinct existing seeds of a category. Then it asks for batches until
// it has the wanted number of new ones, or until batches give hardly any. The choice of
// batches depends on the replies alone.
func (r *run) gather(ctx context.Context, c benchmark.Category, earlier, own []benchmark.Seed) (seeds []benchmark.Seed, err error) {
	var (
		wanted = r.Config.Wanted(c)
		size   = r.Config.Seeds.Batch
		known  = similar.NewIndex(r.Config.NearDuplicates)
		ids    = map[orbench.PromptID]bool{}
		// fresh is the number of new seeds from each call so far.
		fresh []int
	)
	for _, s := range earlier {
		if s.Category == c.Category {
			known.Keep(s.Text)
			ids[s.ID] = true
		}
	}
	for _, s := range own {
		r.count(func(f *benchmark.Funnel) { f.Seeds.FromFile++ })
		if r.admitSeed(s, known, ids, false) {
			seeds = append(seeds, s)
		}
	}
	if len(r.Config.Seeds.Generators) == 0 {
		return seeds, nil
	}
	// The first batch that has not been requested yet.
	r.mu.Lock()
	batch := r.batches[c.Category]
	r.mu.Unlock()
	made := newMade()
	for _, s := range seeds {
		made.add(s.Text)
	}
	for len(seeds) < wanted && !r.isExhausted(fresh) {
		// Make at most as many calls as the yield so far suggests; the next wave requests
		// what is still missing.
		calls := int(math.Ceil(float64(wanted-len(seeds)) / (float64(size) * yieldOf(fresh, size))))
		if left := yieldCalls - len(fresh); left > 0 {
			calls = min(calls, max(left, int(math.Ceil(float64(wanted-len(seeds))/float64(size)))))
		}
		// A batch is shown what those before the last stop made.
		if r.Config.Wording > 1 {
			if next, _ := slices.BinarySearch(stopsAt, len(fresh)+1); next < len(stopsAt) {
				calls = min(calls, stopsAt[next]-len(fresh))
			}
		}
		shown := made.shown()
		wave := make([]int, calls)
		for i := range wave {
			wave[i] = batch + i
		}
		err := job.InOrder(ctx, calls, job.Each(wave), func(ctx context.Context, n int) ([]benchmark.Seed, error) {
			return r.seedBatch(ctx, c, n, shown)
		}, func(batch []benchmark.Seed) error {
			n := 0
			for _, s := range batch {
				if r.admitSeed(s, known, ids, len(seeds) == wanted) {
					seeds = append(seeds, s)
					made.add(s.Text)
					n++
				}
			}
			fresh = append(fresh, n)
			return nil
		})
		if err != nil {
			return nil, err
		}
		batch += calls
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches[c.Category] = batch
	if len(seeds) < wanted {
		r.exhausted = append(r.exhausted, benchmark.Exhausted{Category: c.Category, Kept: len(seeds), Wanted: wanted})
	}
	return seeds, nil
}

// yieldOf is the share of new seeds among those requested, over all calls. It is at least
// a twentieth, so that a poor start does not lead to thousands of calls at once.
func yieldOf(fresh []int, size int) float64 {
	if len(fresh) == 0 {
		return 1
	}
	return max(float64(sum(fresh))/float64(len(fresh)*size), 0.05)
}

func sum(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// isExhausted reports whether the last calls gave too few new seeds.
func (r *run) isExhausted(fresh []int) bool {
	if len(fresh) < yieldCalls {
		return false
	}
	n := sum(fresh[len(fresh)-yieldCalls:])
	return float64(n) < r.Config.Seeds.MinYield*float64(yieldCalls*r.Config.Seeds.Batch) || n == 0
}

// admitSeed counts an item of a reply and reports whether it is a new seed.
func (r *run) admitSeed(s benchmark.Seed, known *similar.Index, ids map[orbench.PromptID]bool, enough bool) (admitted bool) {
	r.count(func(f *benchmark.Funnel) {
		f.Seeds.Items++
		if enough {
			f.Seeds.Surplus++
		} else if ids[s.ID] {
			f.Seeds.Duplicates++
		} else if _, _, near := known.Add(s.Text); near {
			f.Seeds.NearDuplicates++
		} else {
			f.Seeds.Kept++
			ids[s.ID], admitted = true, true
		}
	})
	if s.File == "" {
		r.noteUse(benchmark.GeneratorRole, s.Generator, admitted || enough)
	}
	return admitted
}

// seedBatch asks for a batch of seeds. The generators take turns.
func (r *run) seedBatch(ctx context.Context, c benchmark.Category, n int, made generator.Made) (seeds []benchmark.Seed, err error) {
	names := r.Config.Seeds.Generators
	name := names[n%len(names)]
	ref := r.Refs[name]
	params := r.listParams(r.Config.Seeds.Temperature, r.Config.Seeds.MaxTokens, ref)
	params.Varied = r.varied(made, "", 0)
	request := generator.SeedRequest(ref, params,
		orbench.Definition{Category: c.Category, Text: c.Text}, r.Config.Seeds.Batch, n/len(names))
	response, ok, err := r.ask(ctx, benchmark.GeneratorRole, request)
	if err != nil {
		return nil, err
	}
	var items []generator.Item
	if ok {
		items = generator.Read(response, generator.Question{Request: request, About: c.Text, Category: string(c.Category)})
		r.noteItems(benchmark.GeneratorRole, name, r.Config.Seeds.Batch, items)
	}
	foreign := 0
	for _, item := range items {
		if item.Foreign() {
			foreign++
			continue
		}
		seeds = append(seeds, benchmark.Seed{
			ID: orbench.NewPrompt(item.Text, "", "").ID, Text: item.Text, Category: c.Category, Generator: name, Call: request.Hash().String(),
		})
	}
	r.count(func(f *benchmark.Funnel) {
		s := &f.Seeds
		s.Calls++
		s.Items, s.Foreign = s.Items+foreign, s.Foreign+foreign
		switch {
		case !ok:
			s.FailedCalls++
		case len(items) == 0:
			s.Unreadable++
		default:
			s.Read++
		}
	})
	return seeds, nil
}

// listParams are the parameters of a call for a list.
func (r *run) listParams(temperature float64, maxTokens int, ref model.Ref) generator.Params {
	return generator.Params{
		Temperature: &temperature, MaxTokens: maxTokens,
		Structured: r.StructuredLists != nil && r.StructuredLists(ref.Provider),
	}
}
