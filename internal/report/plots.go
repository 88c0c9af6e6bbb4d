package report

import (
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/report/tradeoff"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// plot is a plot of a report, which is in a file under its name.
type plot struct {
	name   string
	figure chart.Figure
}

// The trade-off for a page of a paper, and for a column.
const (
	wideTradeOff = "tradeoff"
	tradeOff     = "tradeoff-column"
)

// plots are all plots of a report as one judge sees it: the trade-off for a page of a paper and
// for a column, and refusal by category.
func plots(r score.Result, judge string) (all []plot) {
	t := ratesBy(r, judge)
	of := append([]string{t.Title}, table.RowsOf(t.Groups, func(g table.Group) string { return g.Name })...)
	for _, size := range []struct {
		name  string
		width vg.Length
	}{{wideTradeOff, chart.PageWidth}, {tradeOff, chart.ColumnWidth}} {
		if f, ok := tradeoff.Plot(r, judge, size.width, of...); ok {
			all = append(all, plot{size.name, f})
		}
	}
	if f, ok := radar(r, judge); ok {
		all = append(all, plot{"radar", f})
	}
	return append(all, categoryPlots(r, judge)...)
}

// Plot is the plot of a report with a name, as its first judge sees it. If there is none, the
// error says which there are.
func Plot(r score.Result, name string) (chart.Figure, error) {
	var has []string
	for _, judge := range r.Judges()[:min(1, len(r.Judges()))] {
		for _, p := range plots(r, judge) {
			if p.name == name {
				p.figure.About = r.Provenance.Line()
				return p.figure, nil
			}
			has = append(has, p.name)
		}
	}
	return chart.Figure{}, &orbench.InputError{Setting: "plot", Problem: "there is no plot " + name, Hint: "there are: " + strings.Join(has, ", ")}
}
