package trigger

import (
	"iter"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// ahead gives the calls that a group lacks and expects. Missing prompts are counted
// exactly, and each answer needs a verdict. Rewordings are an upper bound, since they
// only follow a refusal or go into the answered prompts that are drawn. Rewordings
// already remembered are subtracted if the replies show which they are: for a target
// whose own prompts are all answered. counted holds the calls counted so far.
func (s *Study) ahead(g *group, counted map[model.Hash]bool) []job.Item {
	ref := model.Ref{Provider: g.target.Provider, Endpoint: g.target.Endpoint, Model: g.target.Model}
	samples := g.target.Times()
	fresh := func(requests []model.Request) (n int) {
		for _, r := range requests {
			if h := r.Hash(); !counted[h] {
				counted[h] = true
				n++
			}
		}
		return n
	}
	var open, judged job.Item
	send := func(role job.Role, calls, remembered int, prompt orbench.Prompt, lacks []model.Request) {
		open.Remembered = append(open.Remembered, job.Remembered{Asked: job.Asked{Ref: ref, Role: role}, N: remembered})
		expect := func(role job.Role, r model.Request) {
			if calls > 0 {
				open.Expected = append(open.Expected, job.Expected{Request: r, Role: role, N: calls})
			}
		}
		expect(role, model.Request{Provider: ref.Provider, Endpoint: ref.Endpoint, Model: ref.Model, Messages: prompt.Messages, Params: g.target.Params})
		_, questions := s.Judge.Verdict(judge.Case{Prompt: prompt, Response: evaluate.Placeholder}, model.NoReplies)
		for _, r := range questions {
			expect(job.Judge, r)
		}
		for _, r := range lacks {
			judged.Calls = append(judged.Calls, job.Call{Request: r, Role: job.Judge})
		}
	}
	for _, it := range g.items {
		calls := min(samples, fresh(it.own.ofTarget))
		send(job.Target, calls, samples-calls, it.prompt, it.own.ofJudge)
	}
	for it, calls := range s.wordings(g) {
		send(job.Wordings, calls, it.reworded.known, it.prompt, it.reworded.ofJudge)
	}
	return []job.Item{open, judged}
}

// wordings gives the prompts of a group that are asked in other words, each with the most
// calls that it still takes.
func (s *Study) wordings(g *group) iter.Seq2[*item, int] {
	samples := g.target.Times()
	most := s.Calls / samples * samples
	lacks := func(it *item) bool { return len(it.own.ofTarget)+len(it.own.ofJudge) > 0 }
	return func(yield func(*item, int) bool) {
		if slices.ContainsFunc(g.items, lacks) {
			// It is not known yet which prompts are searched, and which words are tried on
			// the others. No more answered prompts are asked than are drawn.
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

// Most is the number of target calls in a plan.
func Most(plans []job.Plan) int {
	n := 0
	for _, p := range plans {
		if !p.Judge {
			n += p.Calls
		}
	}
	return n
}
