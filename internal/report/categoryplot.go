package report

import (
	"strconv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// categoryPlot draws refusal by category as one judge sees it: a panel for each
// label of each dataset, a row for each target, a column for each category. It
// reports false if no dataset names categories.
func categoryPlot(r score.Result, judge string) (chart.Figure, bool) {
	m := chart.HeatMap{Note: score.Words(nil, judge).Of("Each cell: share refused, refused / judged, and the 95% interval in per cent. ")}
	marked := false
	for _, g := range gridsOf(r, []string{judge}) {
		if g.Named() {
			m.Panels = append(m.Panels, g.panel())
			marked = marked || g.Marked()
		}
	}
	if len(m.Panels) == 0 {
		return chart.Figure{}, false
	}
	if marked {
		m.Note += "Triangles: significantly more or less often than the target's other prompts."
	}
	return m.Figure(), true
}

// panel lays out the grid for the plot.
func (g *grid) panel() chart.HeatPanel {
	p := chart.HeatPanel{
		Title: g.Title(), Note: "Dataset " + untrusted.Terminal(g.Caption) + ", judge " + untrusted.Shorten(g.Judge, 50),
		Ramp: rampOf(g.Label),
	}
	if g.Dropped > 0 {
		p.Note += "; the " + strconv.Itoa(len(g.Categories)) + " largest of " + strconv.Itoa(len(g.Categories)+g.Dropped) + " categories"
	}
	if g.variants > 0 {
		p.Note += "; without " + table.Count(g.variants) + " variants"
	}
	for _, c := range g.Categories {
		p.Columns = append(p.Columns, untrusted.Shorten(table.Category(c), 24))
	}
	p.Columns = append(p.Columns, "all")
	for _, row := range g.Rows {
		p.Names = append(p.Names, table.Name(table.ShortenTarget(row.Target, 40), row.Simulated))
		var cells []chart.HeatCell
		for _, c := range g.Categories {
			cell := heatCell(row.Counts[c])
			cell.Mark = map[string]chart.Mark{"▲": chart.Triangle, "▼": chart.TriangleDown}[row.Mark(c)]
			cells = append(cells, cell)
		}
		p.Cells = append(p.Cells, append(cells, heatCell(row.All)))
	}
	return p
}

func heatCell(n score.Count) chart.HeatCell {
	r := n.Rate()
	return chart.HeatCell{Share: r.Share, Counts: strconv.Itoa(n.Refused) + " / " + strconv.Itoa(n.N), Interval: table.Interval(r.Interval())}
}

// rampOf returns the colors for the refusal of prompts of a label: refusing
// safe prompts is bad.
func rampOf(label orbench.Label) chart.Ramp {
	if label == orbench.Safe {
		return chart.Bad
	}
	return chart.Good
}
