package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/score"
)

func TestWarnings(t *testing.T) {
	t.Parallel()
	run := func(target, base, set string, helped ...dataset.Role) score.RunResult {
		return score.RunResult{About: score.About{Target: target, Base: base, Dataset: set, Helped: helped}}
	}
	judged := func(r score.RunResult, judge string, kin score.SelfJudging) score.RunResult {
		r.Judges = append(slices.Clone(r.Judges), score.JudgeResult{Judge: judge, SelfJudging: kin})
		return r
	}
	unread := func(r score.RunResult, read, unread int) score.RunResult {
		j := score.JudgeResult{Judge: "lexical"}
		j.Judged, j.Unjudged = read, unread
		r.Label, r.Answered, r.Judges = orbench.Safe, read+unread, []score.JudgeResult{j}
		return r
	}
	r := score.Result{Runs: []score.RunResult{
		judged(run("m/a", "", "hard", dataset.Moderator, dataset.Selector), "lexical", ""),
		run("m/a defended", "m/a", "hard", dataset.Moderator, dataset.Selector),
		run("m/b", "", "hard", dataset.Moderator, dataset.Selector),
		run("m/c", "", "hard", dataset.SecondChance),
		judged(run("m/d", "", "hard"), "llm:m/d", score.SameModel),
		judged(run("m/e", "", "hard"), "llm:m/d", score.SameFamily),
		unread(run("m/f", "", "hard"), 94, 6),
		unread(run("m/g", "", "hard"), 95, 5),
	}}
	want := []string{
		"Helped to make hard, as moderator and selector: m/a, m/b. A model that chose prompts by refusing them refuses more of them than others do.",
		"Helped to make hard, as second chance: m/c. Compare on prompts that it did not help to make.",
		"Judged by itself: m/d by llm:m/d. Models judge their own answers kindly; add another judge.",
		"Judged by a model of its family: m/e by llm:m/d. Models judge their family's answers kindly; add another judge.",
		"Left unjudged by lexical: m/f (6 of 100 answers to safe prompts of hard). It does not judge languages of which it has no phrases. If that is the cause, use llm:PROVIDER/MODEL or guard:qwen3guard@PROVIDER/MODEL.",
	}
	if got := (View{Result: r}).Warnings(); !slices.Equal(got, want) {
		t.Errorf("the warnings are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := warningsOf(score.Result{Runs: []score.RunResult{run("m/a", "", "mine")}}); got != nil {
		t.Errorf("warnings about nothing: %+v", got)
	}
	var all []string
	for range 20 {
		all = append(all, "m/"+strings.Repeat("x", len(all)))
	}
	if got := listed(all); !strings.HasSuffix(got, " and 12 more") || strings.Count(got, ",") != 7 {
		t.Errorf("20 names are listed as %q", got)
	}
}
