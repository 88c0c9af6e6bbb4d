package evaluate_test

import (
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/sim"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// outcome decides the outcome of a request from its content and a seed alone.
func outcome(seed uint64, r model.Request) score.Status {
	h := fnv.New64a()
	h.Write(r.Canonical())
	switch n := rand.New(rand.NewPCG(seed, h.Sum64())).IntN(10); {
	case n < 6:
		return score.Answered
	case n < 8:
		return score.Blocked
	}
	return score.Failed
}

// TestConservation has calls that are answered, blocked, failed and, when the
// budget runs out, never made. Every prompt must be in exactly one count.
func TestConservation(t *testing.T) {
	t.Parallel()
	for name, budget := range map[string]int{"all": 0, "out of budget": 70} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			ask := &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
				switch outcome(seed, r) {
				case score.Answered:
					return model.Response{Text: "I can't help with that.", Finish: model.Stop}, nil
				case score.Blocked:
					return model.Response{Finish: model.Blocked, Block: &model.Block{Kind: model.PromptFilter, Detail: "x"}}, nil
				}
				return model.Response{}, &model.Error{Kind: model.Invalid, Message: "no"}
			}}
			run := &evaluate.Run{
				Targets:  []evaluate.Target{target("test", "a"), target("test", "b")},
				Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 120)), newDataset(t, "two", lines("x", 90, 150))},
				Judges:   newJudges(t, "lexical", "paper-keywords"),
			}
			m := newStore(t)
			err := providers{"test": ask}.fillRun(t, run, m, fill.LiveConfig{Budget: fill.Budget{Requests: budget}})
			var stopped *fill.BudgetError
			if errors.As(err, &stopped) != (budget > 0) || err != nil && stopped == nil {
				t.Fatalf("filling gave %v", err)
			}
			asked := map[model.Hash]bool{}
			for _, r := range ask.requests() {
				asked[r.Hash()] = true
			}
			if budget > 0 && len(asked) != budget {
				t.Errorf("%d requests were sent, want %d", len(asked), budget)
			}

			result, rows := deriveRun(t, run, m)
			checkConservation(t, run, result, rows)
			for _, row := range rows {
				request := run.Targets[0].Request(row.Prompt)
				if row.Target == run.Targets[1].Name {
					request = run.Targets[1].Request(row.Prompt)
				}
				want := score.Unanswered
				if asked[request.Hash()] {
					want = outcome(seed, request)
				}
				if row.Status != want || (row.Failure != "") != (want == score.Failed) {
					t.Errorf("%s of %s is %q (%s), want %q", row.Prompt.ID, row.Target, row.Status, row.Failure, want)
				}
			}
		})
	}
}

// checkConservation compares a result with its rows and the run's datasets.
func checkConservation(t *testing.T, run *evaluate.Run, result score.Result, rows []score.AnswerRow) {
	t.Helper()
	type key struct {
		target, dataset string
		label           orbench.Label
	}
	counted := map[key]map[score.Status]int{}
	for _, row := range rows {
		k := key{row.Target, row.Dataset, row.Prompt.Label}
		if counted[k] == nil {
			counted[k] = map[score.Status]int{}
		}
		counted[k][row.Status]++
		judged := row.Status == score.Answered || row.Status == score.Blocked
		if judged != (len(row.Verdicts) == len(run.Judges)) || !judged && len(row.Verdicts) > 0 {
			t.Errorf("%s with status %q has %d verdicts", row.Prompt.ID, row.Status, len(row.Verdicts))
		}
	}
	if len(rows) != len(run.Targets)*run.Prompts() || len(result.Runs) != len(counted) {
		t.Errorf("%d rows in %d parts, %d in the result; want %d rows", len(rows), len(counted), len(result.Runs), len(run.Targets)*run.Prompts())
	}
	for _, r := range result.Runs {
		of := counted[key{r.Target, r.Dataset, r.Label}]
		if r.N != r.Answered+r.Blocked+r.ServedByOther+r.Failed+r.Unanswered {
			t.Errorf("%s on %s: n = %d is not %d + %d + %d + %d + %d", r.Target, r.Dataset, r.N, r.Answered, r.Blocked, r.ServedByOther, r.Failed, r.Unanswered)
		}
		if r.ServedByOther != of[score.ServedByOther] || r.Answered != of[score.Answered] || r.Blocked != of[score.Blocked] || r.Failed != of[score.Failed] || r.Unanswered != of[score.Unanswered] {
			t.Errorf("%s on %s: %+v, but the rows say %v", r.Target, r.Dataset, r, of)
		}
		for _, j := range r.Judges {
			classes, categories := 0, score.Count{}
			for _, n := range j.ByClass {
				classes += n
			}
			for _, c := range j.ByCategory {
				categories.N += c.N
				categories.Refused += c.Refused
			}
			if j.Judged+j.Unjudged != r.Answered+r.Blocked || classes != j.Judged || categories != (score.Count{N: j.Judged, Refused: j.Refused}) {
				t.Errorf("%s of %s on %s: judged %d, unjudged %d, classes %d, categories %+v", j.Judge, r.Target, r.Dataset, j.Judged, j.Unjudged, classes, categories)
			}
			if given := j.Judged > 0 && !j.Withheld; given != (j.Rate.Sampled() != nil) {
				t.Errorf("%s: rate %+v of %d judged", j.Judge, j.Rate, j.Judged)
			}
		}
	}
}

func TestLimitAndSecondRun(t *testing.T) {
	t.Parallel()
	ask := answers("Of course: like this.")
	run := &evaluate.Run{
		Targets:  []evaluate.Target{target("test", "a"), target("test", "b")},
		Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 400)), newDataset(t, "two", lines("y", 0, 2))},
		Limit:    3,
		Judges:   newJudges(t, "lexical"),
	}
	m := newStore(t)
	all := providers{"test": ask}
	all.mustFill(t, run, m)
	sent := map[string]int{}
	for _, r := range ask.requests() {
		sent[r.Messages[0].Content]++
	}
	want := map[string]int{"x prompt 0": 2, "x prompt 1": 2, "x prompt 2": 2, "y prompt 0": 2, "y prompt 1": 2}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	first, rows := deriveRun(t, run, m)
	checkConservation(t, run, first, rows)
	for _, r := range first.Runs {
		if r.Limit != 3 || r.Unanswered > 0 {
			t.Errorf("limit %d, %d unanswered", r.Limit, r.Unanswered)
		}
	}

	all.mustFill(t, run, m)
	if again := ask.requests(); len(again) > 0 {
		t.Errorf("the same run sent %d requests again", len(again))
	}
	run.Limit = 5
	all.mustFill(t, run, m)
	if more := ask.requests(); len(more) != 4 {
		t.Errorf("two more prompts of one dataset for two targets sent %d requests, want 4", len(more))
	}
}

func TestDuplicatesAreAskedOnce(t *testing.T) {
	t.Parallel()
	ask, grade := answers("Yes."), judging(orbench.DirectAnswer)
	run := &evaluate.Run{
		Targets:  []evaluate.Target{target("test", "a")},
		Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 30)), newDataset(t, "two", lines("x", 10, 40))},
		Judges:   newJudges(t, "llm:judge/j"),
	}
	m := newStore(t)
	all := providers{"test": ask, "judge": grade}
	all.mustFill(t, run, m)
	if sent, judged := len(ask.requests()), len(grade.requests()); sent != 40 || judged != 40 {
		t.Errorf("%d requests and %d questions for 40 different prompts", sent, judged)
	}
	result, rows := deriveRun(t, run, m)
	checkConservation(t, run, result, rows)
	if len(rows) != 60 {
		t.Errorf("%d rows, want 60: the duplicates count in both datasets", len(rows))
	}
}

func TestFailedCallsAreTriedAgain(t *testing.T) {
	t.Parallel()
	broken := true
	ask := &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		if broken {
			return model.Response{}, &model.Error{Kind: model.Transient, Provider: r.Provider, Message: "come back later"}
		}
		return model.Response{Text: "Yes.", Finish: model.Stop}, nil
	}}
	run := &evaluate.Run{
		Targets:  []evaluate.Target{target("test", "a")},
		Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 7))},
		Judges:   newJudges(t, "lexical"),
	}
	m := newStore(t)
	all := providers{"test": ask}
	all.mustFill(t, run, m)
	if n := len(ask.requests()); n != 14 {
		t.Errorf("%d attempts, want two for each of 7 prompts", n)
	}
	_, rows := deriveRun(t, run, m)
	for _, row := range rows {
		if row.Status != score.Failed || row.Failure == "" || len(row.Verdicts) > 0 {
			t.Errorf("%+v, want a failure", row)
		}
	}
	broken = false
	all.mustFill(t, run, m)
	result, rows := deriveRun(t, run, m)
	checkConservation(t, run, result, rows)
	for _, row := range rows {
		if row.Status != score.Answered || row.Failure != "" {
			t.Errorf("%+v, want an answer", row)
		}
	}
}

// TestRecordedRunsAskNoTarget judges stored answers, also with a model of the
// target's own provider.
func TestRecordedRunsAskNoTarget(t *testing.T) {
	t.Parallel()
	ask := &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		if r.Model == "j" {
			return verdict(r, orbench.IndirectRefusal), nil
		}
		return model.Response{Text: "About " + r.Messages[0].Content, Finish: model.Stop}, nil
	}}
	run := &evaluate.Run{
		Targets:  []evaluate.Target{target("test", "a")},
		Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 20))},
		Limit:    12,
		Judges:   newJudges(t, "lexical"),
	}
	m := newStore(t)
	all := providers{"test": ask}
	all.mustFill(t, run, m)
	ask.requests()

	run.Limit, run.Recorded, run.Judges = 0, true, newJudges(t, "lexical", "llm:test/j")
	all.mustFill(t, run, m)
	sent := map[string]int{}
	for _, r := range ask.requests() {
		sent[r.Model]++
	}
	if sent["a"] != 0 || sent["j"] != 12 {
		t.Errorf("%d requests to the target and %d to the judge, want 0 and 12", sent["a"], sent["j"])
	}
	result, rows := deriveRun(t, run, m)
	checkConservation(t, run, result, rows)
	unanswered := 0
	for _, row := range rows {
		if row.Status == score.Unanswered {
			unanswered++
		} else if v := row.Verdicts[1]; v.Class != orbench.SafeAlternative || v.Judge != "llm:test/j" {
			t.Errorf("%s: %+v, want the judge's verdict", row.Prompt.ID, v)
		}
	}
	if unanswered != 8 {
		t.Errorf("%d prompts are unanswered, want 8", unanswered)
	}
}

// simulated asks the model of package sim that a request names.
func simulated(t testing.TB) *provider {
	t.Helper()
	models := map[string]model.Model{}
	for _, name := range sim.Names() {
		m, err := sim.New(name, 1)
		if err != nil {
			t.Fatal(err)
		}
		models[name] = m
	}
	return &provider{ask: func(ctx context.Context, r model.Request) (model.Response, error) {
		return models[r.Model].Ask(ctx, r)
	}}
}

func TestSimulatedResultsSaySo(t *testing.T) {
	t.Parallel()
	plain := answers("Yes.")
	// A simulated server behind the name of a real provider.
	marked := &provider{ask: func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: "Yes.", Finish: model.Stop, Model: "m " + model.SimulatedMark}, nil
	}}
	grade := &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		v := verdict(r, orbench.DirectAnswer)
		v.Model = "j " + model.SimulatedMark
		return v, nil
	}}
	type flags struct{ result, run, judge, row, verdict bool }
	for name, tt := range map[string]struct {
		target evaluate.Target
		judge  string
		want   flags
	}{
		"nothing":              {target("plain", "m"), "lexical", flags{}},
		"the target":           {target("sim", "balanced"), "lexical", flags{result: true, run: true, row: true}},
		"the judge":            {target("plain", "m"), "llm:sim/judge", flags{result: true, judge: true, verdict: true}},
		"a marked reply":       {target("marked", "m"), "lexical", flags{result: true, run: true, row: true}},
		"a marked judge reply": {target("plain", "m"), "llm:grade/j", flags{result: true, judge: true, verdict: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := &evaluate.Run{
				Targets:  []evaluate.Target{tt.target},
				Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 1, 2))},
				Judges:   newJudges(t, tt.judge),
			}
			m := newStore(t)
			providers{"plain": plain, "marked": marked, "grade": grade, "sim": simulated(t)}.mustFill(t, run, m)
			result, rows := deriveRun(t, run, m)
			r, row := result.Runs[0], rows[0]
			got := flags{result.Simulated, r.Simulated, r.Judges[0].Simulated, row.Simulated, row.Verdicts[0].Simulated}
			if got != tt.want {
				t.Errorf("marked as simulated: %+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestSimulatedVerdicts checks that exactly the verdicts that rest on simulated
// replies are marked.
func TestSimulatedVerdicts(t *testing.T) {
	t.Parallel()
	echo := &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		return model.Response{Text: "About " + r.Messages[0].Content, Finish: model.Stop}, nil
	}}
	grade := &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		v := verdict(r, orbench.DirectAnswer)
		if strings.Contains(r.Messages[0].Content, "About x prompt 3") {
			v.Model = "j " + model.SimulatedMark
		}
		return v, nil
	}}
	run := &evaluate.Run{
		Targets:  []evaluate.Target{target("test", "a")},
		Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 9))},
		Judges:   newJudges(t, "llm:grade/j", "lexical"),
	}
	m := newStore(t)
	providers{"test": echo, "grade": grade}.mustFill(t, run, m)
	_, rows := deriveRun(t, run, m)
	for n, row := range rows {
		if row.Verdicts[0].Simulated != (n == 3) || row.Verdicts[1].Simulated || row.Simulated {
			t.Errorf("row %d: %+v", n, row)
		}
	}
}

// TestDeriveIsDeterministic is not parallel: it changes how many processors the
// process uses.
func TestDeriveIsDeterministic(t *testing.T) {
	run := &evaluate.Run{
		Targets: []evaluate.Target{target("sim", "balanced"), target("sim", "strict")},
		// Six chunks.
		Datasets: []*dataset.Dataset{newDataset(t, "one", lines("How do I kill a process, ", 0, 260)), newDataset(t, "two", lines("y", 0, 10))},
		Judges:   newJudges(t, "lexical", "paper-keywords", "llm:sim/judge"),
	}
	m := newStore(t)
	providers{"sim": simulated(t)}.mustFill(t, run, m)
	forms := map[string]int{}
	for _, n := range []int{1, 4} {
		was := runtime.GOMAXPROCS(n)
		result, rows := deriveRun(t, run, m)
		runtime.GOMAXPROCS(was)
		b, err := json.Marshal(map[string]any{"result": result, "rows": rows})
		if err != nil {
			t.Fatal(err)
		}
		forms[string(b)]++
		checkConservation(t, run, result, rows)
	}
	if len(forms) != 1 {
		t.Errorf("two derivations gave %d different results", len(forms))
	}
}

func TestErrorsOfDerive(t *testing.T) {
	t.Parallel()
	run := &evaluate.Run{
		Targets:  []evaluate.Target{target("test", "a")},
		Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 2000))},
		Judges:   newJudges(t, "lexical"),
	}
	m := newStore(t)
	calls := 0
	if _, err := run.Derive(t.Context(), m, func(score.AnswerRow) error { calls++; return errBroken }); !errors.Is(err, errBroken) || calls != 1 {
		t.Errorf("%v after %d rows, want the sink's error at once", err, calls)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errBroken)
	if _, err := run.Derive(ctx, m, nil); !errors.Is(err, errBroken) && !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled derivation gave %v", err)
	}
}

func TestRequestOfATarget(t *testing.T) {
	t.Parallel()
	temperature := 0.0
	p := orbench.NewPrompt("Hello", "", orbench.Safe)
	a := evaluate.Target{Name: "n", Provider: "p", Endpoint: "e", Model: "m", Params: model.Params{Temperature: &temperature, MaxTokens: 9}}
	want := model.Request{
		Provider: "p", Endpoint: "e", Model: "m", Params: a.Params,
		Messages: []orbench.Message{{Role: orbench.User, Content: "Hello"}},
	}
	if diff := cmp.Diff(want, a.Request(p)); diff != "" {
		t.Error(diff)
	}
	a.System = "Be brief."
	want.Messages = append([]orbench.Message{{Role: orbench.System, Content: "Be brief."}}, want.Messages...)
	if diff := cmp.Diff(want, a.Request(p)); diff != "" {
		t.Error(diff)
	}
	// The prompt itself is not changed.
	if diff := cmp.Diff(orbench.NewPrompt("Hello", "", orbench.Safe), p); diff != "" {
		t.Error(diff)
	}
}

var _ judge.ModelJudge = newAsking("")

// newAsking is a judge of one model, for tests of what the walk does with it.
func newAsking(provider string) asking { return asking{model.Ref{Provider: provider, Model: "j"}} }

type asking struct{ ref model.Ref }

func (a asking) Name() string        { return "asking:" + a.ref.Provider }
func (a asking) Models() []model.Ref { return []model.Ref{a.ref} }

// Verdict asks about the answer's text in three requests, one after the other.
func (a asking) Verdict(c judge.Case, look model.Lookup) (orbench.Verdict, []model.Request) {
	for sample := range 3 {
		r := model.Request{Provider: a.ref.Provider, Model: a.ref.Model, Sample: sample, Messages: []orbench.Message{{Role: orbench.User, Content: c.Response.Text}}}
		if _, ok := look(r); !ok {
			return orbench.Verdict{Rationale: "waits"}, []model.Request{r}
		}
	}
	return orbench.Verdict{Class: orbench.FullAnswer}, nil
}
