package evaluate

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Placeholder stands for a missing answer when the calls of judges are planned.
// It has about 300 tokens.
var Placeholder = model.Response{Text: strings.Repeat("an answer of typical length ", 43), Finish: model.Stop}

// ahead returns the calls that the part of one target lacks and expects: those of the judges
// of existing answers, and those of each prompt without an answer.
func (r *Run) ahead(ctx context.Context, m store.Reader, s job.Scope, part []targetChunk) (items []job.Item, err error) {
	// look finds earlier replies to a defense; failed is why it cannot.
	var failed error
	look := func(q model.Request) (model.Response, bool) {
		if m == nil || failed != nil {
			return model.NoReplies(q)
		}
		h := q.Hash()
		found, err := r.setting(m).Get(ctx, []model.Hash{h})
		failed = err
		response, ok := found[h]
		return response, ok
	}
	scope := job.Scope{Met: s.Met}
	judged, err := r.judgeChunk(ctx, m, part, Asking(r.Judges), scope, scope)
	if err != nil {
		return nil, err
	}
	items = append(items, job.Item{Calls: slices.Concat(judged[0].ofJudges...)})
	if !r.Recorded && !part[0].target.Replayed() {
		items = append(items, r.expecting(judged[0], look)...)
	}
	return items, failed
}

// expecting returns the calls that a chunk lacks and expects for the prompts
// without an answer, and counts the stored ones for the others.
func (r *Run) expecting(c judgedChunk, look model.Lookup) []job.Item {
	target, answers := job.Asked{Ref: c.target.Ref(), Role: job.Target}, c.target.Turns.Answers()
	judges := Asking(r.Judges)
	var items []job.Item
	absent := 0
	for i, p := range c.prompts {
		item := job.Item{Calls: c.ofTarget[i]}
		if len(item.Calls) == 0 {
			continue
		}
		absent++
		asked := conversation.Asked(p, c.rows[i].Dialog)
		if c.target.needsReplies() {
			var requests map[defense.Role][]model.Request
			requests, asked = c.target.requests(p, look)
			if c.target.Defense == nil {
				item.Remembered = []job.Remembered{{Asked: target, N: answers - len(requests[defense.TargetModel])}}
			}
			item.Calls = nil
			for _, role := range []defense.Role{defense.TargetModel, defense.Guard} {
				for _, q := range requests[role] {
					call := c.about(p)
					call.Request, call.Role = q, job.Role(role)
					item.Calls = append(item.Calls, call)
				}
			}
			if len(item.Calls) == 0 {
				items = append(items, item)
				continue
			}
		}
		// The placeholder is the same for all targets, but their real answers
		// will differ. So only the judges of one answer can repeat each other.
		var questions []model.Hash
		for _, j := range judges {
			// Multiples of the golden ratio spread evenly from 0 to 1.
			chance := math.Mod(float64(absent)*math.Phi, 1)
			for _, q := range judge.Expect(j, judge.Case{Prompt: asked, Response: Placeholder}, chance) {
				if h := q.Hash(); !slices.Contains(questions, h) {
					questions = append(questions, h)
					item.Expected = append(item.Expected, job.Expected{Request: q, Role: job.Judge, N: 1})
				}
			}
		}
		items = append(items, item)
	}
	return append(items, job.Item{Remembered: []job.Remembered{{Asked: target, N: (len(c.prompts) - absent) * answers}}})
}

// requests returns the requests of a prompt by role, and the prompt as judges
// see it. There is one request, unless the target is asked step by step. It
// then returns all expected requests that look does not find.
func (t Target) requests(p orbench.Prompt, look model.Lookup) (map[defense.Role][]model.Request, orbench.Prompt) {
	if !t.needsReplies() {
		request, dialog := t.request(p)
		return map[defense.Role][]model.Request{defense.TargetModel: {request}}, conversation.Asked(p, dialog)
	}
	if t.Guard != nil {
		// The reply is expected to be readable on the first attempt.
		row := score.AnswerRow{Prompt: p}
		return map[defense.Role][]model.Request{defense.TargetModel: t.assessing(&row)(look)}, p
	}
	all := map[defense.Role][]model.Request{}
	target, framed, d := t.undefended(), t.framed(p), t.defended()
	expect := func(p orbench.Prompt) (model.Response, bool) {
		for role, requests := range d.Expect(target, p, Placeholder, look) {
			all[role] = append(all[role], requests...)
		}
		if o, missing := d.Answer(target, p, look); len(missing) == 0 {
			return reply.Reading{Date: o.Response.Reading}.Answer(o.Response), true
		}
		// What comes only after a refusal is planned for.
		refusal := Placeholder
		refusal.Finish = model.Blocked
		return refusal, true
	}
	dialog, _ := t.Turns.Hold(framed, expect)
	expect(conversation.Asked(framed, dialog))
	return all, conversation.Asked(p, dialog)
}

// Expected returns how many calls the targets and the defenses before them need
// if nothing is stored. It assumes that every prompt needs as many calls as a
// typical one.
func (r *Run) Expected() int {
	if r.Recorded {
		return 0
	}
	p := orbench.NewPrompt("a prompt like any other", "", "")
	distinct := map[model.Hash]bool{}
	for _, t := range r.Targets {
		if t.Replayed() {
			continue
		}
		for _, one := range t.Each() {
			requests, _ := one.requests(p, model.NoReplies)
			for _, requests := range requests {
				for _, request := range requests {
					distinct[request.Hash()] = true
				}
			}
		}
	}
	return len(distinct) * r.Prompts()
}
