package report

import (
	"slices"
	"strconv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/validation"
)

// judgeErrorColumn heads the ranges that count the judge's own error.
const judgeErrorColumn = "with the judge's error"

// rangeCell is the range of a rate that counts the judge's own error.
func rangeCell(j score.JudgeResult) string {
	if j.Range == nil {
		return "–"
	}
	return table.Interval(&[2]float64{j.Range.Lo, j.Range.Hi})
}

// judgeErrorLines say, a line for each judge, how far it is known to be off.
func judgeErrorLines(r score.Result) []string {
	var lines []string
	for _, judge := range r.Judges() {
		parts := ""
		for _, label := range []orbench.Label{orbench.Safe, orbench.Toxic} {
			e, ok := validation.Known(judge, label)
			if !ok || !slices.ContainsFunc(r.Runs, func(run score.RunResult) bool { return run.Label == label }) {
				continue
			}
			if parts != "" {
				parts += "; "
			}
			parts += "on " + string(label) + " prompts " + points(-e.Low) + " points too low to " + points(e.High) +
				" too high (" + table.Count(e.Sets) + " sets, " + table.Count(e.Answers) + " answers)"
		}
		if parts == "" {
			lines = append(lines, "The error of "+judge+" is not known: measure it with orbench judge --gold-column, or correct its rates by labels of your own (orbench label).")
			continue
		}
		lines = append(lines, "The rates of "+judge+" were off, on answers that people labeled and that it was not fitted to: "+parts+
			". The ranges "+judgeErrorColumn+" count that; labels of your own replace it (orbench label).")
	}
	return lines
}

// points shows a share in points to one decimal.
func points(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) }
