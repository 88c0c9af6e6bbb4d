package construct

import (
	"context"
	"iter"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/moderate"
)

// Role is what a model does in a build.
type Role string

// The roles, in the order of the stages.
const (
	Generator Role = "generator"
	Rewriter  Role = "rewriter"
	Moderates Role = "moderator"
	Second    Role = "second chance"
	Selects   Role = "selector"
	Judges    Role = "judge"
)

// Roles lists the roles in the order of the stages.
var Roles = []Role{Generator, Rewriter, Moderates, Second, Selects, Judges}

// Spent is what a model was asked in a role. It counts the replies that the
// build rests on, whenever they were paid for.
type Spent struct {
	Role Role `json:"role"`
	// Provider and Model name the model, and Versions what it called itself in
	// its replies.
	Provider string   `json:"provider"`
	Model    string   `json:"model"`
	Versions []string `json:"versions"`
	Replies  int      `json:"replies"`
	Failed   int      `json:"failed,omitempty"`
	// Usage is the sum of what the provider reported.
	Usage model.Usage `json:"usage"`
}

func (s *Spent) key() string { return string(s.Role) + " " + s.Provider + "/" + s.Model }

// ask gets a reply and counts it.
func (r *run) ask(ctx context.Context, role Role, request model.Request) (model.Response, bool, error) {
	response, ok, err := r.Ask(ctx, request)
	if err != nil {
		return response, false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &Spent{Role: role, Provider: request.Provider, Model: request.Model, Versions: []string{}}
	if known := r.spent[s.key()]; known != nil {
		s = known
	} else {
		r.spent[s.key()] = s
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
	if response.Model != "" && !contains(s.Versions, response.Model) {
		s.Versions = append(s.Versions, response.Model)
	}
	return response, true, nil
}

// contains looks through a list that has one entry nearly always.
func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// replies lets code that looks replies up, and says which it lacks, be run with
// calls in between.
type replies struct {
	run  *run
	role Role
	has  map[model.Hash]model.Response
	// last is the request whose reply was found last, in hex: the one that
	// decided.
	last string
}

func (r *run) replies(role Role) *replies {
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
func (r *run) vote(ctx context.Context, m moderate.Moderator, item moderate.Item) (Vote, error) {
	p := r.replies(Moderates)
	for {
		v, missing := m.Vote(r.policy, item, p.look)
		if len(missing) == 0 {
			return Vote{Vote: v, Call: p.last}, nil
		}
		ok, err := p.get(ctx, missing)
		if err != nil {
			return Vote{}, err
		}
		if !ok {
			v.Explanation = "the call failed"
			return Vote{Vote: v}, nil
		}
	}
}

// verdict has the judge say what an answer is.
func (r *run) verdict(ctx context.Context, c judge.Case) (orbench.Class, error) {
	p := r.replies(Judges)
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
type seedSeq = iter.Seq2[Seed, error]

// slicesSeq streams seeds that are there.
func slicesSeq(seeds []Seed) seedSeq {
	return func(yield func(Seed, error) bool) {
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
