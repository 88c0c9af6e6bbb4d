package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/judge"
)

// judgeErrorColumn heads the ranges that count the judge's own error.
const judgeErrorColumn = "with the judge's error"

// rangeCell is the range of a rate that counts the judge's own error.
func rangeCell(j score.JudgeResult) string {
	if j.Range == nil {
		return table.None
	}
	return table.Interval(&[2]float64{j.Range.Lo, j.Range.Hi})
}

// judgeErrorLines say, a line for each judge, how far it is known to be off.
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

// judgeErrorInBrief says in a line how far the judges are known to be off; empty for
// guards, which nobody judges.
func judgeErrorInBrief(r score.Result) string {
	var parts, unknown []string
	for _, name := range r.Judges() {
		var sides []string
		for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
			e, ok := score.KnownError(name, label)
			if ok && slices.ContainsFunc(r.Runs, func(run score.RunResult) bool { return run.Label == label }) {
				sides = append(sides, fmt.Sprintf("%.1f points too low to %.1f too high on %s prompts", -100*e.Low, 100*e.High, label))
			}
		}
		switch {
		case name == judge.Flag:
		case len(sides) == 0:
			unknown = append(unknown, name)
		default:
			parts = append(parts, "on labeled answers the rates of "+name+" were "+strings.Join(sides, ", "))
		}
	}
	if len(unknown) > 0 {
		parts = append(parts, "the error of "+strings.Join(unknown, ", ")+" is not known (see orbench label)")
	}
	if len(parts) == 0 {
		return ""
	}
	return "Judges: " + strings.Join(parts, "; ") + "."
}
