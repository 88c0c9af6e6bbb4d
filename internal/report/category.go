package report

import (
	"slices"
	"strings"

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

// categoryPlots draw refusal by category as one judge sees it: a plot for each label of each
// dataset that names categories, a row for each target, a column for each category.
func categoryPlots(r score.Result, judge string) (all []plot) {
	words := score.Words(nil, judge)
	marked, n := marks(r), newNames(r)
	for _, t := range heats(r, judge) {
		set := n.sets[setOf(t.of)]
		m := chart.HeatMap{Ramp: rampOf(t.of.Label), Head: chart.Head{
			Title: words.Of(table.LabelTitle(t.of.Label)),
			Lines: []string{"Dataset " + untrusted.Terminal(set) + ", judge " + untrusted.Shorten(judge, 50) + ". Each cell: share refused, and the 95% range, none where nobody checked the judge. " + t.Note},
		}}
		for _, g := range t.Sets {
			m.Columns = append(m.Columns, untrusted.Shorten(g.Name, 24))
		}
		targets := table.Short(table.RowsOf(t.Rows, func(row []string) string { return row[0] }), gridName)
		for y, row := range t.Rows {
			m.Names = append(m.Names, targets[row[0]])
			cells := make([]chart.HeatCell, len(t.Sets))
			for x := range t.Sets {
				if f := t.at[y][1+x]; f != nil {
					cells[x] = chart.HeatCell{Share: f.Value, Mark: map[string]chart.Mark{"▲": chart.Triangle, "▼": chart.TriangleDown}[marked(f)]}
					if f.Range != nil {
						cells[x].Interval = rangeOf(f)
					}
				}
			}
			m.Cells = append(m.Cells, cells)
		}
		name := "categories-" + fileName(t.of.Dataset) + "-" + string(t.of.Label)
		if slices.ContainsFunc(all, func(p plot) bool { return p.name == name }) {
			name += "-" + table.ShortHash(t.of.DatasetSHA256) // another version
		}
		all = append(all, plot{name, m.Figure()})
	}
	return all
}

// radarAxes is the fewest categories that a radar has.
const radarAxes = 3

// radar draws the refusal of safe and of toxic prompts by category, as one judge sees it, a panel
// for each target: on the first dataset that has both, or else the first set of safe prompts
// and the first of toxic ones; it says so if there are others. It is false where they share too few categories.
func radar(r score.Result, judge string) (chart.Figure, bool) {
	all, words := heats(r, judge), score.Words(nil, judge)
	first := func(label orbench.Label, dataset string) int {
		return slices.IndexFunc(all, func(t laidOut) bool { return t.of.Label == label && (dataset == "" || t.of.Dataset == dataset) })
	}
	safe, toxic := first(orbench.Safe, ""), first(orbench.Toxic, "")
	if safe < 0 || toxic < 0 {
		return chart.Figure{}, false
	}
	if both := slices.IndexFunc(all, func(t laidOut) bool { return t.of.Label == orbench.Safe && first(orbench.Toxic, t.of.Dataset) >= 0 }); both >= 0 {
		safe, toxic = both, first(orbench.Toxic, all[both].of.Dataset)
	}
	n := newNames(r)
	plot := chart.Radar{Head: chart.Head{Title: "Refusal by category", Lines: []string{"Judge " + untrusted.Shorten(judge, 50) + ". Rings are 25, 50, 75 and 100%. A point is a rate; the heat maps have its range."}}}
	if len(all) > 2 {
		plot.Head.Lines = append(plot.Head.Lines, "One set of several; orbench report of another dataset alone has the radar of that.")
	}
	for _, t := range []laidOut{all[safe], all[toxic]} {
		plot.Lines = append(plot.Lines, words.Of(table.LabelTitle(t.of.Label))+", "+untrusted.Terminal(n.sets[setOf(t.of)]))
	}
	var columns [][2]int
	for x, g := range all[safe].Sets {
		y := slices.IndexFunc(all[toxic].Sets, func(other table.Group) bool { return other.Name == g.Name })
		if y >= 0 && g.Name != allCategories {
			plot.Axes, columns = append(plot.Axes, untrusted.Shorten(g.Name, 24)), append(columns, [2]int{x, y})
		}
	}
	var names table.Names
	for _, t := range []laidOut{all[safe], all[toxic]} {
		names.Add(table.RowsOf(t.Rows, func(row []string) string { return row[0] })...)
	}
	targets := table.Short(names, gridName)
	for _, name := range names {
		shares := make([][]*float64, 2)
		for line, t := range []laidOut{all[safe], all[toxic]} {
			// A target that was not asked these prompts has no rates on them.
			y := slices.IndexFunc(t.Rows, func(row []string) bool { return row[0] == name })
			for _, x := range columns {
				var share *float64
				if y >= 0 && t.at[y][1+x[line]] != nil {
					share = t.at[y][1+x[line]].Value
				}
				shares[line] = append(shares[line], share)
			}
		}
		plot.Names, plot.Shares = append(plot.Names, targets[name]), append(plot.Shares, shares)
	}
	return plot.Figure(), len(columns) >= radarAxes
}

// fileName is a name with nothing that a file's name may not have.
func fileName(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, name), "-")
}

// rampOf returns the colors for the refusal of prompts of a label: refusing
// safe prompts is bad.
func rampOf(label orbench.Label) chart.Ramp {
	if label == orbench.Safe {
		return chart.Bad
	}
	return chart.Good
}
