package pair

import (
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// The measures of the plot, in points.
const (
	plotNames   = vg.Length(206)
	plotBars    = vg.Length(330)
	plotFigures = vg.Length(150)
	plotRow     = vg.Length(17)
	plotBar     = vg.Length(12)
	plotLegend  = vg.Length(26)
	// plotNumber is the least width of a part of a bar that shows its number.
	plotNumber = vg.Length(20)
)

// mostRows is the most bars. If there are more, the bars for types are left
// out, and if that is not enough, those of the last targets.
const mostRows = 60

// colors holds the colors of the outcomes.
var colors = map[Outcome]chart.Color{
	ToldApart: chart.Series[0], OverRefused: chart.Series[1], UnderRefused: chart.Series[3], Reversed: chart.DarkGray,
}

// bar is a line of the plot.
type bar struct {
	name string
	of   *Discrimination
	// whole is true for all pairs of a target, and false for those of a type.
	whole bool
}

// Plot draws what targets do with pairs, as one judge sees it: a bar for each
// target, with a bar for each type below it. It reports false if nothing was
// judged.
func Plot(all []Figures, judge string) (chart.Figure, bool) {
	var bars, short []bar
	simulated := false
	several := slices.ContainsFunc(all, func(f Figures) bool { return f.Datasets() != all[0].Datasets() })
	for i := range all {
		f := &all[i]
		if f.Judge != judge || f.Judged == 0 {
			continue
		}
		simulated = simulated || f.Simulated
		name := f.Target
		if several {
			name += ", " + f.Datasets()
		}
		whole := bar{untrusted.Shorten(name, 32), &f.Discrimination, true}
		bars, short = append(bars, whole), append(short, whole)
		for k := range f.ByType[:min(mostTypes, len(f.ByType))] {
			if t := &f.ByType[k]; t.Judged > 0 {
				bars = append(bars, bar{untrusted.Shorten(table.Category(t.Type), 32), &t.Discrimination, false})
			}
		}
	}
	found := len(bars)
	if found > mostRows {
		bars = short[:min(mostRows, len(short))]
	}
	if len(bars) == 0 {
		return chart.Figure{}, false
	}
	h := chart.Head{Title: "Pairs of a safe prompt and a toxic one", Lines: []string{
		"Judge: " + untrusted.Shorten(judge, 60) + ". Parts: pairs by the outcome of both sides. Beside: pairs, and J with its 95% interval.",
	}}
	if simulated {
		h.Title += " (SIMULATED)"
	}
	if left := found - len(bars); left > 0 {
		h.Lines = append(h.Lines, table.Count(left)+" more targets and types are in the tables.")
	}
	const width = 2*chart.Margin + plotNames + plotBars + plotFigures
	return h.Figure(width, plotLegend+vg.Length(len(bars))*plotRow+chart.Margin, func(c draw.Canvas) {
		drawLegend(c)
		top := c.Max.Y - plotLegend
		for i, b := range bars {
			drawBar(c, b, top-vg.Length(i)*plotRow)
		}
	}), true
}

func drawLegend(c draw.Canvas) {
	at, y := c.Min.X+plotNames, c.Max.Y-12
	style := chart.TextStyle(8.5, false, chart.Foreground)
	for _, o := range Outcomes {
		c.FillPolygon(colors[o], chart.Rect(at, y, at+8, y+8))
		c.FillText(style, vg.Point{X: at + 12, Y: y - 1}, o.String())
		at += 28 + style.Width(o.String())
	}
}

// drawBar draws a line of the plot below the height top.
func drawBar(c draw.Canvas, b bar, top vg.Length) {
	left, bottom := c.Min.X+plotNames, top-plotBar
	c.FillText(chart.Right(chart.TextStyle(8.5, b.whole, chart.Foreground)), vg.Point{X: left - 18, Y: bottom + 1}, b.name)
	inside := chart.Centered(chart.TextStyle(7.5, true, chart.Background))
	digits, at := decimals(b.of), left
	for _, o := range Outcomes {
		n := b.of.Of(o).Pairs
		to := at + plotBars*vg.Length(n/float64(b.of.Judged))
		c.FillPolygon(colors[o], chart.Rect(at, bottom, to, top))
		if to-at >= plotNumber {
			c.FillText(inside, vg.Point{X: (at + to) / 2, Y: bottom + 2}, pairs(n, digits))
		}
		at = to
	}
	figures := table.Count(b.of.Judged)
	if b.of.J != nil {
		j := table.Fractions(b.of.J)
		figures += ", J " + j[0] + " [" + strings.Replace(j[1], " to ", ", ", 1) + "]"
	}
	c.FillText(chart.TextStyle(8, false, chart.Foreground), vg.Point{X: left + plotBars + 8, Y: bottom + 1}, figures)
}
