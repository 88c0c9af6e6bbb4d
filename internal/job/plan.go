package job

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// Plan is what a job would send to one model in one role.
type Plan struct {
	Provider string `json:"provider"`
	Endpoint string `json:"endpoint,omitempty"`
	Model    string `json:"model"`
	Role     Role   `json:"role"`
	// Judge is true when the calls judge answers. Their number is exact for
	// answers that are there, and one for each answer that is not.
	Judge bool `json:"judge"`
	// Calls is the number of requests to send, without repeated attempts.
	Calls int `json:"calls"`
	// FromMemo is the number of requests that are remembered, other than of judges.
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
	Expected *Outlook `json:"expected,omitempty"`
	// MaxUSD is the most that the calls can cost, nil where the price is unknown.
	MaxUSD *float64 `json:"max_usd"`
	// ExpectedUSD is the range of what they are expected to cost, nil where the price is
	// unknown or nothing is expected.
	ExpectedUSD *[2]float64 `json:"expected_usd,omitempty"`
	// replies are those of the model that planning met.
	replies lengths
}

// Usage is the estimated input and the most output of the plan.
func (p Plan) Usage() model.Usage {
	return model.Usage{Input: p.InputTokens, Output: p.MaxOutputTokens}
}

// Met reports whether planning met stored replies of the model.
func (p Plan) Met() bool { return p.replies.n > 0 }

// send counts calls like one.
func (p *Plan) send(r model.Request, n int) {
	p.Calls += n
	p.InputTokens += n * price.EstimateTokens(r.Messages)
	p.MaxOutputTokens += n * cmp.Or(r.Params.MaxTokens, fill.UnboundedOutput)
}

// Plan counts what the job would send, by model and role. Prompts may be asked about in
// several places: each request counts once, and what follows on it once. Those of changed
// subjects are also counted there; nil counts none. m may be nil for an empty store.
func (j *Job) Plan(ctx context.Context, m store.Reader, extent Extent, changed Changed) (plans []Plan, err error) {
	if m, err = store.Filtered(ctx, m, j.Calls); err != nil {
		return nil, err
	}
	index := map[Asked]int{}
	last, at := Asked{}, -1 // most calls of an item are of one model
	of := func(ref model.Ref, role Role) *Plan {
		k := Asked{Ref: ref, Role: role}
		if at >= 0 && k == last {
			return &plans[at]
		}
		i, ok := index[k]
		if !ok {
			i = len(plans)
			index[k] = i
			plans = append(plans, Plan{Provider: ref.Provider, Endpoint: ref.Endpoint, Model: ref.Model, Role: role, Judge: role.Judges()})
		}
		last, at = k, i
		return &plans[i]
	}
	for _, asked := range j.Models {
		if asked.Role != "" {
			of(asked.Ref, asked.Role)
		}
	}
	// counted holds the first 64 bits of the hashes of what was counted.
	counted := make(map[uint64]struct{}, j.Calls)
	met := map[model.Ref]lengths{}
	seen := map[model.Hash]bool{}
	scope := Scope{Extent: extent, Ahead: true, Met: func(_ string, h model.Hash, of model.Ref, response model.Response) {
		if seen[h] {
			return
		}
		seen[h], of.Endpoint = true, ""
		l := met[of]
		l.add(price.UsageOf(nil, response).Output)
		met[of] = l
	}}
	for item, err := range j.Items(ctx, m, scope) {
		if err != nil {
			return nil, err
		}
		clear(seen)
		// What follows from calls that were counted before was counted too.
		fresh := len(item.Calls) == 0
		for i := range item.Calls {
			call := &item.Calls[i]
			if call.Remembered {
				continue
			}
			if call.Hash == (model.Hash{}) {
				call.Hash = call.Request.Hash()
			}
			before := len(counted)
			counted[binary.BigEndian.Uint64(call.Hash[:])] = struct{}{}
			if len(counted) > before {
				fresh = true
				of(RefOf(call.Request), call.Role).send(call.Request, 1)
				changed.count(call)
			}
		}
		for _, e := range item.Expected {
			if fresh {
				of(RefOf(e.Request), e.Role).send(e.Request, e.N)
			}
		}
		for _, r := range item.Remembered {
			of(r.Ref, r.Role).FromMemo += r.N
		}
	}
	for i := range plans {
		plans[i].replies = met[model.Ref{Provider: plans[i].Provider, Model: plans[i].Model}]
	}
	return plans, nil
}

// PlanWhole is Plan for a job that lacks no call and asks targets alone, so many calls of each, by
// the replies that it rests on.
func (j *Job) PlanWhole(calls map[model.Ref]int, used price.Usage) (plans []Plan) {
	planned := map[model.Ref]bool{}
	for _, of := range j.Models {
		if !planned[of.Ref] {
			planned[of.Ref] = true
			met := lengths{n: used[model.Ref{Provider: of.Provider, Model: of.Model}].Replies}
			plans = append(plans, Plan{Provider: of.Provider, Endpoint: of.Endpoint, Model: of.Model, Role: of.Role, FromMemo: calls[of.Ref], replies: met})
		}
	}
	return plans
}

// SampledPlan is Plan estimated from a sample, so that planning stays cheap: the calls for
// about a number of prompts drawn at random, multiplied by the factor by which all prompts
// outnumber them.
func (j *Job) SampledPlan(ctx context.Context, m store.Reader, most int) ([]Plan, error) {
	part, times, err := j.Sample(most)
	if err != nil {
		return nil, err
	}
	plans, err := part.Plan(ctx, m, AtMost, nil)
	if part == j {
		return plans, err
	}
	for i := range plans {
		p := &plans[i]
		for _, n := range []*int{&p.Calls, &p.FromMemo, &p.InputTokens, &p.MaxOutputTokens} {
			*n = int(math.Round(float64(*n) * times))
		}
	}
	return plans, err
}

// TotalCalls adds the calls of plans up.
func TotalCalls(plans []Plan) (n int) {
	for _, p := range plans {
		n += p.Calls
	}
	return n
}

// Used counts the replies that the job rests on so far, whoever had them asked, each once
// for an item.
func (j *Job) Used(ctx context.Context, m store.Reader) (price.Usage, error) {
	used, seen := price.Usage{}, map[model.Hash]bool{}
	scope := Scope{Extent: SoFar, Met: func(_ string, h model.Hash, of model.Ref, response model.Response) {
		if !seen[h] {
			seen[h] = true
			used.Add(of.Provider, of.Model, response)
		}
	}}
	for _, err := range j.Items(ctx, m, scope) {
		if err != nil {
			return nil, err
		}
		clear(seen)
	}
	return used, nil
}
