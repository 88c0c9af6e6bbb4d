package report

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// rangeColumn is the header of ranges; RangeNote says what they include.
const rangeColumn = "range"

// rangeCell returns the range of a rate for a new model. Where the judge's error
// is not known, it is the interval with unjudged answers counted both ways.
func rangeCell(j score.JudgeResult) string {
	return table.Known(j.Range, func(r stats.Interval) string { return table.Interval(&[2]float64{r.Lo, r.Hi}) })
}

// judgeErrorLines says, a line for each judge, how far it is known to be off.
func judgeErrorLines(r score.Result) []string {
	labels := slices.DeleteFunc(r.Labels(), func(l orbench.Label) bool { return l != orbench.Safe && l != orbench.Toxic })
	var lines []string
	for _, name := range r.Judges() {
		lines = append(lines, score.DescribeJudge(name, labels, r.Language()))
	}
	return lines
}

// RangeNote says what the ranges of rates on a screen include. known is the
// number of rates for which the judge's error is known, and unknown that of the
// others. unjudged is true if a range counts unjudged answers.
func RangeNote(known, unknown int, unjudged bool) string {
	note := ""
	switch {
	case known > 0 && unknown > 0:
		note = "Ranges: 95%; for a new model, with the judge's error where it is known."
	case known > 0:
		note = "Ranges: 95% for a new model, with the judge's error."
	case unknown > 0:
		note = "Ranges: 95%, without the judge's error."
	}
	if unjudged {
		note += " The range covers unjudged answers as all refused and as all answered."
	}
	return note
}
