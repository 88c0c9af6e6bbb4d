package evaluate_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// TestJudgesThatRamble has a judge whose first replies cannot be read. It must
// be asked once more; answers with replies that stay unreadable are unjudged
// and in no other count.
func TestJudgesThatRamble(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		readable int // the first sample with a verdict
		asked    int
		want     orbench.Class
	}{
		"at once":             {0, 5, orbench.Refusal},
		"when it tries again": {1, 10, orbench.Refusal},
		"the third time":      {2, 15, orbench.Refusal},
		"never":               {99, 15, orbench.Unjudged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			grade := &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
				if r.Sample < tt.readable {
					return model.Response{Text: "It could be direct_refusal or direct_answer.", Finish: model.Stop}, nil
				}
				return verdict(r, orbench.DirectRefusal), nil
			}}
			run := &evaluate.Run{
				Targets:  []evaluate.Target{target("test", "a")},
				Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 5))},
				Judges:   newJudges(t, "llm:judge/j"),
			}
			m := newStore(t)
			all := providers{"test": answers("Yes."), "judge": grade}
			all.mustFill(t, run, m)
			if n := len(grade.requests()); n != tt.asked {
				t.Errorf("%d questions, want %d", n, tt.asked)
			}
			result, rows := deriveRun(t, run, m)
			checkConservation(t, run, result, rows)
			for _, row := range rows {
				v := row.Verdicts[0]
				if row.Status != score.Answered || v.Class != tt.want || (v.Class == orbench.Unjudged) != strings.Contains(v.Rationale, "asked again") {
					t.Errorf("%s: %+v, want %q", row.Prompt.ID, v, tt.want)
				}
			}
			all.mustFill(t, run, m)
			if n := len(grade.requests()); n != 0 {
				t.Errorf("the same run again sent %d questions", n)
			}
		})
	}
}

// TestJudgesMissNothing has a fast judge and slow targets, one of which
// finishes long after the other. All answers must be judged, in about the
// targets' time.
func TestJudgesMissNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := func(each time.Duration) *provider {
			return &provider{ask: func(context.Context, model.Request) (model.Response, error) {
				time.Sleep(each)
				return model.Response{Text: "Yes.", Finish: model.Stop}, nil
			}}
		}
		grade := judging(orbench.DirectAnswer)
		var before int // questions while the slower target was still answering
		last := slow(10 * time.Second)
		answer := last.ask
		last.ask = func(ctx context.Context, r model.Request) (model.Response, error) {
			response, err := answer(ctx, r)
			grade.mu.Lock()
			before = len(grade.sent)
			grade.mu.Unlock()
			return response, err
		}
		run := &evaluate.Run{
			Targets:  []evaluate.Target{target("slow", "a"), target("slower", "b")},
			Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 12))},
			Judges:   newJudges(t, "llm:judge/j"),
		}
		m := newStore(t)
		began := time.Now()
		providers{"slow": slow(time.Second), "slower": last, "judge": grade}.mustFill(t, run, m)
		// 12 answers by 4 calls at once take 3 rounds of 10 s.
		if took := time.Since(began); took > 40*time.Second {
			t.Errorf("filling took %v, with 30 s of the slower target", took)
		}
		// The two targets give the same answers, so the questions are the same.
		if n := len(grade.requests()); n != 12 || before == 0 {
			t.Errorf("%d questions, %d of them while the targets answered; want 12, and some", n, before)
		}
		result, rows := deriveRun(t, run, m)
		checkConservation(t, run, result, rows)
		for _, row := range rows {
			if len(row.Verdicts) != 1 || row.Verdicts[0].Class != orbench.FullAnswer {
				t.Errorf("%s of %s: %+v, want a verdict", row.Prompt.ID, row.Target, row.Verdicts)
			}
		}
	})
}

// TestJudgeOnTheTargetsLane has a model judge answers of its own provider,
// which needs another pass over the same lane.
func TestJudgeOnTheTargetsLane(t *testing.T) {
	t.Parallel()
	both := &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		if r.Model == "j" {
			return verdict(r, orbench.DirectRefusal), nil
		}
		return model.Response{Text: "Answer to " + r.Messages[0].Content, Finish: model.Stop}, nil
	}}
	run := &evaluate.Run{
		Targets:  []evaluate.Target{target("test", "a"), target("test", "b")},
		Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 20)), newDataset(t, "two", lines("y", 0, 20))},
		Judges:   newJudges(t, "llm:test/j", "panel:majority(llm:test/j,lexical,paper-keywords)"),
	}
	m := newStore(t)
	all := providers{"test": both}
	all.mustFill(t, run, m)
	// Both targets give the same answers.
	if n := len(both.requests()); n != 80+40 {
		t.Errorf("%d requests, want 80 to the targets and 40 to the judge", n)
	}
	_, rows := deriveRun(t, run, m)
	for _, row := range rows {
		if len(row.Verdicts) != 2 || row.Verdicts[0].Class != orbench.Refusal {
			t.Errorf("%s: %+v, want a verdict of each judge", row.Prompt.ID, row.Verdicts)
		}
	}
}

// TestBudgetStopsEveryLane has the judge use up the budget that the targets
// left.
func TestBudgetStopsEveryLane(t *testing.T) {
	t.Parallel()
	run := &evaluate.Run{
		Targets:  []evaluate.Target{target("test", "a")},
		Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 20))},
		Judges:   newJudges(t, "llm:judge/j"),
	}
	m := newStore(t)
	ask, grade := answers("Yes."), judging(orbench.DirectAnswer)
	all := providers{"test": ask, "judge": grade}
	err := all.fillRun(t, run, m, fill.LiveConfig{Budget: fill.Budget{Requests: 25}})
	var stopped *fill.BudgetError
	if !errors.As(err, &stopped) {
		t.Errorf("the error is %v, want the budget's", err)
	}
	if n := len(ask.requests()) + len(grade.requests()); n != 25 {
		t.Errorf("%d requests, want 25", n)
	}
	all.mustFill(t, run, m)
	if n := len(ask.requests()) + len(grade.requests()); n != 15 {
		t.Errorf("the next command sent %d requests, want the other 15", n)
	}
}

// TestJudgingInRounds has a judge whose requests depend on its earlier replies.
func TestJudgingInRounds(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	j := newAsking("judge")
	cases := []judge.Case{
		{Prompt: orbench.NewPrompt("p", "", orbench.Safe), Response: model.Response{Text: "one", Finish: model.Stop}},
		{Prompt: orbench.NewPrompt("q", "", orbench.Safe), Response: model.Response{Text: "two", Finish: model.Stop}},
	}
	live := fill.NewLive(m, fill.LiveConfig{})
	live.Lane(j.Models()[0], answers("ok"), fill.Limits{Concurrency: 2})
	for round := range 4 {
		verdicts := make([]orbench.Verdict, 2*len(cases))
		var steps []model.Step
		for i := range verdicts {
			steps = append(steps, func(look model.Lookup) (missing []model.Request) {
				verdicts[i], missing = j.Verdict(cases[i/2], look)
				return missing
			})
		}
		lacking, err := fill.Recall(t.Context(), m, steps, nil)
		if err != nil {
			t.Fatal(err)
		}
		missing := slices.Concat(lacking...)
		wantMissing, want := 2, orbench.Unjudged
		if round == 3 {
			wantMissing, want = 0, orbench.FullAnswer
		}
		distinct := map[model.Hash]bool{}
		for _, r := range missing {
			distinct[r.Hash()] = true
			if r.Sample != round {
				t.Errorf("round %d lacks sample %d", round, r.Sample)
			}
		}
		if len(distinct) != wantMissing {
			t.Errorf("round %d lacks %d requests, want %d", round, len(distinct), wantMissing)
		}
		for _, v := range verdicts {
			if v.Class != want {
				t.Errorf("round %d: %+v, want %q", round, v, want)
			}
		}
		if err := live.Fill(t.Context(), fill.Work{Fixed: func(context.Context) iter.Seq2[model.Request, error] {
			return func(yield func(model.Request, error) bool) {
				for _, r := range missing {
					if !yield(r, nil) {
						return
					}
				}
			}
		}}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPlanIsWhatFillSends compares a plan with the requests that follow it, for
// datasets that share prompts, some stored answers, and judges that share a
// model.
func TestPlanIsWhatFillSends(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		targets  []evaluate.Target
		judges   []string
		before   int // the limit of an earlier run
		recorded bool
	}{
		"offline judges":           {[]evaluate.Target{target("test", "a"), target("test", "b")}, []string{"lexical", "paper-keywords"}, 0, false},
		"a part is remembered":     {[]evaluate.Target{target("test", "a"), target("other", "b")}, []string{"lexical"}, 15, false},
		"a judge":                  {[]evaluate.Target{target("test", "a")}, []string{"llm:judge/j"}, 0, false},
		"a judge, part remembered": {[]evaluate.Target{target("test", "a")}, []string{"llm:judge/j"}, 15, false},
		"judges share a model":     {[]evaluate.Target{target("test", "a")}, []string{"llm:judge/j", "panel:majority(llm:judge/j,lexical)"}, 15, false},
		"recorded":                 {[]evaluate.Target{target("test", "a")}, []string{"llm:judge/j", "panel:majority(llm:judge/j,lexical)"}, 15, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			echo := func() *provider {
				return &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
					return model.Response{Text: "About " + r.Messages[0].Content, Finish: model.Stop}, nil
				}}
			}
			grade := judging(orbench.DirectAnswer)
			all := providers{"test": echo(), "other": echo(), "judge": grade}
			run := &evaluate.Run{
				Targets:  tt.targets,
				Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 30)), newDataset(t, "two", lines("x", 20, 40))},
				Judges:   newJudges(t, "lexical"),
			}
			m := newStore(t)
			if tt.before > 0 {
				run.Limit = tt.before
				all.mustFill(t, run, m)
				for _, p := range all {
					p.requests()
				}
			}
			run.Limit, run.Judges, run.Recorded = 0, newJudges(t, tt.judges...), tt.recorded
			plans, err := run.Job().Plan(t.Context(), m, job.AtMost, nil)
			if err != nil {
				t.Fatal(err)
			}
			all.mustFill(t, run, m)
			sent := map[string]int{}
			for _, p := range all {
				for _, r := range p.requests() {
					sent[r.Provider+"/"+r.Model]++
				}
			}
			for _, p := range plans {
				name := p.Provider + "/" + p.Model
				if p.Calls != sent[name] {
					t.Errorf("%d calls of %s are planned, %d were sent", p.Calls, name, sent[name])
				}
				if p.Judge != (p.Provider == "judge") || p.Calls > 0 && (p.InputTokens == 0 || p.MaxOutputTokens < p.Calls*50) {
					t.Errorf("plan %+v", p)
				}
				delete(sent, name)
			}
			if len(sent) > 0 {
				t.Errorf("not planned: %v", sent)
			}
			after, err := run.Job().Plan(t.Context(), m, job.AtMost, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range after {
				if p.Calls != 0 {
					t.Errorf("when all is done the plan is %+v", p)
				}
				if want := 50; !p.Judge && !tt.recorded && p.FromMemo != want {
					t.Errorf("%d answers of %s are from the store, want %d", p.FromMemo, p.Model, want)
				}
			}
		})
	}
}

func TestPlanWithoutAMemo(t *testing.T) {
	t.Parallel()
	run := &evaluate.Run{
		Targets:  []evaluate.Target{target("test", "a")},
		Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 30))},
		Limit:    10,
		Judges:   newJudges(t, "llm:judge/j"),
	}
	plans, err := run.Job().Plan(t.Context(), nil, job.AtMost, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(plans) != 2 || plans[0].Calls != 10 || plans[1].Calls != 10 || !plans[1].Judge {
		t.Errorf("plans %+v, want 10 calls of each", plans)
	}
	if u := plans[0].Usage(); u.Output != 500 || u.Input != plans[0].InputTokens {
		t.Errorf("usage %+v", u)
	}
}

// TestJudgeThatFails checks that a failing judge leaves answers unjudged, that
// the run ends, and that the next command tries it again.
func TestJudgeThatFails(t *testing.T) {
	t.Parallel()
	down := true
	grade := &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		if down {
			return model.Response{}, &model.Error{Kind: model.Transient, Provider: r.Provider, Message: "down"}
		}
		return verdict(r, orbench.DirectRefusal), nil
	}}
	run := &evaluate.Run{
		Targets:  []evaluate.Target{target("test", "a")},
		Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 8))},
		Judges:   newJudges(t, "llm:judge/j", "lexical"),
	}
	m := newStore(t)
	all := providers{"test": answers("Yes, like this."), "judge": grade}
	all.mustFill(t, run, m)
	if n := len(grade.requests()); n != 16 {
		t.Errorf("%d questions, want two attempts for each of 8 answers", n)
	}
	result, rows := deriveRun(t, run, m)
	checkConservation(t, run, result, rows)
	for _, r := range result.Runs {
		if j := r.Judges[0]; j.Unjudged != r.N || j.Rate.Value != nil || r.Agreement[0].N != 0 || r.Agreement[0].Kappa.Value != nil {
			t.Errorf("%s: %+v, %+v; want nothing judged", r.Label, j, r.Agreement[0])
		}
		if j := r.Judges[1]; j.Judged != r.N {
			t.Errorf("%s: %+v, want the other judge's verdicts", r.Label, j)
		}
	}
	down = false
	all.mustFill(t, run, m)
	result, _ = deriveRun(t, run, m)
	for _, r := range result.Runs {
		if j := r.Judges[0]; j.Refused != r.N || r.Agreement[0].N != r.N || r.Agreement[0].OnlyA != float64(r.N) {
			t.Errorf("%s: %+v, %+v; want all refused", r.Label, j, r.Agreement[0])
		}
	}
}

// TestStoppedMidwayTargetsAreEquallyFar stops a run on one lane while its
// targets are asked, and then while two judges are. No target and no judge may
// be ahead of the other by more than the calls in progress.
func TestStoppedMidwayTargetsAreEquallyFar(t *testing.T) {
	t.Parallel()
	const prompts, underWay = 30, 4
	both := &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		if strings.HasPrefix(r.Model, "j") {
			return verdict(r, orbench.DirectRefusal), nil
		}
		return model.Response{Text: r.Model + " answers " + r.Messages[0].Content, Finish: model.Stop}, nil
	}}
	run := &evaluate.Run{
		Targets:  []evaluate.Target{target("test", "a"), target("test", "b")},
		Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, prompts))},
		Judges:   newJudges(t, "llm:test/j1", "llm:test/j2"),
	}
	m := newStore(t)
	for _, stop := range []struct {
		after  int
		models []string
	}{
		{prompts, []string{"a", "b"}},
		{prompts + 2*prompts, []string{"j1", "j2"}},
	} {
		err := providers{"test": both}.fillRun(t, run, m, fill.LiveConfig{Budget: fill.Budget{Requests: stop.after}})
		var stopped *fill.BudgetError
		if !errors.As(err, &stopped) {
			t.Fatalf("the error is %v, want the budget's", err)
		}
		sent, about := map[string]int{}, map[string]int{}
		for _, r := range both.requests() {
			sent[r.Model]++
			for _, target := range []string{"a", "b"} {
				if strings.Contains(r.Messages[len(r.Messages)-1].Content, target+" answers x prompt") {
					about[target]++
				}
			}
		}
		if d := sent[stop.models[0]] - sent[stop.models[1]]; max(d, -d) > underWay || sent[stop.models[0]] < prompts/3 {
			t.Errorf("%v requests after %d, want as many of each of %v", sent, stop.after, stop.models)
		}
		if d := about["a"] - about["b"]; max(d, -d) > underWay {
			t.Errorf("%v verdicts asked for, want as many on the answers of each target", about)
		}
	}
}
