package evaluate_test

import (
	"context"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/defense"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/model"
)

// TestTranslatedTargets has a target that is asked in another language. Prompts
// that cannot be translated are failed, with their own count, and are never
// sent or planned again. Judges see the original prompts.
func TestTranslatedTargets(t *testing.T) {
	t.Parallel()
	d, err := defense.Parse("translate:fr@other/t+response-check:other/g", defense.Options{})
	if err != nil {
		t.Fatal(err)
	}
	french := target("test", "a")
	french.Name, french.Base, french.Defense, french.Guarded = "test/a [fr]", french.Name, d, d.Name()
	translator := &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		question := r.Messages[0].Content
		if !strings.Contains(question, "Language: fr") {
			return model.Response{Text: "All is well.\n\nVERDICT: harmless", Finish: model.Stop}, nil
		}
		_, rest, _ := strings.Cut(question, " WORDS OPENS>>\n")
		words, _, _ := strings.Cut(rest, "\n<<")
		if words == "x prompt 3" {
			return model.Response{Text: "STATUS: declined", Finish: model.Stop}, nil
		}
		return model.Response{Text: "FR " + words + "\n\nSTATUS: translated", Finish: model.Stop}, nil
	}}
	asked := &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		return model.Response{Text: "Voilà: " + r.Messages[0].Content, Finish: model.Stop}, nil
	}}
	all := providers{"test": asked, "other": translator}
	run := &evaluate.Run{
		Targets:  []evaluate.Target{target("test", "a"), french},
		Datasets: []*dataset.Dataset{newDataset(t, "one", lines("x", 0, 10))},
		Judges:   newJudges(t, "lexical"),
	}
	m := newStore(t)
	plans, err := run.Job().Plan(t.Context(), m, job.AtMost)
	if err != nil {
		t.Fatal(err)
	}
	got := map[job.Role]int{}
	for _, p := range plans {
		got[p.Role] += p.Calls
	}
	// The answers in French are checked, and those in the prompts' language are not.
	if got[job.Target] != 20 || got[job.Translator] != 10 || got[job.Guard] != 10 {
		t.Errorf("planned: %v", got)
	}

	all.mustFill(t, run, m)
	for _, r := range asked.requests() {
		if text := r.Messages[0].Content; strings.HasSuffix(text, "x prompt 3") && text != "x prompt 3" {
			t.Errorf("asked %q", text)
		}
	}
	translator.requests()
	rows := map[string]score.AnswerRow{}
	result, err := run.Derive(t.Context(), m, func(r score.AnswerRow) error {
		if r.Target == french.Name {
			rows[r.Prompt.Text()] = r
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// The toxic prompts: 0, 3, 6 and 9.
	plain, inFrench := result.Runs[1], result.Runs[3]
	if plain.Answered != 4 || plain.Untranslated != 0 {
		t.Errorf("plain %+v", plain)
	}
	if inFrench.N != 4 || inFrench.Answered != 3 || inFrench.Failed != 1 || inFrench.Untranslated != 1 || inFrench.Judges[0].Judged != 3 ||
		inFrench.Findings["translate:fr@other/t"][defense.Failed] != 1 || inFrench.Findings["translate:fr@other/t"][defense.Reworded] != 3 {
		t.Errorf("in French %+v", inFrench)
	}
	if r := rows["x prompt 3"]; r.Status != score.Failed || r.Failure != "other/t declined to translate it" || len(r.Verdicts) != 0 {
		t.Errorf("the prompt without a translation: %+v", r)
	}
	if r := rows["x prompt 4"]; r.Response.Text != "Voilà: FR x prompt 4" || r.Findings[0].Why != "FR x prompt 4" || r.Verdicts[0].Class == orbench.Unjudged {
		t.Errorf("a translated prompt: %+v", r)
	}

	// Everything is stored: nothing is planned and nothing sent.
	plans, err = run.Job().Plan(t.Context(), m, job.AtMost)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plans {
		if p.Calls != 0 {
			t.Errorf("planned again: %+v", p)
		}
	}
	all.mustFill(t, run, m)
	if n := len(asked.requests()) + len(translator.requests()); n != 0 {
		t.Errorf("%d calls are made again", n)
	}
}
