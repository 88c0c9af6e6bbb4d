package construct

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// Job is the build as a walk. It builds with the replies in the store and counts missing
// ones as failed. All calls are in a single item.
func (b *Builder) Job() *job.Job {
	j := &job.Job{Interdependent: true, Further: true}
	for _, p := range b.Plan() {
		asked := job.Asked{Ref: p.ref, Role: job.Role(p.Role)}
		if j.Calls += p.Calls; !slices.Contains(j.Models, asked) {
			j.Models = append(j.Models, asked)
		}
	}
	j.Sample = func(int) (*job.Job, float64, error) { return j, 1, nil }
	j.Items = func(ctx context.Context, m store.Reader, s job.Scope) iter.Seq2[job.Item, error] {
		return func(yield func(job.Item, error) bool) {
			item, made, err := b.walk(ctx, m, s)
			if made != nil {
				err = errors.Join(err, made.Close())
			}
			yield(item, err)
		}
	}
	return j
}

// Remembered builds with the replies in a store and makes no calls. Missing replies count
// as failed.
func (b *Builder) Remembered(ctx context.Context, m store.Reader) (*Benchmark, error) {
	_, made, err := b.walk(ctx, m, job.Scope{})
	return made, err
}

// walk builds with the replies in a store, and lists the calls of the walk's scope. The
// benchmark is nil if the store has too little for one.
func (b *Builder) walk(ctx context.Context, m store.Reader, s job.Scope) (item job.Item, made *Benchmark, err error) {
	var mu sync.Mutex
	roles, lacking := map[model.Hash]job.Role{}, false
	known := *b
	known.Observe, known.Width = nil, max(1, b.Width)
	known.asking = func(role benchmark.Role, r model.Request) {
		mu.Lock()
		defer mu.Unlock()
		roles[r.Hash()] = job.Role(role)
	}
	known.Ask = func(ctx context.Context, r model.Request) (response model.Response, ok bool, err error) {
		h := r.Hash()
		if m != nil {
			found, err := m.Get(ctx, []model.Hash{h})
			if err != nil {
				return response, false, err
			}
			response, ok = found[h]
		}
		mu.Lock()
		defer mu.Unlock()
		lacking = lacking || !ok
		if ok && s.Met != nil {
			s.Met(b.Config.Name, h, job.RefOf(r), response)
		}
		if !ok || s.Remembered {
			item.Calls = append(item.Calls, job.Call{
				Request: r, Hash: h, Role: roles[h], Dataset: b.Config.Name, Target: b.Config.Name, Judge: string(roles[h]), Remembered: ok,
			})
		}
		return response, ok, nil
	}
	made, err = known.Build(ctx)
	if lacking && errors.Is(err, orbench.ErrInput) {
		err = nil
	}
	// Prompts are worked on side by side, so the order of calls must be restored.
	slices.SortFunc(item.Calls, func(x, y job.Call) int {
		return cmp.Or(cmp.Compare(x.Role, y.Role), bytes.Compare(x.Hash[:], y.Hash[:]))
	})
	return item, made, err
}
