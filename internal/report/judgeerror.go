package report

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// judgeErrorColumn is the header of the ranges that include the judge's own
// error.
const judgeErrorColumn = "with the judge's error"

// rangeCell returns the range of a rate that includes the judge's own error.
func rangeCell(j score.JudgeResult) string {
	if j.Range == nil {
		return table.None
	}
	return table.Interval(&[2]float64{j.Range.Lo, j.Range.Hi})
}

// judgeErrorLines says, a line for each judge, how far it is known to be off.
func judgeErrorLines(r score.Result) []string {
	labels := slices.DeleteFunc([]orbench.Label{orbench.Safe, orbench.Toxic}, func(l orbench.Label) bool {
		return !slices.ContainsFunc(r.Runs, func(run score.RunResult) bool { return run.Label == l })
	})
	var lines []string
	for _, name := range r.Judges() {
		lines = append(lines, score.DescribeJudge(name, labels))
	}
	return lines
}
