package trigger

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// run is a run of the study's targets and judge on the study's own prompts.
func (s *Study) run() *evaluate.Run {
	return &evaluate.Run{Targets: s.Targets, Judges: []judge.Judge{s.Judge}}
}

// Job is the study as a walk. Most gives the approximate number of calls in its plan.
func (s *Study) Job() *job.Job {
	role := s.roles()
	j := &job.Job{Interdependent: true, Further: true, RoleOf: role}
	j.Items = func(ctx context.Context, m store.Reader, scope job.Scope) iter.Seq2[job.Item, error] {
		return s.items(ctx, m, scope, role)
	}
	var judges, others []job.Asked
	for _, asked := range s.run().Job().Models {
		asked.Fixed = false
		switch wordings := (job.Asked{Ref: asked.Ref, Role: job.Wordings}); {
		case asked.Role.Judges():
			judges = append(judges, asked)
		case asked.Role != job.Target:
			// A model in front of a target is planned with the target.
			others = append(others, job.Asked{Ref: asked.Ref})
		case len(j.Models) == 0:
			j.Models = append(j.Models, asked, wordings)
		default:
			others = append(others, asked, wordings)
		}
	}
	j.Models = slices.Concat(j.Models, judges, others)
	j.SampleOf(s.Datasets, s.Limit, func(parts []*dataset.Dataset) *job.Job {
		part := *s
		part.Datasets, part.Limit = parts, 0
		return part.Job()
	})
	return j
}

// items walks the groups. Groups of different targets on the same prompts are adjacent.
func (s *Study) items(ctx context.Context, m store.Reader, scope job.Scope, role func(model.Request) job.Role) iter.Seq2[job.Item, error] {
	return func(yield func(job.Item, error) bool) {
		groups, err := s.groups()
		if err != nil {
			yield(job.Item{}, err)
			return
		}
		counted := map[model.Hash]bool{}
		for side := range slices.Chunk(groups, len(s.Targets)) {
			items := []job.Item{{}}
			lacking := make([][]job.Call, len(side))
			for i, g := range side {
				if lacking[i], err = s.advance(ctx, m, scope, g); err != nil {
					yield(job.Item{}, err)
					return
				}
				if scope.Ahead {
					items = append(items, s.ahead(g, counted)...)
				}
			}
			if !scope.Ahead {
				items[0].Calls = slices.Collect(fill.Alternate(lacking))
			}
			if scope.Remembered {
				for i := range items[0].Calls {
					c := &items[0].Calls[i]
					if c.Role = role(c.Request); c.Role == job.Judge {
						c.Judge = s.Judge.Name()
					}
				}
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// last is the content of a request's last message.
func last(r model.Request) string { return r.Messages[len(r.Messages)-1].Content }

// roles separates the targets' requests for the prompts themselves from those for
// rewordings, by their last message. The prompts are read on the first call.
func (s *Study) roles() func(model.Request) job.Role {
	run := s.run().Job()
	own := sync.OnceValue(func() map[string]bool {
		ends := map[string]bool{}
		for _, set := range s.Datasets {
			for p, err := range set.Prompts() {
				if err != nil {
					break // whoever asks the prompts says so
				}
				for _, t := range s.Targets {
					ends[last(t.Request(p))] = true
				}
			}
		}
		return ends
	})
	return func(r model.Request) job.Role {
		role := run.Role(r)
		if role == job.Target && !own()[last(r)] {
			return job.Wordings
		}
		return role
	}
}
