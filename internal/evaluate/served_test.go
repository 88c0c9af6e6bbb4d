package evaluate_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/model"
)

// servedOtherwise is a provider at which another model answers every request
// that meets a condition.
func servedOtherwise(reply func(model.Request) model.Response, other func(model.Request) bool) *provider {
	return &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		response := reply(r)
		response.Finish, response.Model = model.Stop, r.Model
		if other(r) {
			response.Model = "gpt-4o-mini-2024-07-18"
		}
		return response, nil
	}}
}

// asksAbout reports whether a request is about one of the prompts 0, 4 and 8.
func asksAbout(r model.Request) bool {
	return slices.ContainsFunc(r.Messages, func(m orbench.Message) bool {
		return slices.ContainsFunc([]string{"x prompt 0", "x prompt 4", "x prompt 8"}, func(text string) bool {
			_, behind, ok := strings.Cut(m.Content, text)
			return ok && (behind == "" || behind[0] < '0' || behind[0] > '9')
		})
	})
}

// TestServedByOther has another model answer for three of twelve prompts, in
// every role that a model has in a run. These prompts must be counted
// separately, or have no verdict.
func TestServedByOther(t *testing.T) {
	t.Parallel()
	said := func(text string) func(model.Request) model.Response {
		return func(model.Request) model.Response { return model.Response{Text: text} }
	}
	never := func(model.Request) bool { return false }
	defended := func(spec string) evaluate.Target {
		one := target("test", "gpt-4o")
		var err error
		if one.Defense, err = defense.Parse(spec, defense.Options{}); err != nil {
			t.Fatal(err)
		}
		one.Guarded = one.Defense.Name()
		return one
	}
	inDialog := inTurns("dialog")
	inDialog.Model = "gpt-4o"
	asGuard := target("test", "gpt-4o")
	asGuard.Guard = &guard.Guard{Format: "qwen3guard"}
	judging := func(r model.Request) model.Response { return verdict(r, orbench.DirectAnswer) }
	for name, tc := range map[string]struct {
		target       evaluate.Target
		judge        string
		asked, other *provider
		// want is the outcome of the three prompts; calls is how many calls the
		// two models got.
		want          score.Status
		calls, beside int
		why           string
	}{
		"the target": {
			target: target("test", "gpt-4o"), judge: "llm:other/gpt-4o", asked: servedOtherwise(said("Yes."), asksAbout), other: servedOtherwise(judging, never),
			want: score.ServedByOther, calls: 12, beside: 9,
		},
		"a turn of its dialog": {
			target: inDialog, judge: "lexical", asked: servedOtherwise(said("Yes."), func(r model.Request) bool { return asksAbout(r) && len(r.Messages) == 3 }),
			want: score.ServedByOther, calls: 9*3 + 3*2,
		},
		"a guard that is measured": {
			target: asGuard, judge: "flag", asked: servedOtherwise(said("Safety: Unsafe\nCategories: Violent"), asksAbout),
			want: score.ServedByOther, calls: 12,
		},
		"some copies of a prompt": {
			target: defended("smoothllm"), judge: "lexical", asked: servedOtherwise(said("Yes."), func(r model.Request) bool { return r.Sample%2 == 0 }),
			want: score.Answered, calls: 119, // two copies have the same result
		},
		"the target, before its answer is inspected": {
			target: defended("output-guard:other/gpt-4o"), judge: "lexical", asked: servedOtherwise(said("Yes."), asksAbout), other: servedOtherwise(said("VOTE: none"), never),
			want: score.ServedByOther, calls: 12, beside: 9 * 2,
		},
		"who inspects prompts": {
			target: defended("input-guard:other/gpt-4o"), judge: "lexical", asked: servedOtherwise(said("Yes."), never), other: servedOtherwise(said("x"), func(model.Request) bool { return true }),
			want: score.Answered, calls: 12, beside: 12, why: "gpt-4o-mini-2024-07-18 answered instead",
		},
		"the judge": {
			target: target("test", "gpt-4o"), judge: "llm:other/gpt-4o", asked: servedOtherwise(said("Yes."), never), other: servedOtherwise(judging, asksAbout),
			want: score.Answered, calls: 12, beside: 12, why: "no verdict from other/gpt-4o: gpt-4o-mini-2024-07-18 answered instead",
		},
	} {
		run := &evaluate.Run{
			Targets: []evaluate.Target{tc.target}, Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 12))},
			Judges: newJudges(t, tc.judge),
		}
		if tc.other == nil {
			tc.other = answers("nothing")
		}
		all, m := providers{"test": tc.asked, "other": tc.other}, newStore(t)
		all.mustFill(t, run, m)
		if calls, beside := len(tc.asked.requests()), len(tc.other.requests()); calls != tc.calls || beside != tc.beside {
			t.Errorf("%s: %d calls and %d beside, want %d and %d", name, calls, beside, tc.calls, tc.beside)
		}
		result, rows := deriveRun(t, run, m)
		checkConservation(t, run, result, rows)
		other, unjudged := 0, 0
		for _, of := range result.Runs {
			other, unjudged = other+of.ServedByOther, unjudged+of.Judges[0].ServedByOther
		}
		wantOther, wantUnjudged := 0, 0
		if tc.want == score.ServedByOther {
			wantOther = 3
		}
		if name == "the judge" {
			wantUnjudged = 3
		}
		if other != wantOther || unjudged != wantUnjudged {
			t.Errorf("%s: %d answers and %d verdicts are another model's, want %d and %d", name, other, unjudged, wantOther, wantUnjudged)
		}
		for _, row := range rows {
			if !asksAbout(model.Request{Messages: row.Prompt.Messages}) {
				continue
			}
			if row.Status != tc.want || tc.want == score.ServedByOther && len(row.Verdicts) > 0 {
				t.Errorf("%s: %s is %s with %d verdicts, want %s", name, row.Prompt.Text(), row.Status, len(row.Verdicts), tc.want)
			}
			if row.Status == score.Answered && row.Response.Model != "gpt-4o" {
				t.Errorf("%s: the answer to %s is that of %s", name, row.Prompt.Text(), row.Response.Model)
			}
			why := row.Failure
			for _, f := range row.Findings {
				why += f.Why
			}
			for _, v := range row.Verdicts {
				why += v.Rationale
			}
			if !strings.Contains(why, tc.why) {
				t.Errorf("%s: %s says %q, want %q", name, row.Prompt.Text(), why, tc.why)
			}
		}

		// If the name is accepted, all of them count.
		run.Accepted = []string{"gpt-4o-mini-2024-07-18"}
		all.mustFill(t, run, m)
		result, rows = deriveRun(t, run, m)
		checkConservation(t, run, result, rows)
		for _, of := range result.Runs {
			if of.ServedByOther+of.Judges[0].ServedByOther+of.Failed+of.Unanswered > 0 || of.Judges[0].Unjudged > 0 {
				t.Errorf("%s: with the name accepted it is %+v", name, of)
			}
		}
	}
}
