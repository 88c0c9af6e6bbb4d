package report

import (
	"io"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// persistenceSections lays out the figures: the rates at the end of dialogs
// beside those of the prompts alone, and what becomes of refusals and answers
// during the dialogs. Without figures it returns no sections.
func persistenceSections(all []score.Persistence) []table.Section {
	if len(all) == 0 {
		return nil
	}
	ends := table.Section{
		Title:  "More than one turn: refused at the end of a dialog, beside the prompt alone",
		Header: []string{"target", "dialog", "dataset", "label", "judge", "prompts", "excluded", "alone", "at the end", "points more", "95% interval"},
		Left:   5,
		Note:   "Differences are prompt by prompt.",
	}
	fates := table.Section{
		Title: "Do refusals persist? The end of a dialog, for prompts refused alone and for prompts answered alone",
		Header: []string{
			"target", "dialog", "dataset", "label", "judge", "taken back", "rate", "95% interval", "persist", "rate", "95% interval",
			"withdrawn", "rate", "95% interval",
		},
		Left: 5,
		Note: "Taken back: of the prompts refused alone, those answered at the end; the rest persists. Withdrawn: of the prompts answered alone, those refused at the end. " +
			"A dialog that undoes over-refusal of safe prompts may also undo refusal of toxic ones.",
	}
	for _, f := range all {
		names := table.Cells(table.Name(f.Alone, f.Simulated), f.Turns, f.Dataset, f.Label, f.Judge)
		ends.Add(names, f.Prompts, f.Excluded, table.Rate(f.AloneRate), table.Rate(f.LastRate), table.Points(f.Difference, table.MinusOnly))
		of := func(k, n int) string { return table.Count(k) + " of " + table.Count(n) }
		fates.Add(names, of(f.RefusedAlone-f.Persisted, f.RefusedAlone), f.TakenBackRate, of(f.Persisted, f.RefusedAlone), f.PersistRate,
			of(f.RefusedLast-f.Persisted, f.Pairs-f.RefusedAlone), f.WithdrawnRate)
	}
	if slices.ContainsFunc(all, func(f score.Persistence) bool { return f.Pairs > f.Prompts }) {
		fates.Note = "Counts are of answers, several to a prompt. " + fates.Note
	}
	if ends.Drop(func(row []string, at int) bool { return row[at] == "0" }, "excluded") == 0 {
		ends.Note += " Excluded are prompts without a verdict alone or at the end."
	}
	return []table.Section{ends, fates}
}

// persistenceRow is a line of CSV.
type persistenceRow struct {
	Target, Alone, Turns, Dataset, DatasetSHA256 string

	Label orbench.Label
	Judge string

	Prompts, Excluded, Pairs, RefusedAlone, RefusedLast, Persisted int

	AloneRate  *stats.Estimate `csv:"alone,alone"`
	Last       *stats.Estimate `csv:",last"`
	Difference *stats.Estimate `csv:",difference"`
	TakenBack  *stats.Estimate `csv:",taken_back"`
	Persist    *stats.Estimate `csv:",persist"`
	Withdrawn  *stats.Estimate `csv:",withdrawn"`
	Simulated  bool
}

// persistenceCSV writes the figures for spreadsheets and scripts, one line for
// each. Rates are shares from 0 to 1, with the intervals that reports show.
func persistenceCSV(w io.Writer, all []score.Persistence) error {
	var rows []persistenceRow
	for _, f := range all {
		rows = append(rows, persistenceRow{
			f.Target, f.Alone, f.Turns, f.Dataset, f.DatasetSHA256, f.Label, f.Judge,
			f.Prompts, f.Excluded, f.Pairs, f.RefusedAlone, f.RefusedLast, f.Persisted,
			f.AloneRate.Estimate(), f.LastRate.Estimate(), f.Difference, f.TakenBackRate.Estimate(), f.PersistRate.Estimate(), f.WithdrawnRate.Estimate(),
			f.Simulated,
		})
	}
	return table.CSV(w, rows)
}
