package evaluate_test

import (
	"context"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/model"
)

// TestExpect checks how long answers are expected to be: as long as those of
// the run so far, or else as those of the model to other prompts, or else as a
// guess. A sample of the prompts gives about the same as all of them.
func TestExpect(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	p := &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		return model.Response{Text: "ok", Finish: model.Stop, Usage: model.Usage{Input: 10, Output: 20 + len(r.Messages[0].Content)%5}}, nil
	}}
	run := func(name string, n int) *evaluate.Run {
		r := &evaluate.Run{Targets: []evaluate.Target{target("p", "one")}, Judges: newJudges(t, "lexical")}
		r.Datasets = append(r.Datasets, newDataset(t, name, lines(name, 0, n)))
		return r
	}
	expected := func(r *evaluate.Run, sampled int) job.Plan {
		t.Helper()
		plans, err := r.Job().SampledPlan(t.Context(), m, sampled)
		if err != nil {
			t.Fatal(err)
		}
		if err := job.Expect(t.Context(), m, plans); err != nil {
			t.Fatal(err)
		}
		return plans[0]
	}
	many := run("many", 400)
	// No guess exceeds the calls' token limit, 50 tokens each.
	if e := expected(many, 1000).Expected; e.Replies != 0 || e.OutputTokens != [2]int{400 * 50, 400 * 50} {
		t.Errorf("of nothing: %+v", e)
	}
	other := run("other", 30)
	live := fill.NewLive(m, fill.LiveConfig{})
	live.Lane(model.Ref{Provider: "p", Model: "one"}, p, fill.Limits{Concurrency: 4})
	if err := live.Fill(t.Context(), other.Job().Work(m)); err != nil {
		t.Fatal(err)
	}
	if e := expected(many, 1000).Expected; e.Replies != 30 || e.OutputTokens[0] < 400*20 || e.OutputTokens[1] > 400*24 {
		t.Errorf("by other prompts: %+v", e)
	}
	some := *many
	some.Limit = 50
	if err := live.Fill(t.Context(), some.Job().Work(m)); err != nil {
		t.Fatal(err)
	}
	whole, sample := expected(many, 1000), expected(many, 100)
	if whole.Expected.Replies != 50 || whole.Calls != 350 || sample.Calls < 340 || sample.Calls > 360 || sample.Expected.Replies == 0 {
		t.Errorf("by its own: %+v, %+v; by a sample: %+v, %+v", whole, whole.Expected, sample, sample.Expected)
	}
	prices, err := price.Table{}.With(strings.NewReader(`[{"provider": "p", "model": "one", "input": 1, "output": 2, "as_of": "2026-01-01"}]`), "f")
	if err != nil {
		t.Fatal(err)
	}
	line := job.ExpectedLine([]job.Plan{whole}, prices.Price)
	if !strings.HasPrefix(line, "expected: about 350 calls, about ") || !strings.Contains(line, " output tokens, $0.0") || strings.Contains(line, "guess") {
		t.Error(line)
	}
}
