package job

import (
	"context"
	"slices"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// Step is a step with what its calls are for.
type Step struct {
	About Call
	Do    model.Step
}

// Recall does steps with the replies that the store holds, and gives the calls of each that
// a walk of the scope lists; see fill.Recall. m may be nil for an empty store.
func Recall(ctx context.Context, m store.Reader, s Scope, steps []Step) ([][]Call, error) {
	do := make([]model.Step, len(steps))
	found := make([][]Call, len(steps))
	for i, step := range steps {
		do[i] = step.Do
		if s.Remembered {
			do[i] = step.noting(&found[i])
		}
	}
	met := func(step int, h model.Hash, r model.Request, response model.Response) {
		s.Met(steps[step].About.Target, h, RefOf(r), response)
	}
	if s.Met == nil || s.Ahead { // when the first replies of the store tell what to expect, as steps are not all alike
		met = nil
	}
	lacking, err := fill.Recall(ctx, m, do, met)
	if err != nil {
		return nil, err
	}
	for i, requests := range lacking {
		for _, r := range requests {
			found[i] = append(found[i], steps[i].call(r, false))
		}
	}
	return found, nil
}

// call is the call of a request of the step.
func (s Step) call(r model.Request, remembered bool) Call {
	c := s.About
	c.Request, c.Hash, c.Remembered = r, r.Hash(), remembered
	return c
}

// noting is a step that records, in calls, the calls with replies when it was last done.
func (s Step) noting(calls *[]Call) model.Step {
	return func(look model.Lookup) []model.Request {
		*calls = (*calls)[:0]
		return s.Do(func(r model.Request) (model.Response, bool) {
			response, ok := look(r)
			if ok {
				*calls = append(*calls, s.call(r, true))
			}
			return response, ok
		})
	}
}

// Lacks reports whether one of the calls is missing.
func Lacks(calls []Call) bool {
	return slices.ContainsFunc(calls, func(c Call) bool { return !c.Remembered })
}
