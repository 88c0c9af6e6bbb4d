package construct

import (
	"context"
	"iter"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/benchmark"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/moderate"
)

// keyOf tells apart what models were asked in which roles.
func keyOf(s *benchmark.Spent) string { return string(s.Role) + " " + s.Provider + "/" + s.Model }

// ask gets a reply and counts it.
func (r *run) ask(ctx context.Context, role benchmark.Role, request model.Request) (model.Response, bool, error) {
	response, ok, err := r.Ask(ctx, request)
	if err != nil {
		return response, false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &benchmark.Spent{Role: role, Provider: request.Provider, Model: request.Model, Versions: []string{}}
	if known := r.spent[keyOf(s)]; known != nil {
		s = known
	} else {
		r.spent[keyOf(s)] = s
	}
	if !ok {
		s.Failed++
		r.funnel.FailedCalls++
		return response, false, nil
	}
	s.Replies++
	s.Usage.Input += response.Usage.Input
	s.Usage.Output += response.Usage.Output
	s.Usage.Reasoning += response.Usage.Reasoning
	s.Usage.Cached += response.Usage.Cached
	if response.Model != "" && !slices.Contains(s.Versions, response.Model) {
		s.Versions = append(s.Versions, response.Model)
	}
	return response, true, nil
}

// replies lets code that looks replies up, and says which it lacks, be run with
// calls in between.
type replies struct {
	run  *run
	role benchmark.Role
	has  map[model.Hash]model.Response
	// last is the request whose reply was found last, in hex: the one that
	// decided.
	last string
}

func (r *run) replies(role benchmark.Role) *replies {
	return &replies{run: r, role: role, has: map[model.Hash]model.Response{}}
}

// look is a model.Lookup of the replies so far.
func (p *replies) look(request model.Request) (model.Response, bool) {
	hash := request.Hash()
	response, ok := p.has[hash]
	if ok {
		p.last = hash.String()
	}
	return response, ok
}

// get asks for what is missing. It reports false when a call failed.
func (p *replies) get(ctx context.Context, missing []model.Request) (bool, error) {
	for _, request := range missing {
		response, ok, err := p.run.ask(ctx, p.role, request)
		if err != nil || !ok {
			return false, err
		}
		p.has[request.Hash()] = response
	}
	return true, nil
}

// vote has a moderator vote on an item.
func (r *run) vote(ctx context.Context, m moderate.Moderator, item moderate.Item) (benchmark.Vote, error) {
	p := r.replies(benchmark.ModeratorRole)
	for {
		v, missing := m.Vote(r.policy, item, p.look)
		if len(missing) == 0 {
			return benchmark.Vote{Vote: v, Call: p.last}, nil
		}
		ok, err := p.get(ctx, missing)
		if err != nil {
			return benchmark.Vote{}, err
		}
		if !ok {
			v.Explanation = "the call failed"
			return benchmark.Vote{Vote: v}, nil
		}
	}
}

// verdict has the judge say what an answer is.
func (r *run) verdict(ctx context.Context, c judge.Case) (orbench.Class, error) {
	p := r.replies(benchmark.JudgeRole)
	for {
		v, missing := r.Judge.Verdict(c, p.look)
		if len(missing) == 0 {
			return v.Class, nil
		}
		ok, err := p.get(ctx, missing)
		if err != nil || !ok {
			return v.Class, err
		}
	}
}

// seedSeq is a stream of seeds.
type seedSeq = iter.Seq2[benchmark.Seed, error]

// slicesSeq streams seeds that are there.
func slicesSeq(seeds []benchmark.Seed) seedSeq {
	return func(yield func(benchmark.Seed, error) bool) {
		for _, s := range seeds {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// chanSeq streams what comes through a channel, until it is closed.
func chanSeq[T any](ctx context.Context, c <-chan T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			select {
			case v, ok := <-c:
				if !ok || !yield(v, nil) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}
