package trigger

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Wording is the role of a target in being asked prompts in other words.
const Wording job.Role = "wordings"

// typical stands for an answer when the calls of judges are planned: some 300 tokens.
var typical = model.Response{Text: strings.Repeat("an answer of typical length ", 43), Finish: model.Stop}

// Plan says what the study may send: the prompts that are not remembered, of each
// target, exactly; wordings of them at most, since that many only follow a refusal or
// are put into the answered prompts that are drawn; and a verdict on each answer.
// Wordings that are remembered are taken off where replies say which they are: of a
// target whose own prompts are all answered. m may be nil for an empty store.
func (s *Study) Plan(ctx context.Context, m store.Reader) ([]job.Plan, error) {
	groups, err := s.groups()
	if err != nil {
		return nil, err
	}
	var plans []job.Plan
	index := map[string]int{}
	of := func(ref model.Ref, role job.Role) *job.Plan {
		key := string(role) + " " + ref.Endpoint + " " + ref.String()
		i, ok := index[key]
		if !ok {
			i = len(plans)
			index[key] = i
			plans = append(plans, job.Plan{Provider: ref.Provider, Endpoint: ref.Endpoint, Model: ref.Model, Role: role, Judge: role == job.Judge})
		}
		return &plans[i]
	}
	judged := func(calls int, requests []model.Request) {
		for _, r := range requests {
			p := of(model.Ref{Provider: r.Provider, Endpoint: r.Endpoint, Model: r.Model}, job.Judge)
			p.Calls += calls
			p.InputTokens += calls * price.EstimateTokens(r.Messages)
			p.MaxOutputTokens += calls * r.Params.MaxTokens
		}
	}
	counted := map[model.Hash]bool{}
	fresh := func(requests []model.Request) []model.Request {
		return slices.DeleteFunc(slices.Clone(requests), func(r model.Request) bool {
			h := r.Hash()
			repeated := counted[h]
			counted[h] = true
			return repeated
		})
	}
	for _, g := range groups {
		if _, err := s.advance(ctx, m, g); err != nil {
			return nil, err
		}
		ref := model.Ref{Provider: g.target.Provider, Endpoint: g.target.Endpoint, Model: g.target.Model}
		samples := g.target.Times()
		// send counts answers to a prompt and the verdicts on them.
		send := func(role job.Role, calls int, prompt orbench.Prompt) {
			p := of(ref, role)
			p.Calls += calls
			p.InputTokens += calls * price.EstimateTokens(prompt.Messages)
			p.MaxOutputTokens += calls * g.target.Params.MaxTokens
			_, requests := s.Judge.Verdict(judge.Case{Prompt: prompt, Response: typical}, func(model.Request) (model.Response, bool) { return model.Response{}, false })
			judged(calls, requests)
		}
		of(ref, job.Target)
		of(ref, Wording)
		for _, it := range g.items {
			calls := min(samples, len(fresh(it.own.ofTarget)))
			of(ref, job.Target).FromMemo += samples - calls
			send(job.Target, calls, it.prompt)
			judged(1, fresh(it.own.ofJudge))
		}
		for it, calls := range s.wordings(g) {
			of(ref, Wording).FromMemo += it.reworded.known
			send(Wording, calls, it.prompt)
			judged(1, fresh(it.reworded.ofJudge))
		}
	}
	return plans, nil
}

// wordings gives the prompts of a group that are asked in other words, each with the
// most calls that this still takes.
func (s *Study) wordings(g *group) iter.Seq2[*item, int] {
	samples := g.target.Times()
	most := s.Calls / samples * samples
	lacks := func(it *item) bool { return len(it.own.ofTarget)+len(it.own.ofJudge) > 0 }
	return func(yield func(*item, int) bool) {
		if slices.ContainsFunc(g.items, lacks) {
			// Whether a prompt is searched, and on which words others are tried, is open. No
			// more answered prompts are asked than are drawn.
			into := s.Into
			for _, it := range g.items {
				if it.stance == answered {
					into--
				}
				if (it.stance == refused || it.stance == answered && into >= 0 || lacks(it)) && !yield(it, most) {
					return
				}
			}
			return
		}
		searched := true
		for _, it := range g.finding {
			calls := 0
			if it.outcome == Unfinished {
				calls, searched = most-it.reworded.known, false
			}
			if !yield(it, calls) {
				return
			}
		}
		for _, it := range slices.Concat(g.trying, g.into) {
			calls := most
			if searched {
				calls = len(it.reworded.ofTarget)
			}
			if !yield(it, calls) {
				return
			}
		}
	}
}

// Most is how many calls of targets a plan has.
func Most(plans []job.Plan) int {
	n := 0
	for _, p := range plans {
		if !p.Judge {
			n += p.Calls
		}
	}
	return n
}
