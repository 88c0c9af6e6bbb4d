package report

import (
	"io"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
)

func TestAccountLine(t *testing.T) {
	t.Parallel()
	run := func(target string, answered, blocked, failed, unanswered int, judges ...score.JudgeResult) score.RunResult {
		return score.RunResult{
			Target: target, Dataset: "d", N: answered + blocked + failed + unanswered,
			Answered: answered, Blocked: blocked, Failed: failed, Unanswered: unanswered, Judges: judges,
		}
	}
	for want, runs := range map[string][]score.RunResult{
		"Accounted for: 0 prompts = 0 answered.":                            {},
		"Accounted for: 200 prompts = 195 answered + 3 blocked + 2 failed.": {run("a", 195, 3, 2, 0)},
		"Accounted for: 1,200 prompts = 0 answered + 1,200 unanswered.":     {run("a", 0, 0, 0, 1200)},
		"Accounted for: 1 prompts = 1 answered; by lexical all 1 judged.":   {run("a", 1, 0, 0, 0, score.JudgeResult{Judge: "lexical", Judged: 1})},
		"Accounted for: 6 prompts of 2 targets = 5 answered + 1 blocked; by lexical 6 = 5 judged + 1 unjudged.": {
			run("a", 3, 0, 0, 0, score.JudgeResult{Judge: "lexical", Judged: 3}),
			run("b", 2, 1, 0, 0, score.JudgeResult{Judge: "lexical", Judged: 2, Unjudged: 1}),
		},
	} {
		if got := accountLine(score.Result{Runs: runs}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestRowsConserved refuses to write a report whose figures count other rows than
// were added.
func TestRowsConserved(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		run  score.RunResult
		want string
	}{
		"whole":           {score.RunResult{Dataset: "d", Label: orbench.Safe, N: 2, Answered: 1, Unanswered: 1}, ""},
		"a row more":      {score.RunResult{Dataset: "d", Label: orbench.Safe, N: 1, Answered: 1}, "on d (safe) count 1 prompts, 0 of them unanswered, but there are 2 rows, 1 of them"},
		"another dataset": {score.RunResult{Dataset: "e", Label: orbench.Safe, N: 2, Unanswered: 1}, "on d (safe) count 0 prompts"},
		"another label":   {score.RunResult{Dataset: "d", Label: orbench.Toxic, N: 2, Unanswered: 1}, "on d (safe) count 0 prompts"},
	} {
		c := NewCollector(io.Discard)
		for i, status := range []score.Status{score.Answered, score.Unanswered} {
			row := score.Row{Target: "t", Dataset: "d", Prompt: orbench.NewPrompt(strings.Repeat("x", i+1), "", orbench.Safe), Status: status}
			if err := c.Add(row); err != nil {
				t.Fatal(err)
			}
		}
		err := c.conserved(score.Result{Runs: []score.RunResult{test.run}})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
