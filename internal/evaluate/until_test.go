package evaluate_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// stoppingRun is a run that ends by itself at 12 points, of two targets.
func stoppingRun(t *testing.T, specs ...string) *evaluate.Run {
	t.Helper()
	set := newDataset(t, "many", lines("many", 0, 300))
	judges := newJudges(t, specs...)
	r := &evaluate.Run{Targets: []evaluate.Target{target("p", "one"), target("p", "two")}, Judges: judges}
	r.Datasets = append(r.Datasets, set)
	r.Until = &evaluate.Until{Rule: evaluate.Rule{HalfWidth: 0.12, Seed: 3}, Targets: r.Targets, Judge: judges[0]}
	return r
}

// fillRounds fills the rounds of a run, with a budget of most requests.
func fillRounds(t *testing.T, r *evaluate.Run, m *store.Store, p model.Model, most int) error {
	t.Helper()
	live := fill.NewLive(m, fill.LiveConfig{Attempts: 1, Budget: fill.Budget{Requests: most}})
	live.Lane(model.Ref{Provider: "p", Model: "one"}, p, fill.Limits{Concurrency: 4})
	return r.Job().Fill(t.Context(), live, m)
}

// refusingTenth is a model that refuses about a tenth of the prompts, by their
// number, and fails on those that fails selects.
func refusingTenth(fails func(n int) bool) *provider {
	return &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		var n int
		if _, err := fmt.Sscanf(r.Messages[0].Content, "many prompt %d", &n); err != nil {
			return model.Response{}, err
		}
		if fails != nil && fails(n) {
			return model.Response{}, &model.Error{Kind: model.Invalid, Provider: "p", Model: r.Model, Err: errors.New("not this one")}
		}
		text := "Here is how it is done: first, you begin."
		if n%10 == 4 {
			text = "I'm sorry, but I can't help with that."
		}
		return model.Response{Text: text, Finish: model.Stop}, nil
	}}
}

// TestUntil checks that a run ends by itself, at the same prompts however often
// it was stopped, and that rates get the intervals of their sequences.
func TestUntil(t *testing.T) {
	t.Parallel()
	r, m, p := stoppingRun(t, "lexical"), newStore(t), refusingTenth(nil)
	if err := fillRounds(t, r, m, p, 0); err != nil {
		t.Fatal(err)
	}
	want, err := r.Derive(t.Context(), m, nil)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, run := range want.Runs {
		asked += run.N
		ci := run.Judges[0].Rate.Sampling
		if run.N >= run.Of || run.Unanswered > 0 || ci == nil || ci.Hi-ci.Lo > 0.24 || ci.Lo > 0.1 || ci.Hi < 0.1 {
			t.Errorf("%s, %s: %d of %d, %d unanswered, interval %v", run.Target, run.Label, run.N, run.Of, run.Unanswered, ci)
		}
	}
	if len(p.sent) != asked || asked == 0 {
		t.Errorf("%d requests for %d answers", len(p.sent), asked)
	}

	again, broken := newStore(t), refusingTenth(nil)
	stops := 0
	for most := 29; ; stops++ {
		err := fillRounds(t, r, again, broken, most)
		if err == nil {
			break
		}
		var budget *fill.BudgetError
		if !errors.As(err, &budget) || stops > 100 {
			t.Fatal(err)
		}
		if _, err := r.Derive(t.Context(), again, nil); err != nil {
			t.Fatalf("after %d stops: %v", stops, err)
		}
	}
	got, err := r.Derive(t.Context(), again, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" || stops == 0 || len(broken.sent) != asked {
		t.Errorf("after %d stops and %d requests: -want +got\n%s", stops, len(broken.sent), diff)
	}

	// A report on one target alone, or with other judges, shows the prompts
	// that the run asked.
	alone := *r
	alone.Targets, alone.Judges, alone.Recorded = r.Targets[:1], newJudges(t, "paper-keywords"), true
	shown, err := alone.Derive(t.Context(), m, nil)
	if err != nil || shown.Runs[0].N != want.Runs[0].N || shown.Runs[1].N != want.Runs[1].N {
		t.Errorf("one target alone: %+v, %v", shown.Runs, err)
	}

	// All answers of the dataset are stored. The run must still end where it
	// did.
	whole := *r
	whole.Until = nil
	if err := fillRounds(t, &whole, m, p, 0); err != nil || len(p.sent) != 600 {
		t.Fatalf("%d requests, %v", len(p.sent), err)
	}
	if got, err := r.Derive(t.Context(), m, nil); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("with all answers: %v, -want +got\n%s", err, cmp.Diff(want, got))
	}
}

// TestUntilFailures checks that unknown verdicts count both ways, and that the
// run continues.
func TestUntilFailures(t *testing.T) {
	t.Parallel()
	r, m := stoppingRun(t, "lexical"), newStore(t)
	if err := fillRounds(t, r, m, refusingTenth(func(n int) bool { return n%20 == 5 }), 0); err != nil {
		t.Fatal(err)
	}
	failing, err := r.Derive(t.Context(), m, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range failing.Runs {
		ci := run.Judges[0].Rate.Sampling
		if run.Failed == 0 || run.Unanswered > 0 || run.N < run.Of && (ci == nil || ci.Hi-ci.Lo > 0.24) {
			t.Errorf("%s, %s: %d of %d, %d failed, %d unanswered, interval %v", run.Target, run.Label, run.N, run.Of, run.Failed, run.Unanswered, ci)
		}
	}
	mended := refusingTenth(nil)
	if err := fillRounds(t, r, m, mended, 0); err != nil || len(mended.sent) == 0 {
		t.Fatalf("%d failed calls were tried again, %v", len(mended.sent), err)
	}
	got, err := r.Derive(t.Context(), m, nil)
	if err != nil || got.Runs[0].Failed > 0 || got.Runs[0].N > failing.Runs[0].N {
		t.Errorf("mended: %d failed of %d, before of %d, %v", got.Runs[0].Failed, got.Runs[0].N, failing.Runs[0].N, err)
	}
}

// TestUntilSamples asks each prompt several times, so that the mean over the
// prompts decides, and has a model as the judge, whose replies come after the
// answers.
func TestUntilSamples(t *testing.T) {
	t.Parallel()
	r, m := stoppingRun(t, "llm:p/judge"), newStore(t)
	r.Targets = []evaluate.Target{target("p", "one")}
	r.Targets[0].Samples = 3
	r.Until.Targets = r.Targets
	answers := refusingTenth(nil)
	p := &provider{ask: func(ctx context.Context, q model.Request) (model.Response, error) {
		if q.Model == "judge" {
			return model.Response{Text: "It declines.\n\nVERDICT: direct_refusal", Finish: model.Stop}, nil
		}
		return answers.ask(ctx, q)
	}}
	if err := fillRounds(t, r, m, p, 0); err != nil {
		t.Fatal(err)
	}
	result, err := r.Derive(t.Context(), m, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range result.Runs {
		ci := run.Judges[0].Rate.Sampling
		if run.Samples != 3 || ci == nil || ci.Hi-ci.Lo > 0.24 || run.N >= 3*run.Of {
			t.Errorf("%s: %d answers of %d prompts, judged %+v", run.Label, run.N, run.Of, run.Judges[0])
		}
	}
}

func TestUntilPlan(t *testing.T) {
	t.Parallel()
	r, m, p := stoppingRun(t, "lexical"), newStore(t), refusingTenth(nil)
	count := func() (least, most int) {
		t.Helper()
		plans, err := r.Job().Plan(t.Context(), m, job.AtMost, nil)
		if err != nil {
			t.Fatal(err)
		}
		fewest, err := r.Job().Plan(t.Context(), m, job.AtLeast, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range plans {
			least, most = least+fewest[i].Calls, most+plans[i].Calls
		}
		return least, most
	}
	least, most := count()
	if err := fillRounds(t, r, m, p, 30); err == nil {
		t.Fatal("no budget")
	}
	later, laterMost := count()
	if err := fillRounds(t, r, m, p, 0); err != nil {
		t.Fatal(err)
	}
	if n := len(p.sent); least == 0 || least > n || n > most || most != 600 || later+30 > n || later == 0 || laterMost != 570 {
		t.Errorf("%d calls; planned %d to %d, after 30 calls %d to %d", n, least, most, later, laterMost)
	}
	if least, _ := count(); least != 0 {
		t.Errorf("%d calls are planned for a run that has ended", least)
	}
}
