package tradeoff

import (
	"fmt"
	"slices"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
)

func TestPairs(t *testing.T) {
	t.Parallel()
	run := func(target, dataset string, label orbench.Label, judges ...string) score.RunResult {
		r := score.RunResult{About: score.About{Target: target, Dataset: dataset, DatasetSHA256: "sha of " + dataset, Label: label}, N: 2, Answered: 2}
		for _, j := range judges {
			r.Judges = append(r.Judges, score.JudgeResult{Judge: j, Judged: 2, Refused: 1})
		}
		r.Finish()
		return r
	}
	const safe, toxic = orbench.Safe, orbench.Toxic
	tests := map[string]struct {
		runs []score.RunResult
		want []string
	}{
		"one dataset": {
			[]score.RunResult{run("a", "starter", safe, "j"), run("a", "starter", toxic, "j")},
			[]string{"a j starter/starter"},
		},
		"two datasets of one side each": {
			[]score.RunResult{run("a", "hard", safe, "j"), run("a", "toxic", toxic, "j")},
			[]string{"a j hard/toxic"},
		},
		"two safe ones share the toxic one": {
			[]score.RunResult{run("a", "80k", safe, "j"), run("a", "hard", safe, "j"), run("a", "toxic", toxic, "j")},
			[]string{"a (80k × toxic) j 80k/toxic", "a (hard × toxic) j hard/toxic"},
		},
		"a safe one beside a whole dataset": {
			[]score.RunResult{run("a", "hard", safe, "j"), run("a", "starter", safe, "j"), run("a", "starter", toxic, "j")},
			[]string{"a (starter) j starter/starter", "a (hard) j hard/-"},
		},
		"toxic only": {
			[]score.RunResult{run("a", "toxic", toxic, "j")},
			[]string{"a j -/toxic"},
		},
		"two targets, two judges": {
			[]score.RunResult{
				run("a", "s", safe, "j", "k"), run("b", "s", safe, "j", "k"),
				run("a", "s", toxic, "j", "k"), run("b", "s", toxic, "j", "k"),
			},
			[]string{"a j s/s", "a k s/s", "b j s/s", "b k s/s"},
		},
		"a judge of one side": {
			[]score.RunResult{run("a", "s", safe, "j"), run("a", "s", toxic, "j", "k")},
			[]string{"a j s/s", "a k -/s"},
		},
		"controversial prompts count for neither": {
			[]score.RunResult{run("a", "s", orbench.Controversial, "j")},
			nil,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dataset := func(s *score.Side) string {
				if s == nil {
					return "-"
				}
				return s.Run.Dataset
			}
			var got []string
			for _, p := range (&score.Result{Runs: tt.runs}).Pairs() {
				got = append(got, fmt.Sprintf("%s %s %s/%s", p.Name, p.Judge, dataset(p.Safe), dataset(p.Toxic)))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
