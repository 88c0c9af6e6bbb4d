package construct

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// asked is a model and its role.
type asked struct {
	role            benchmark.Role
	provider, model string
}

// ask gets a reply and counts it. A reply written by another model than the one asked is
// treated as no reply.
func (r *run) ask(ctx context.Context, role benchmark.Role, request model.Request) (model.Response, bool, error) {
	if r.asking != nil {
		r.asking(role, request)
	}
	response, ok, err := r.Ask(ctx, request)
	if err != nil {
		return response, false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	of := asked{role, request.Provider, request.Model}
	s := r.spent[of]
	if s == nil {
		s = &benchmark.Spent{Role: role, Provider: request.Provider, Model: request.Model, Versions: []string{}}
		r.spent[of] = s
	}
	if !ok {
		s.Failed++
		r.funnel.FailedCalls++
		return response, false, nil
	}
	s.Replies++
	s.Usage.Add(response.Usage)
	if response.Model != "" && !slices.Contains(s.Versions, response.Model) {
		s.Versions = append(s.Versions, response.Model)
	}
	// Moderators and judges explain a missing verdict themselves.
	if role != benchmark.ModeratorRole && role != benchmark.JudgeRole && response.ByOther(job.RefOf(request)) {
		r.funnel.FailedCalls++
		return response, false, nil
	}
	return response, true, nil
}

// answer asks a model a prompt and reads its answer as evaluations do: without thinking and what is
// around the text, and known for a block or for none.
func (r *run) answer(ctx context.Context, role benchmark.Role, request model.Request) (model.Response, bool, error) {
	response, ok, err := r.ask(ctx, role, request)
	return reply.Reading{}.Answer(response), ok, err
}

// errNoReply says that a call failed for good; the build goes on without it.
var errNoReply = errors.New("the call failed")

// resolve gets a step done by asking in a role. It reports false where a call failed for
// good.
func (r *run) resolve(ctx context.Context, role benchmark.Role, step model.Step) (done bool, err error) {
	err = model.Resolve(ctx, model.Func(func(ctx context.Context, request model.Request) (model.Response, error) {
		response, ok, err := r.ask(ctx, role, request)
		if err == nil && !ok {
			err = errNoReply
		}
		return response, err
	}), step)
	if errors.Is(err, errNoReply) {
		return false, nil
	}
	return err == nil, err
}

// vote asks a moderator to vote on an item.
func (r *run) vote(ctx context.Context, m moderate.Moderator, item moderate.Item) (v benchmark.Vote, err error) {
	count := m.Vote(r.policy, item)
	done, err := r.resolve(ctx, benchmark.ModeratorRole, func(look model.Lookup) (missing []model.Request) {
		v.Vote, missing = count(func(request model.Request) (model.Response, bool) {
			response, ok := look(request)
			if ok {
				// The last reply looked at is the one that decided.
				v.Call = request.Hash().String()
			}
			return response, ok
		})
		return missing
	})
	if err == nil && !done {
		v.Call, v.Explanation = "", errNoReply.Error()
	}
	return v, err
}

// verdict asks the judge to classify an answer. Without the judge's reply the answer is
// unjudged.
func (r *run) verdict(ctx context.Context, c judge.Case) (class orbench.Class, err error) {
	_, err = r.resolve(ctx, benchmark.JudgeRole, func(look model.Lookup) []model.Request {
		v, missing := r.Judge.Verdict(c, look)
		class = v.Class
		return missing
	})
	return class, err
}

// errStopped ends work whose results nobody needs any more.
var errStopped = errors.New("nobody takes it")

// streamed streams what run hands to use, one by one.
func streamed[T any](run func(use func(T) error) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := run(func(one T) error {
			if !yield(one, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			var none T
			yield(none, err)
		}
	}
}
