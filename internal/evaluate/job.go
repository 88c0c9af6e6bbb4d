package evaluate

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"

	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Job returns the run as a walk. The targets' requests are known from the
// prompts; those of judges and defenses depend on replies.
func (r *Run) Job() *job.Job {
	calls := r.Expected() + r.AnswersPerPrompt()*r.Prompts()*len(judge.ModelsOf(r.Judges...))
	j := &job.Job{Calls: calls, Items: r.items}
	if !r.Recorded {
		j.Fixed = r.known
		for _, t := range r.Targets {
			if t.Replayed() {
				continue
			}
			j.Interdependent = j.Interdependent || t.needsReplies()
			j.Models = append(j.Models, job.Asked{Ref: t.Ref(), Role: job.Target, Fixed: !t.needsReplies()})
			for _, ref := range t.defended().Models() {
				j.Models = append(j.Models, job.Asked{Ref: ref, Role: job.Guard})
			}
		}
	}
	for _, ref := range judge.ModelsOf(r.Judges...) {
		j.Models = append(j.Models, job.Asked{Ref: ref, Role: job.Judge})
	}
	j.Further = slices.ContainsFunc(j.Models, func(m job.Asked) bool { return !m.Fixed })
	j.SampleOf(r.Datasets, r.Limit, func(parts []*dataset.Dataset) *job.Job { return r.over(parts).Job() })
	if r.ends() {
		j.Rounds = r.rounds
	}
	return j
}

// known streams the requests of targets that depend on no reply. Each prompt
// goes to all of these targets before the next prompt, so they are equally far
// whenever the run is stopped.
func (r *Run) known(context.Context) iter.Seq2[model.Request, error] {
	return func(yield func(model.Request, error) bool) {
		for chunk, err := range r.chunks() {
			if err != nil {
				yield(model.Request{}, err)
				return
			}
			asked := slices.DeleteFunc(chunk, func(c targetChunk) bool { return c.target.needsReplies() || c.target.Replayed() })
			if len(asked) == 0 {
				continue
			}
			for i := range asked[0].prompts {
				for _, c := range asked {
					if !yield(c.target.Request(c.prompts[i]), nil) {
						return
					}
				}
			}
		}
	}
}

// items walks the run, one chunk of prompts at a time.
func (r *Run) items(ctx context.Context, m store.Reader, s job.Scope) iter.Seq2[job.Item, error] {
	return func(yield func(job.Item, error) bool) {
		r, err := r.within(ctx, m, s.Extent)
		if err != nil {
			yield(job.Item{}, err)
			return
		}
		if s.Remembered {
			r.listing(ctx, m, s, yield)
			return
		}
		for chunk, err := range r.chunks() {
			if err != nil {
				yield(job.Item{}, err)
				return
			}
			look, together := r.lacking, len(chunk)
			if s.Ahead {
				look, together = r.ahead, 1
			}
			for part := range slices.Chunk(chunk, together) {
				items, err := look(ctx, m, s, part)
				if err != nil {
					yield(job.Item{}, err)
					return
				}
				for _, item := range items {
					if !yield(item, nil) {
						return
					}
				}
			}
		}
	}
}

// listing is like items but includes the stored calls. They are looked up on
// all processors. Each chunk lists, prompt by prompt, the calls for the answer
// and for its judges.
func (r *Run) listing(ctx context.Context, m store.Reader, s job.Scope, yield func(job.Item, error) bool) {
	judges := Asking(r.Judges)
	list := func(ctx context.Context, chunk []targetChunk) (item job.Item, err error) {
		judged, err := r.judgeChunk(ctx, m, chunk, judges, s, s)
		for _, j := range judged {
			for i := range j.rows {
				item.Calls = append(append(item.Calls, j.ofTarget[i]...), j.ofJudges[i]...)
			}
		}
		return item, err
	}
	err := job.InOrder(ctx, min(runtime.GOMAXPROCS(0), 8), r.chunks(), list, func(item job.Item) error {
		if !yield(item, nil) {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		yield(job.Item{}, err)
	}
}

// errEnough ends a walk whose caller needs no more of it.
var errEnough = errors.New("no more calls are wanted")

// within returns the run over the prompts of an extent. A run that asks no
// target judges the prompts that were asked.
func (r *Run) within(ctx context.Context, m store.Reader, extent job.Extent) (*Run, error) {
	switch {
	case !r.ends():
		return r, nil
	case extent == job.AtLeast:
		return r.least(ctx, m)
	case extent == job.SoFar || r.Recorded:
		asked, _, err := r.asked(ctx, m)
		return asked, err
	}
	return r, nil
}

// lacking returns the missing calls of the targets that are asked step by step,
// and of the judges of existing answers, target by target.
func (r *Run) lacking(ctx context.Context, m store.Reader, s job.Scope, chunk []targetChunk) ([]job.Item, error) {
	ofTargets := s
	if r.Recorded {
		ofTargets.Met = nil
	}
	judged, err := r.judgeChunk(ctx, m, chunk, Asking(r.Judges), ofTargets, s)
	if err != nil {
		return nil, err
	}
	lists := make([][]job.Call, len(judged))
	for n, j := range judged {
		if r.Recorded || !j.target.needsReplies() {
			j.ofTarget = nil
		}
		lists[n] = slices.Concat(slices.Concat(j.ofTarget...), slices.Concat(j.ofJudges...))
	}
	return []job.Item{{Calls: slices.Collect(fill.Alternate(lists))}}, nil
}
