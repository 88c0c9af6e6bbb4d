package score

import (
	"cmp"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/judge"
)

// DatasetCaption names a run's dataset with its hash and its limit.
func (r RunResult) DatasetCaption() string {
	s := r.Dataset
	if r.DatasetSHA256 != "" {
		s += "@" + table.ShortHash(r.DatasetSHA256)
	}
	if r.Limit > 0 {
		s += ", the first " + table.Count(r.Limit)
	}
	return s + r.Note()
}

// TargetCaption names a run's target, with the number of samples if several are
// aggregated.
func (r RunResult) TargetCaption() string {
	if r.Samples > 0 {
		return r.Target + ", " + table.Count(r.Samples) + " samples"
	}
	return r.Target
}

// Model is the target that was asked, whichever variant of it, and whichever of several runs: they
// are of one model.
func (r RunResult) Model() string {
	model, _, _ := strings.Cut(cmp.Or(r.Base, r.Target), " [run")
	return model
}

// Words returns the words for what judges see in some runs.
func Words(runs []RunResult, judges ...string) table.Words {
	onAnswers := slices.ContainsFunc(runs, func(run RunResult) bool { return run.Answers })
	return table.Words{Flagging: slices.Equal(judges, []string{judge.Flag}), OnAnswers: onAnswers}
}
