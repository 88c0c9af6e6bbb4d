package report

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// gridName is the most columns that a target's name takes above its figures.
const gridName = 34

// heats are the rates by category as one judge sees them: a table for each label of each
// dataset that names categories, a row for each target, a column for each category.
func heats(r score.Result, judge string) []laidOut {
	l := layout{title: "By category", each: []string{"label", "dataset", "judge"}, rows: []string{"target"}, across: []string{"category"}, columns: []column{{measures: rates, show: valued}}, notes: markedNote}
	return slices.DeleteFunc(l.tables(r, r.All()), func(t laidOut) bool { return t.of.Judge != judge })
}

// categoryPlot draws refusal by category as one judge sees it: a panel for each
// label of each dataset, a row for each target, a column for each category. It
// reports false if no dataset names categories.
func categoryPlot(r score.Result, judge string) (chart.Figure, bool) {
	words := score.Words(nil, judge)
	m := chart.HeatMap{Note: words.Of("Each cell: share refused, refused / judged, and the 95% range in per cent, none where nobody checked the judge. ")}
	marked, n := marks(r), newNames(r)
	for _, t := range heats(r, judge) {
		p := chart.HeatPanel{
			Title: words.Of(table.LabelTitle(t.of.Label)), Ramp: rampOf(t.of.Label),
			Note: "Dataset " + untrusted.Terminal(n.sets[setOf(t.of)]) + ", judge " + untrusted.Shorten(judge, 50),
		}
		for _, g := range t.sets {
			p.Columns = append(p.Columns, untrusted.Shorten(g.Name, 24))
		}
		for y, row := range t.Rows {
			p.Names = append(p.Names, table.ShortenTarget(row[0], 40))
			var cells []chart.HeatCell
			for x := range t.sets {
				cell := chart.HeatCell{}
				if f := t.at[y][1+x]; f != nil {
					cell = chart.HeatCell{Share: f.Value, Counts: table.Count(int(f.Count())) + " / " + table.Count(f.N), Mark: map[string]chart.Mark{"▲": chart.Triangle, "▼": chart.TriangleDown}[marked(f)]}
					if f.Range != nil {
						cell.Interval = rangeOf(f)
					}
				}
				cells = append(cells, cell)
			}
			p.Cells = append(p.Cells, cells)
		}
		if m.Panels = append(m.Panels, p); t.Note != "" {
			m.Note += t.Note
		}
	}
	if len(m.Panels) == 0 {
		return chart.Figure{}, false
	}
	return m.Figure(), true
}

// rampOf returns the colors for the refusal of prompts of a label: refusing
// safe prompts is bad.
func rampOf(label orbench.Label) chart.Ramp {
	if label == orbench.Safe {
		return chart.Bad
	}
	return chart.Good
}
