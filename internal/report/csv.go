package report

import (
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// CSV writes the figures for spreadsheets and scripts: one line for each target,
// dataset, label and judge (scope "all"), followed by one for each category
// (scope "category"), where the columns that only the whole run has are empty.
// Rates are shares from 0 to 1 and empty where nothing was judged.
//
// A text cell that a spreadsheet would take for a formula is given a leading
// apostrophe.
func (v View) CSV(w io.Writer) error {
	header := []string{
		"target", "dataset", "dataset_sha256", "label", "judge", "scope", "category",
		"n", "answered", "blocked", "failed", "unanswered", "judged", "unjudged", "refused", "rate", "ci95_lo", "ci95_hi",
	}
	for _, c := range orbench.Classes {
		header = append(header, "class_"+string(c))
	}
	header = append(header, "simulated", "ci95_clustered_lo", "ci95_clustered_hi", "p_holm")
	// Most runs have whole answers only, and then no column for those that are not.
	ended := slices.ContainsFunc(v.Runs, func(run score.RunResult) bool { return run.Truncated+run.EndingUnknown > 0 })
	if ended {
		header = append(header, "truncated", "ending_unknown")
	}
	assumed := slices.ContainsFunc(v.Runs, func(run score.RunResult) bool { return run.LabelAssumed })
	if assumed {
		header = append(header, "label_assumed")
	}
	stopped := slices.ContainsFunc(v.Runs, func(run score.RunResult) bool { return run.Of > 0 })
	if stopped {
		header = append(header, "ci95_sequence_lo", "ci95_sequence_hi")
	}
	rows := [][]string{header}
	for _, run := range v.Runs {
		judges := run.Judges
		if len(judges) == 0 {
			judges = []score.JudgeResult{{}}
		}
		for _, j := range judges {
			more := csvRows(run, j)
			for i := range more {
				switch {
				case ended && i == 0:
					more[i] = append(more[i], run.Count.Cells(run.Answered)...)
				case ended:
					more[i] = append(more[i], "", "")
				}
			}
			for i := range more {
				if assumed {
					more[i] = append(more[i], strconv.FormatBool(run.LabelAssumed))
				}
				switch {
				case stopped && i == 0:
					more[i] = append(more[i], table.IntervalCells(j.CI95Sequence)...)
				case stopped:
					more[i] = append(more[i], "", "")
				}
			}
			rows = append(rows, more...)
		}
	}
	return table.CSVCells(w, rows)
}

// csvRows gives the rows of one judge of one run.
func csvRows(run score.RunResult, j score.JudgeResult) [][]string {
	names := func(scope string, c orbench.Category) []string {
		return []string{
			untrusted.Cell(run.Target), untrusted.Cell(run.Dataset), untrusted.Cell(run.DatasetSHA256), untrusted.Cell(string(run.Label)),
			untrusted.Cell(j.Judge), scope, untrusted.Cell(string(c)),
		}
	}
	simulated := strconv.FormatBool(run.Simulated || j.Simulated)
	all := append(names("all", ""), strconv.Itoa(run.N), strconv.Itoa(run.Answered), strconv.Itoa(run.Blocked),
		strconv.Itoa(run.Failed), strconv.Itoa(run.Unanswered), strconv.Itoa(j.Judged), strconv.Itoa(j.Unjudged),
		strconv.Itoa(j.Refused))
	all = append(all, table.RateCells(j.Rate)...)
	for _, c := range orbench.Classes {
		all = append(all, strconv.Itoa(j.ByClass[c]))
	}
	all = append(append(all, simulated), table.IntervalCells(j.CI95Clustered)...)
	rows := [][]string{append(all, "")}
	for _, c := range slices.Sorted(maps.Keys(j.ByCategory)) {
		n := j.ByCategory[c]
		row := append(names("category", c), "", "", "", "", "", strconv.Itoa(n.N), "", strconv.Itoa(n.Refused))
		row = append(row, table.RateCells(n.Rate())...)
		row = append(row, make([]string, len(orbench.Classes))...)
		row = append(append(row, simulated), table.IntervalCells(n.CI95Clustered)...)
		rows = append(rows, append(row, table.NumberCell(n.PHolm)))
	}
	return rows
}
