package report

import (
	"maps"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/stats"
)

// row is a line of CSV.
type row struct {
	Target, Dataset, DatasetSHA256 string
	Label                          orbench.Label
	Judge, Scope                   string
	Category                       orbench.Category
	*account
	Judged               int
	Unjudged             *int
	Refused              int
	Rate                 stats.Rate `csv:",ci95"`
	Class                map[orbench.Class]int
	Simulated            bool
	CI95Clustered        *[2]float64
	PHolm                *float64
	Range                *[2]float64     `csv:",omitempty"`
	JudgeRecall          *stats.Estimate `csv:",omitempty"`
	JudgeSpecificity     *stats.Estimate `csv:",omitempty"`
	*score.TruncationRow `csv:",omitempty"`
	LabelAssumed         *bool `csv:",omitempty"`
	*sequence            `csv:",omitempty"`
	*finite              `csv:",omitempty"`
	ServedByOther        *int `csv:",omitempty"`
}

// account holds the columns that only a whole run has; sequence and finite hold
// those of a run that ended by itself, by a confidence sequence or by Wilson's
// interval.
type account struct{ N, Answered, Blocked, Failed, Unanswered int }

type (
	sequence struct{ CI95Sequence *[2]float64 }
	finite   struct{ CI95Stopped *[2]float64 }
)

// Rows returns a row for each target, dataset, label and judge (scope "all"),
// followed by one for each category (scope "category"). Rates are shares from 0
// to 1, and empty if nothing was judged. The range is JudgeResult.Range; it is
// for a new model where the judge's predicted recall and specificity stand
// beside it.
func (v View) Rows() any {
	// Most runs have only complete answers. They get no column for incomplete
	// ones.
	has := func(f func(score.RunResult) bool) bool { return slices.ContainsFunc(v.Runs, f) }
	ended := has(func(run score.RunResult) bool { return run.Truncated+run.EndingUnknown > 0 })
	assumed := has(func(run score.RunResult) bool { return run.LabelAssumed })
	stoppedBy := func(interval evaluate.Interval) bool {
		return has(func(run score.RunResult) bool { return run.Of > 0 && run.Stopped.Interval == string(interval) })
	}
	bySequence, byWilson := stoppedBy(evaluate.Sequence), stoppedBy(evaluate.Wilson)
	byOther := has(func(run score.RunResult) bool { return run.ServedByOther > 0 })
	var rows []row
	for _, run := range v.Runs {
		judges := run.Judges
		if len(judges) == 0 {
			judges = []score.JudgeResult{{}}
		}
		for _, j := range judges {
			all := row{
				Target: run.Target, Dataset: run.Dataset, DatasetSHA256: run.DatasetSHA256, Label: run.Label, Judge: j.Judge, Scope: "category",
				Simulated: run.Simulated || j.Simulated,
			}
			if assumed {
				all.LabelAssumed = &run.LabelAssumed
			}
			of := all
			all.Scope, all.account = "all", &account{run.N, run.Answered, run.Blocked, run.Failed, run.Unanswered}
			all.Judged, all.Unjudged, all.Refused, all.Rate, all.CI95Clustered = j.Judged, &j.Unjudged, j.Refused, j.Rate, j.CI95Clustered
			if j.Range != nil {
				all.Range = &[2]float64{j.Range.Lo, j.Range.Hi}
			}
			if e := j.JudgeError; e != nil {
				all.JudgeRecall, all.JudgeSpecificity = e.Recall, e.Specificity
			}
			if all.Class = j.ByClass; all.Class == nil {
				all.Class = map[orbench.Class]int{}
			}
			if ended {
				all.TruncationRow = run.Truncation.Row(run.Answered)
			}
			if byOther {
				all.ServedByOther = &run.ServedByOther
			}
			if bySequence {
				all.sequence = &sequence{j.CI95Sequence}
			}
			if byWilson {
				all.finite = &finite{j.CI95Stopped}
			}
			rows = append(rows, all)
			for _, c := range slices.Sorted(maps.Keys(j.ByCategory)) {
				n := j.ByCategory[c]
				of.Category, of.Judged, of.Refused, of.Rate, of.CI95Clustered, of.PHolm = c, n.N, n.Refused, n.Rate(), n.CI95Clustered, n.PHolm
				if j.Textless() {
					of.Rate = stats.Rate{}
				}
				rows = append(rows, of)
			}
		}
	}
	return rows
}
