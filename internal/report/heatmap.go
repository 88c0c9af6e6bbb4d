package report

import (
	"strconv"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// heatMap draws refusal by category: a panel for each label of each dataset, a
// row for each target, a column for each category, as one judge sees it. It
// reports false when no dataset names categories.
func heatMap(r score.Result, judge string) (chart.Figure, bool) {
	m := chart.HeatMap{Note: wordsOf(nil, judge).Of("Each cell: share refused, refused / judged, and the 95% interval in per cent. ")}
	marked := false
	for _, h := range heatsOf(r, []string{judge}) {
		if h.named() {
			m.Panels = append(m.Panels, h.panel())
			marked = marked || h.marked()
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

// panel lays a heat out for the plot.
func (h heat) panel() chart.HeatPanel {
	p := chart.HeatPanel{
		Title: wordsOf(nil, h.judge).Of(table.LabelTitle(h.label)), Note: "Dataset " + untrusted.Terminal(h.dataset) + ", judge " + untrusted.Shorten(h.judge, 50),
		Ramp: rampOf(h.label),
	}
	if h.dropped > 0 {
		p.Note += "; the " + strconv.Itoa(len(h.categories)) + " largest of " + strconv.Itoa(len(h.categories)+h.dropped) + " categories"
	}
	if h.variants > 0 {
		p.Note += "; without " + table.Count(h.variants) + " variants"
	}
	for _, c := range h.categories {
		p.Columns = append(p.Columns, untrusted.Shorten(table.Category(c), 24))
	}
	p.Columns = append(p.Columns, "all")
	for _, row := range h.rows {
		p.Names = append(p.Names, table.Name(table.ShortenTarget(row.target, 40), row.simulated))
		var cells []chart.HeatCell
		for _, c := range h.categories {
			cell := heatCell(row.counts[c])
			cell.Mark = map[string]chart.Mark{"▲": chart.Triangle, "▼": chart.TriangleDown}[row.mark(c)]
			cells = append(cells, cell)
		}
		p.Cells = append(p.Cells, append(cells, heatCell(row.all)))
	}
	return p
}

func heatCell(n score.Count) chart.HeatCell {
	r := n.Rate()
	return chart.HeatCell{Share: r.Share, Counts: strconv.Itoa(n.Refused) + " / " + strconv.Itoa(n.N), Interval: table.Interval(r.Interval())}
}

// rampOf is how refusal of prompts of a label is colored: that of safe prompts is
// bad.
func rampOf(label orbench.Label) chart.Ramp {
	if label == orbench.Safe {
		return chart.Bad
	}
	return chart.Good
}
