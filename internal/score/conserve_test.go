package score

import (
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// tallied counts five rows: two answers, one of them a refusal, one block, one
// failure, one prompt that was never asked; change may spoil the counts.
func tallied(t *testing.T, change func(*Tally)) error {
	t.Helper()
	lexical, err := judge.Parse("lexical", judge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := &Design{
		Targets: []Target{{Name: "m/a", Asked: Asked{Provider: "openai", Model: "gpt-4o"}}}, Datasets: []*dataset.Dataset{{Name: "set", Count: 6}},
		Judges: []judge.Judge{lexical, lexical},
	}
	tally := NewTally(*run)
	verdicts := func(class orbench.Class) []JudgeVerdict {
		v := JudgeVerdict{Judge: "lexical", Verdict: orbench.Verdict{Class: class}}
		return []JudgeVerdict{v, v}
	}
	blocked := model.Response{Finish: model.Blocked, Block: &model.Block{Kind: model.PromptFilter}}
	for i, row := range []AnswerRow{
		{Status: Answered, Response: model.Response{Text: "Yes."}, Verdicts: verdicts(orbench.FullAnswer)},
		{Status: Answered, Response: model.Response{Text: "No."}, Verdicts: verdicts(orbench.Refusal)},
		{Status: Blocked, Response: blocked, Verdicts: verdicts(orbench.Blocked)},
		{Status: Failed},
		{Status: Unanswered},
		{Status: ServedByOther, Response: model.Response{Text: "Yes.", Model: "gpt-4o-mini"}},
	} {
		row.Prompt = orbench.NewPrompt(strings.Repeat("x", i+1), "hate", orbench.Safe)
		tally.Add(Chunk{Prompts: []orbench.Prompt{row.Prompt}, Rows: [][][]AnswerRow{{{row}}}})
	}
	change(tally)
	_, err = tally.Result()
	return err
}

// TestCountsThatDoNotAddUp spoils one count after the other, and finds that no
// result is given and that the error names the run and the count.
func TestCountsThatDoNotAddUp(t *testing.T) {
	t.Parallel()
	result := func(t *Tally) *RunResult { return &t.counts[0][0][orbench.Safe].RunResult }
	first := func(t *Tally) *JudgeResult { return &result(t).Judges[0] }
	for want, spoil := range map[string]func(*Tally){
		"prompts and their fates: 7 and 6":        func(t *Tally) { result(t).N++ },
		"prompts and their fates: 6 and 5":        func(t *Tally) { result(t).Failed-- },
		"failed: 0 and 1":                         func(t *Tally) { result(t).Failed--; result(t).Unanswered++ },
		"unanswered: 2 and 1":                     func(t *Tally) { result(t).Failed--; result(t).Unanswered++ },
		"served by another: 0 and 1":              func(t *Tally) { result(t).ServedByOther--; result(t).Unanswered++ },
		"answered: 3 and 2":                       func(t *Tally) { result(t).Answered++; result(t).Blocked-- },
		"answers and verdicts: 3 and 4":           func(t *Tally) { first(t).Unjudged++ },
		"judged by class: 3 and 4":                func(t *Tally) { first(t).ByClass[orbench.Partial]++ },
		"refused by class: 2 and 3":               func(t *Tally) { first(t).ByClass[orbench.Partial]++ },
		"refused by source: 2 and 1":              func(t *Tally) { delete(first(t).BySource, Direct) },
		"judged by category: 3 and 0":             func(t *Tally) { delete(first(t).ByCategory, "hate") },
		"refused by category: 2 and 1":            func(t *Tally) { first(t).ByCategory["hate"] = Count{N: 3, Refused: 1} },
		"agreement of lexical and lexical: 4 and": func(t *Tally) { result(t).Agreement[0].N++ },
		"rows and prompts: 6 and 7":               func(t *Tally) { t.design.Datasets[0].Count++ },
		"rows and prompts: 6 and 4":               func(t *Tally) { t.design.Limit = 4 },
		"counted prompts and rows: 0 and 6":       func(t *Tally) { clear(t.counts[0][0]) },
		"judged: 2 and 3": func(t *Tally) {
			j := first(t)
			j.Judged, j.Unjudged = 2, 1
			delete(j.ByClass, orbench.FullAnswer)
			j.ByCategory["hate"] = Count{N: 2, Refused: 2}
		},
	} {
		err := tallied(t, spoil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "m/a on set") {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	if err := tallied(t, func(*Tally) {}); err != nil {
		t.Errorf("counts that add up: %v", err)
	}
}

// BenchmarkTally counts rows with two verdicts each, with and without clusters.
func BenchmarkTally(b *testing.B) {
	for name, by := range map[string]string{"plain": "", "clustered": "seed"} {
		b.Run(name, func(b *testing.B) {
			lexical, err := judge.Parse("lexical", judge.Options{})
			if err != nil {
				b.Fatal(err)
			}
			run := &Design{
				Targets: []Target{{Name: "m/a", Asked: Asked{Provider: "openai", Model: "gpt-4o"}}}, Datasets: []*dataset.Dataset{{Name: "set", ClusteredBy: by}},
				Judges: []judge.Judge{lexical, lexical},
			}
			tally := NewTally(*run)
			rows := make([]AnswerRow, 8000)
			for i := range rows {
				v := JudgeVerdict{Judge: "lexical", Verdict: orbench.Verdict{Class: orbench.FullAnswer}}
				rows[i] = AnswerRow{Status: Answered, Prompt: orbench.NewPrompt(strings.Repeat("x", i%99+1), orbench.PaperCategories[i%10], orbench.Safe), Verdicts: []JudgeVerdict{v, v}}
				if by != "" {
					rows[i].Prompt.Cluster = string(rows[i/10].Prompt.ID)
				}
			}
			for i := 0; b.Loop(); i++ {
				tally.add(0, 0, &rows[i%len(rows)])
			}
		})
	}
}
