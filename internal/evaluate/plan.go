package evaluate

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/defense"
	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// JudgeRole is the role of models that judge answers, beside those of package
// defense.
const JudgeRole defense.Role = "judge"

// Plan is what Fill would send to one model in one role.
type Plan struct {
	Provider string       `json:"provider"`
	Endpoint string       `json:"endpoint,omitempty"`
	Model    string       `json:"model"`
	Role     defense.Role `json:"role"`
	// Judge is true when the calls judge answers. Their number is exact for
	// answers that are there, and one for each answer that is not. Those of the role
	// probe are about answers with a forged verdict; see package probe.
	Judge bool `json:"judge"`
	// Calls is the number of requests to send, without repeated attempts.
	Calls int `json:"calls"`
	// FromMemo is the number of a target's requests that are remembered.
	FromMemo int `json:"from_memo"`
	// InputTokens is an estimate; see price.EstimateTokens.
	InputTokens int `json:"input_tokens"`
	// MaxOutputTokens is the most that the calls may be answered with.
	MaxOutputTokens int `json:"max_output_tokens"`
	// Typical is how many they are usually answered with, for a guess from half to twice of
	// it where no reply is remembered; 0 where that is not known.
	Typical int `json:"-"`
	// Expected is how many they are expected to be answered with, nil where that was not
	// looked for; see Expect.
	Expected *Expected `json:"expected,omitempty"`
	// replies are those of the model that planning met.
	replies lengths
}

// Usage is the estimated input and the most output of the plan.
func (p Plan) Usage() model.Usage {
	return model.Usage{Input: p.InputTokens, Output: p.MaxOutputTokens}
}

// placeholder stands for an answer that is not there yet when the calls of
// judges are planned: some 300 tokens.
var placeholder = model.Response{Text: strings.Repeat("an answer of typical length ", 43), Finish: model.Stop}

// Plan counts what Fill would send, by model and role: targets in the run's order,
// with whom their defenses ask after them, then judges. m may be nil for an empty
// store. Of a run with Until it is the most, as if the rates stayed unclear to the end.
func (r *Run) Plan(ctx context.Context, m store.Reader) ([]Plan, error) {
	if r.Recorded {
		asked, _, err := r.asked(ctx, m)
		if err != nil {
			return nil, err
		}
		r = asked
	}
	return r.plan(ctx, m)
}

// LeastPlan is Plan of the least that a run with Until asks.
func (r *Run) LeastPlan(ctx context.Context, m store.Reader) ([]Plan, error) {
	least, err := r.least(ctx, m)
	if err != nil {
		return nil, err
	}
	return least.plan(ctx, m)
}

func (r *Run) plan(ctx context.Context, m store.Reader) ([]Plan, error) {
	type key struct {
		model.Ref
		role defense.Role
	}
	var plans []Plan
	index := map[key]int{}
	of := func(ref model.Ref, role defense.Role) *Plan {
		k := key{ref, role}
		i, ok := index[k]
		if !ok {
			i = len(plans)
			index[k] = i
			plans = append(plans, Plan{Provider: ref.Provider, Endpoint: ref.Endpoint, Model: ref.Model, Role: role, Judge: role == JudgeRole || role == ProbeRole})
		}
		return &plans[i]
	}
	if !r.Recorded {
		for _, t := range r.Targets {
			of(t.undefended().Ref, defense.Answerer)
			roles := t.defended().Roles()
			for _, role := range []defense.Role{defense.Translator, defense.Guard} {
				for _, ref := range roles[role] {
					of(ref, role)
				}
			}
		}
	}
	for _, ref := range modelsOf(r.Judges) {
		of(ref, JudgeRole)
	}
	send := func(request model.Request, role defense.Role) {
		p := of(model.Ref{Provider: request.Provider, Endpoint: request.Endpoint, Model: request.Model}, role)
		p.Calls++
		p.InputTokens += price.EstimateTokens(request.Messages)
		p.MaxOutputTokens += cmp.Or(request.Params.MaxTokens, fill.UnboundedOutput)
	}
	// counted holds the first 64 bits of the hashes of what was counted: datasets
	// may share prompts, judges may share a model, targets may answer alike, and
	// Fill sends each request once.
	counted := map[uint64]bool{}
	first := func(request model.Request) bool {
		h := request.Hash()
		key := binary.BigEndian.Uint64(h[:])
		repeated := counted[key]
		counted[key] = true
		return !repeated
	}
	// look finds what a defense was asked before; failed says why it cannot.
	var failed error
	look := func(r model.Request) (model.Response, bool) {
		if m == nil || failed != nil {
			return nothing(r)
		}
		h := r.Hash()
		found, err := m.Get(ctx, []model.Hash{h})
		failed = err
		response, ok := found[h]
		return response, ok
	}
	probes := r.probes(r.Judges)
	met := map[model.Ref]*lengths{}
	for piece, err := range r.pieces() {
		if err != nil {
			return nil, err
		}
		for _, c := range piece {
			absent := c.prompts
			if m != nil {
				judged, err := r.judgePiece(ctx, m, []chunk{c}, asking(r.Judges), &usage{of: price.Usage{}, lengths: met})
				if err != nil {
					return nil, err
				}
				absent = nil
				for i, requests := range judged[0].ofTarget {
					if len(requests) > 0 {
						absent = append(absent, c.prompts[i])
					}
				}
				for _, request := range slices.Concat(judged[0].ofJudges...) {
					if first(request) {
						send(request, JudgeRole)
					}
				}
				for i, requests := range judged[0].ofProbes {
					row := &judged[0].rows[i]
					if key, ok := c.target.takes(probes, row.Prompt); ok && row.Status == score.Answered {
						requests = append(requests, expectProbes(asking(r.Judges), judge.Case{Prompt: row.Asked(), Response: row.Response}, key, look)...)
					}
					if failed != nil {
						return nil, failed
					}
					for _, request := range requests {
						if first(request) {
							send(request, ProbeRole)
						}
					}
				}
			}
			if r.Recorded {
				continue
			}
			of(c.target.undefended().Ref, defense.Answerer).FromMemo += (len(c.prompts) - len(absent)) * c.target.Turns.Answers()
			for _, p := range absent {
				requests, asked := c.target.requests(p, look)
				if failed != nil {
					return nil, failed
				}
				if c.target.Defense == nil {
					of(c.target.undefended().Ref, defense.Answerer).FromMemo += c.target.Turns.Answers() - len(requests[defense.Answerer])
				}
				fresh := false
				for _, role := range []defense.Role{defense.Translator, defense.Answerer, defense.Guard} {
					for _, request := range requests[role] {
						if !r.lacks(request) && first(request) {
							fresh = true
							send(request, role)
						}
					}
				}
				if !fresh {
					continue
				}
				// The placeholder is the same for all targets, unlike their answers
				// will be, so only the judges of one answer can repeat each other.
				var questions []model.Hash
				for _, j := range r.Judges {
					_, requests := j.Verdict(judge.Case{Prompt: asked, Response: placeholder}, nothing)
					for _, request := range requests {
						if h := request.Hash(); !slices.Contains(questions, h) {
							questions = append(questions, h)
							send(request, JudgeRole)
						}
					}
				}
				if key, ok := c.target.takes(probes, p); ok {
					for _, request := range expectProbes(r.Judges, judge.Case{Prompt: asked, Response: placeholder}, key, nothing) {
						send(request, ProbeRole)
					}
				}
			}
		}
	}
	for i := range plans {
		if l := met[model.Ref{Provider: plans[i].Provider, Model: plans[i].Model}]; l != nil {
			plans[i].replies = *l
		}
	}
	return plans, nil
}

// nothing is a lookup that finds nothing.
func nothing(model.Request) (model.Response, bool) { return model.Response{}, false }

// requests are those that a prompt takes, by role, and the prompt as judges see it:
// one, or where the target is asked step by step, all that are expected and that look
// does not find.
func (t Target) requests(p orbench.Prompt, look model.Lookup) (map[defense.Role][]model.Request, orbench.Prompt) {
	if !t.stepwise() {
		request, dialog := t.request(p)
		return map[defense.Role][]model.Request{defense.Answerer: {request}}, conversation.Asked(p, dialog)
	}
	if t.Guard != nil {
		// Its reply is expected to be read at once.
		row := score.Row{Prompt: p}
		return map[defense.Role][]model.Request{defense.Answerer: t.assessing(&row)(look)}, p
	}
	all := map[defense.Role][]model.Request{}
	target, framed, d := t.undefended(), t.framed(p), t.defended()
	expect := func(p orbench.Prompt) (model.Response, bool) {
		for role, requests := range d.Expect(target, p, placeholder, look) {
			all[role] = append(all[role], requests...)
		}
		if o, missing := d.Answer(target, p, look); len(missing) == 0 && !o.Unasked {
			return o.Response, true
		}
		return placeholder, true
	}
	dialog, _ := t.Turns.Hold(framed, expect)
	expect(conversation.Asked(framed, dialog))
	return all, conversation.Asked(p, dialog)
}

// Expected is how many calls the targets take, and what stands before them, when
// nothing is remembered: as many for each prompt as for one like any other.
func (r *Run) Expected() int {
	if r.Recorded {
		return 0
	}
	p := orbench.NewPrompt("a prompt like any other", "", "")
	distinct := map[model.Hash]bool{}
	for _, t := range r.Targets {
		for _, one := range t.Each() {
			requests, _ := one.requests(p, nothing)
			for _, requests := range requests {
				for _, request := range requests {
					distinct[request.Hash()] = true
				}
			}
		}
	}
	return len(distinct) * r.Prompts()
}
