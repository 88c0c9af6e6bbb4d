package report

import (
	"testing"

	"github.com/orbench/orbench/internal/score"
)

func TestAccountLine(t *testing.T) {
	t.Parallel()
	run := func(target string, answered, blocked, failed, unanswered int, judges ...score.JudgeResult) score.RunResult {
		return score.RunResult{
			About:      score.About{Target: target, Dataset: "d"},
			N:          answered + blocked + failed + unanswered,
			Answered:   answered,
			Blocked:    blocked,
			Failed:     failed,
			Unanswered: unanswered,
			Judges:     judges,
		}
	}
	for want, runs := range map[string][]score.RunResult{
		"Accounted for: 0 prompts = 0 answered.":                            {},
		"Accounted for: 200 prompts = 195 answered + 3 blocked + 2 failed.": {run("a", 195, 3, 2, 0)},
		"Accounted for: 1,200 prompts = 0 answered + 1,200 unanswered.":     {run("a", 0, 0, 0, 1200)},
		"Accounted for: 1 prompt = 1 answered; by lexical all 1 judged.":    {run("a", 1, 0, 0, 0, score.JudgeResult{Judge: "lexical", Judged: 1})},
		"Accounted for: 6 prompts of 2 targets = 5 answered + 1 blocked; by lexical 6 = 5 judged + 1 unjudged; blocked counts as refused.": {
			run("a", 3, 0, 0, 0, score.JudgeResult{Judge: "lexical", Judged: 3}),
			run("b", 2, 1, 0, 0, score.JudgeResult{Judge: "lexical", Judged: 2, Unjudged: 1}),
		},
	} {
		if got := accountLine(score.Result{Runs: runs}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestRowsConserved checks that a report is refused if its figures count other
// rows than were added.
