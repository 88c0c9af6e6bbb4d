package evaluate

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Plan is what Fill would send to one model.
type Plan struct {
	Provider string `json:"provider"`
	Endpoint string `json:"endpoint,omitempty"`
	Model    string `json:"model"`
	// Judge is true when the calls judge answers. Their number is exact for
	// answers that are there, and one for each answer that is not.
	Judge bool `json:"judge"`
	// Calls is the number of requests to send, without repeated attempts.
	Calls int `json:"calls"`
	// FromMemo is the number of a target's requests that are remembered.
	FromMemo int `json:"from_memo"`
	// InputTokens is an estimate; see price.EstimateTokens.
	InputTokens int `json:"input_tokens"`
	// MaxOutputTokens is the most that the calls may be answered with.
	MaxOutputTokens int `json:"max_output_tokens"`
}

// Usage is the estimated input and the most output of the plan.
func (p Plan) Usage() model.Usage {
	return model.Usage{Input: p.InputTokens, Output: p.MaxOutputTokens}
}

// placeholder stands for an answer that is not there yet when the calls of
// judges are planned: some 300 tokens.
var placeholder = model.Response{Text: strings.Repeat("an answer of typical length ", 43), Finish: model.Stop}

// Plan counts what Fill would send, by model: targets in the run's order, then
// judges. m may be nil for an empty memo.
func (r *Run) Plan(ctx context.Context, m *memo.Memo) ([]Plan, error) {
	type key struct {
		LaneKey
		model string
		judge bool
	}
	var plans []Plan
	index := map[key]int{}
	of := func(lane LaneKey, name string, judging bool) *Plan {
		k := key{lane, name, judging}
		i, ok := index[k]
		if !ok {
			i = len(plans)
			index[k] = i
			plans = append(plans, Plan{Provider: lane.Provider, Endpoint: lane.Endpoint, Model: name, Judge: judging})
		}
		return &plans[i]
	}
	if !r.Recorded {
		for _, t := range r.Targets {
			of(t.lane(), t.Model, false)
		}
	}
	for _, j := range r.Judges {
		if asking, ok := j.(judge.ModelJudge); ok {
			for _, ref := range asking.Models() {
				of(LaneKey{ref.Provider, ref.Endpoint}, ref.Model, true)
			}
		}
	}
	send := func(request model.Request, judging bool) {
		p := of(KeyOf(request), request.Model, judging)
		p.Calls++
		p.InputTokens += price.EstimateTokens(request.Messages)
		p.MaxOutputTokens += request.Params.MaxTokens
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
	nothing := func(model.Request) (model.Response, bool) { return model.Response{}, false }
	for c, err := range r.chunks() {
		if err != nil {
			return nil, err
		}
		absent := c.prompts
		if m != nil {
			var judgeRequests []model.Request
			if absent, judgeRequests, err = r.missingOf(ctx, m, c); err != nil {
				return nil, err
			}
			for _, request := range judgeRequests {
				if first(request) {
					send(request, true)
				}
			}
		}
		if r.Recorded {
			continue
		}
		of(c.target.lane(), c.target.Model, false).FromMemo += len(c.prompts) - len(absent)
		for _, p := range absent {
			requests := c.target.requests(p)
			fresh := false
			for _, request := range requests {
				if first(request) {
					fresh = true
					send(request, false)
				}
			}
			if !fresh {
				continue
			}
			// The placeholder is the same for all targets, unlike their answers
			// will be, so only the judges of one answer can repeat each other.
			var asked []model.Hash
			for _, j := range r.Judges {
				_, requests := j.Verdict(judge.Case{Prompt: p, Response: placeholder}, nothing)
				for _, request := range requests {
					if h := request.Hash(); !slices.Contains(asked, h) {
						asked = append(asked, h)
						send(request, true)
					}
				}
			}
		}
	}
	return plans, nil
}

// requests are those that a prompt takes: one, or where a defence stands before the
// model, all that it asks when every reply is like the placeholder.
func (t Target) requests(p orbench.Prompt) []model.Request {
	if t.Defense == nil {
		return []model.Request{t.Request(p)}
	}
	asked := map[model.Hash]bool{}
	// Replies to different prompts will differ, and so will the questions about them.
	reply := placeholder
	reply.Text += string(p.ID)
	look := func(r model.Request) (model.Response, bool) { return reply, asked[r.Hash()] }
	var all []model.Request
	for {
		_, missing := t.Defense.Answer(t.undefended(), t.framed(p), look)
		if len(missing) == 0 {
			return all
		}
		for _, r := range missing {
			asked[r.Hash()] = true
			all = append(all, r)
		}
	}
}

// missingOf gives the prompts of a chunk without an answer, and the requests
// that the judges of the others lack.
func (r *Run) missingOf(ctx context.Context, m *memo.Memo, c chunk) ([]orbench.Prompt, []model.Request, error) {
	rows, _, requests, err := r.judgeChunk(ctx, m, c)
	if err != nil {
		return nil, nil, err
	}
	var absent []orbench.Prompt
	for _, row := range rows {
		if row.Status == Unanswered || row.Status == Failed {
			absent = append(absent, row.Prompt)
		}
	}
	return absent, requests, nil
}
