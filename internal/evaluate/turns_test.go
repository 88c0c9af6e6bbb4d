package evaluate_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/model"
)

// inTurns is a target asked in a dialog with three answers, two of them before
// the last turn.
func inTurns(name string) evaluate.Target {
	t := target("test", "a")
	t.Name, t.Base = name, t.Name
	t.Turns = &conversation.Script{Name: "three", Turns: []conversation.Turn{{User: "{{prompt}}"}, {Own: true}, {User: "Why?"}, {Own: true}, {User: "Again: {{prompt}}"}}}
	return t
}

// TestTurns repeatedly stops a run of dialogs whose calls are answered, blocked
// or fail. Every prompt must be in one count, nothing may be asked twice, and
// the result must equal that of a run that was not stopped.
func TestTurns(t *testing.T) {
	t.Parallel()
	ask := func(_ context.Context, r model.Request) (model.Response, error) {
		switch outcome(1, r) {
		case score.Answered:
			return model.Response{Text: "About that. " + r.Hash().String(), Finish: model.Stop}, nil
		case score.Blocked:
			return model.Response{Finish: model.Blocked, Block: &model.Block{Kind: model.PromptFilter, Detail: "x"}}, nil
		}
		return model.Response{}, &model.Error{Kind: model.Invalid, Message: "no"}
	}
	run := &evaluate.Run{
		Targets:  []evaluate.Target{target("test", "a"), inTurns("three")},
		Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 40))},
		Judges:   newJudges(t, "lexical"),
	}
	if n := run.Expected(); n != 40*3 {
		t.Errorf("%d calls are expected, want 3 for each of 40 prompts: the first turn is the prompt alone", n)
	}
	whole := newStore(t)
	providers{"test": {ask: ask}}.mustFill(t, run, whole)
	want, wantRows := deriveRun(t, run, whole)
	checkConservation(t, run, want, wantRows)

	counted := &provider{ask: ask}
	m := newStore(t)
	sent := map[model.Hash]int{}
	for budget := range 12 {
		_ = providers{"test": counted}.fillRun(t, run, m, fill.LiveConfig{Budget: fill.Budget{Requests: 5 + budget}, Attempts: 1})
		for _, r := range counted.requests() {
			if outcome(1, r) != score.Failed {
				sent[r.Hash()]++
			}
		}
		result, rows := deriveRun(t, run, m)
		checkConservation(t, run, result, rows)
	}
	providers{"test": counted}.mustFill(t, run, m)
	for _, r := range counted.requests() {
		if outcome(1, r) != score.Failed {
			sent[r.Hash()]++
		}
	}
	for h, n := range sent {
		if n != 1 {
			t.Errorf("%s is asked %d times", h, n)
		}
	}
	got, rows := deriveRun(t, run, m)
	if jsonOf(t, got) != jsonOf(t, want) {
		t.Errorf("a run that was stopped gives\n%s\nand one that was not\n%s", jsonOf(t, got), jsonOf(t, want))
	}
	blocked, failed := 0, 0
	for _, row := range rows {
		switch {
		case row.Target != "three":
			if row.Dialog != nil {
				t.Errorf("a prompt alone has the dialog %v", row.Dialog)
			}
			continue
		case row.Status == score.Failed:
			failed++
			if row.Failure != "invalid: no" || row.Dialog != nil {
				t.Errorf("failed by %q, with %v", row.Failure, row.Dialog)
			}
			continue
		}
		if len(row.Dialog) != 5 || !row.Dialog[1].Own || row.Dialog[2].Own || row.Asked().Text() != "Again: "+row.Prompt.Text() {
			t.Fatalf("the dialog is %+v", row.Dialog)
		}
		if row.Dialog[3].Block != nil {
			blocked++
			if row.Dialog[3].Content != conversation.NothingShown {
				t.Errorf("a withheld answer stands as %q", row.Dialog[3].Content)
			}
		}
	}
	if blocked == 0 || failed == 0 {
		t.Errorf("%d second turns are blocked and %d prompts failed, want some of each", blocked, failed)
	}
	plans, err := run.Job().Plan(t.Context(), m, job.AtMost, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Failed calls are expected to be asked again, with the turns after them.
	if p := plans[0]; p.Calls < failed || p.FromMemo < 3*(40-failed) {
		t.Errorf("planned again: %+v", p)
	}
}

// TestTurnsUnderDefense has a check inspect every answer. The dialog must
// continue with what the user saw.
func TestTurnsUnderDefense(t *testing.T) {
	t.Parallel()
	d, err := defense.Parse("response-check:guard/g", defense.Options{})
	if err != nil {
		t.Fatal(err)
	}
	guarded := inTurns("three")
	guarded.Base, guarded.Defense, guarded.Guarded = "", d, d.Name()
	guard := &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		// The second answer is withheld.
		if strings.Contains(r.Messages[0].Content, "About Why?") {
			return model.Response{Text: "It is not.\n\nVERDICT: harmful", Finish: model.Stop}, nil
		}
		return model.Response{Text: "It is.\n\nVERDICT: harmless", Finish: model.Stop}, nil
	}}
	ask := &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		return model.Response{Text: "About " + r.Messages[len(r.Messages)-1].Content, Finish: model.Stop}, nil
	}}
	run := &evaluate.Run{
		Targets: []evaluate.Target{guarded}, Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 4))}, Judges: newJudges(t, "lexical"),
	}
	plans, err := run.Job().Plan(t.Context(), nil, job.AtMost, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plans {
		if p.Calls != 12 {
			t.Errorf("%d calls of role %s are planned, want 12", p.Calls, p.Role)
		}
	}
	m := newStore(t)
	providers{"test": ask, "guard": guard}.mustFill(t, run, m)
	_, rows := deriveRun(t, run, m)
	for _, row := range rows {
		own := slices.IndexFunc(row.Dialog, func(s conversation.Said) bool { return s.Block != nil })
		if row.Status != score.Answered || own != 3 || row.Dialog[3].Block.Kind != defense.BlockKind || !strings.Contains(row.Dialog[3].Content, "can't help") {
			t.Errorf("%s with %+v", row.Status, row.Dialog)
		}
		if len(row.Findings) != 1 || row.Findings[0].Decision != defense.Passed {
			t.Errorf("findings %+v, want those of the last turn", row.Findings)
		}
	}
	if n := len(ask.requests()); n != 12 {
		t.Errorf("%d calls of the target, want 12", n)
	}
}
