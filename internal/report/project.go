package report

import (
	"cmp"
	"slices"

	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// notChecked stands for the range of a rate whose judge nobody checked.
const notChecked = "not checked"

// projection is a table of figures: a row for what has the same keys, and cells for each of
// its measures.
type projection struct {
	title, note string
	keys        []string
	columns     []column
}

// column shows the figures of a measure. Its first cell has the measure's title as header
// unless head says another.
type column struct {
	measure figure.Measure
	show    show
	head    string
}

// show is the cells of a figure, nil for none, with the headers of all but the first.
type show struct {
	cells func(*figure.Figure) []string
	heads []string
}

// The ways to show a figure: how many it counts, its part of them, that part of all, its
// value, with the interval by verdicts, and with the range first.
var (
	ofN    = show{cells: func(f *figure.Figure) []string { return one(f, func() string { return table.Count(f.N) }) }}
	ofK    = show{cells: func(f *figure.Figure) []string { return one(f, func() string { return table.Count(int(f.Count())) }) }}
	ofBoth = show{cells: func(f *figure.Figure) []string {
		return one(f, func() string { return table.Count(int(f.Count())) + " of " + table.Count(f.N) })
	}}
	valued  = show{cells: func(f *figure.Figure) []string { return []string{value(f)} }}
	sampled = show{func(f *figure.Figure) []string { return []string{value(f), interval(f, f.Sampled())} }, []string{"95% interval"}}
	ranged  = show{func(f *figure.Figure) []string { return []string{value(f), rangeOf(f), interval(f, f.Sampled())} }, []string{"range", "by verdicts"}}
	compact = show{cells: func(f *figure.Figure) []string {
		if f.Sampled() == nil {
			return []string{table.None}
		}
		return []string{value(f) + " (" + interval(f, f.Sampled()) + ")"}
	}}
	tested = show{func(f *figure.Figure) []string {
		if f == nil {
			return []string{table.None, table.None, table.None, table.None}
		}
		return append(ranged.cells(f), table.PValue(f.P))
	}, []string{"range", "by verdicts", "p"}}
)

// one is a cell, empty of what does not exist.
func one(f *figure.Figure, text func() string) []string {
	if f == nil {
		return []string{table.None}
	}
	return []string{text()}
}

// value shows the value of a figure in its unit.
func value(f *figure.Figure) string {
	if f == nil || f.Value == nil {
		return table.None
	}
	e := &stats.Estimate{Value: *f.Value}
	switch figure.Meanings[f.Measure].Unit {
	case figure.Share:
		return table.Percent(*f.Value)
	case figure.Points:
		return table.Difference(e, table.Minus)
	}
	return table.Fractions(e)[0]
}

// interval shows an interval of a figure in its unit.
func interval(f *figure.Figure, e *stats.Estimate) string {
	switch {
	case e == nil:
		return table.None
	case figure.Meanings[f.Measure].Unit == figure.Share:
		return table.EstimateInterval(e)
	case figure.Meanings[f.Measure].Unit == figure.Points:
		return table.DifferenceInterval(e, table.Minus)
	}
	return table.Fractions(e)[1]
}

// rangeOf shows the range of a figure, or that nobody checked its judge, or that the rate is
// too rare for what is known of it.
func rangeOf(f *figure.Figure) string {
	switch {
	case f == nil || f.Sampling == nil && f.Range == nil:
		return table.None
	case f.Rare():
		return "not known"
	case f.Range == nil:
		return notChecked
	}
	return interval(f, &stats.Estimate{Lo: f.Range.Lo, Hi: f.Range.Hi})
}

// keyCells are the columns that say what a figure is of.
var keyCells = map[string]func(*figure.Figure) string{
	"target":  func(f *figure.Figure) string { return table.Name(f.Target, f.Simulated) },
	"against": func(f *figure.Figure) string { return f.Other },
	"dataset": func(f *figure.Figure) string {
		return score.RunResult{Dataset: f.Dataset, DatasetSHA256: f.DatasetSHA256, Limit: f.Limit}.DatasetCaption()
	},
	"datasets": func(f *figure.Figure) string { return table.Datasets(f.Dataset, f.OtherDataset) },
	"set A":    func(f *figure.Figure) string { return f.Dataset },
	"set B":    func(f *figure.Figure) string { return f.OtherDataset },
	"label":    func(f *figure.Figure) string { return string(f.Label) },
	"judge":    func(f *figure.Figure) string { return cmp.Or(f.Judge, peoplesLabels) },
	"left out": func(f *figure.Figure) string { return cmp.Or(f.Part, table.None) },
	"type":     func(f *figure.Figure) string { return table.Category(f.Category) },
}

// of lays out figures, in the order in which their keys come.
func (p projection) of(all []figure.Figure) table.Section {
	s := table.Section{Title: p.title, Note: p.note, Header: slices.Clone(p.keys), Left: len(p.keys), WrapNames: true}
	var measures []figure.Measure
	for _, c := range p.columns {
		measures = append(measures, c.measure)
		s.Header = append(append(s.Header, cmp.Or(c.head, figure.Meanings[c.measure].Title)), c.show.heads...)
	}
	var rows []map[figure.Measure]*figure.Figure
	at := map[figure.Keys]int{}
	for f := range figure.Of(all, measures...) {
		if _, known := at[f.Keys]; !known {
			at[f.Keys] = len(rows)
			rows = append(rows, map[figure.Measure]*figure.Figure{"": f})
		}
		rows[at[f.Keys]][f.Measure] = f
	}
	for _, row := range rows {
		var cells []string
		for _, key := range p.keys {
			cells = append(cells, keyCells[key](row[""]))
		}
		for _, c := range p.columns {
			cells = append(cells, c.show.cells(row[c.measure])...)
		}
		s.Rows = append(s.Rows, cells)
	}
	return s
}
