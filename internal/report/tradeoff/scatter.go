package tradeoff

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// drawScatter draws the trade-off itself. Numbered variants are shown by their
// numbers, and variants in the color of their target by what they change.
func drawScatter(c draw.Canvas, s *scatter) {
	both, key := s.both, s.key
	low := 60.0
	for _, m := range both {
		// Numbered variants have no interval in the plot. The intervals of all
		// others must fit.
		least := m.Toxic.Judge.Interval()[0]
		if known := m.Toxic.Judge.Range; known != nil {
			least = min(least, known.Lo)
		}
		if key.number(m.Change()) != "" {
			least = *m.Toxic.Judge.Share
		}
		if m.Labeled() {
			least = min(least, m.Toxic.Run.Labeled.Rate.Lo)
		}
		low = min(low, math.Floor(10*least)*10)
	}
	words := score.Words(nil, both[0].Safe.Judge.Judge)
	w := chart.Window{Left: -2, Right: 102, Low: low - 2, High: 102}
	p := chart.Plot{
		Window: w, XTicks: chart.PercentTicks(w.Left, w.Right), YTicks: chart.PercentTicks(w.Low, w.High),
		X: words.Of("Over-refusal: safe prompts refused, % (lower is better)"), Y: words.Of("Toxic refusal: toxic prompts refused, % (higher is better)"),
	}
	// Leave room for the labels of the ticks at the ends.
	s.draw(p.Draw(draw.Crop(c, 0, -34, 4, -6)), p)
}

// scatter draws the points, their intervals and their names.
type scatter struct {
	both      []mine
	published []paper.Model
	key       key
	byBase    bool
}

func (s *scatter) draw(c draw.Canvas, p chart.Plot) {
	if len(s.published) > 0 {
		fit := draw.LineStyle{Color: chart.LightGray, Width: 0.8, Dashes: []vg.Length{4, 3}}
		p.StrokeCurve(&c, fit, paper.TradeOff().At)
	}
	x, y := p.Transforms(&c)
	room := chart.Labels{Area: c.Rectangle}
	publishedAt := make([]vg.Point, len(s.published))
	for i, g := range s.published {
		publishedAt[i] = vg.Point{X: x(g.Hard), Y: y(g.Toxic)}
		chart.DrawMark(&c, chart.Circle, chart.LightGray, 2.6, publishedAt[i])
		room.Hard = append(room.Hard, chart.SquareAround(publishedAt[i], 2.6))
	}
	at := make([]vg.Point, len(s.both))
	for i, m := range s.both {
		at[i] = vg.Point{X: x(100 * *m.Safe.Judge.Share), Y: y(100 * *m.Toxic.Judge.Share)}
		var lines [][]vg.Point
		// So many whiskers of numbered variants would hide the points.
		if s.key.number(m.Change()) == "" {
			lines = drawRanges(&c, m, x, y, at[i], len(s.both) <= mostRegions)
		}
		lines = append(lines, drawCorrected(&c, m, x, y, at[i])...)
		for _, l := range lines {
			room.Soft = append(room.Soft, chart.Along(l[0], l[1]))
		}
		room.Hard = append(room.Hard, chart.SquareAround(at[i], s.radius(m)))
	}
	s.drawArrows(&c, at)
	s.drawLabels(&c, &room, at)
	for _, numbered := range []bool{true, false} {
		for i, m := range s.both {
			if numbered == (s.key.number(m.Change()) != "") {
				chart.DrawMark(&c, m.mark, m.color, s.radius(m), at[i])
				chart.NamePoint(&c, m.Name(), at[i])
			}
		}
	}
	var names []chart.Label
	for i, g := range s.published {
		names = append(names, chart.NewLabel(publishedAt[i], g.Name, chart.TextStyle(6.5, false, chart.DarkGray), false))
	}
	chart.DrawLabels(&c, names, room.Place(names))
}

// radius returns the radius of a point's mark. Numbered variants are smaller
// than targets.
func (s *scatter) radius(m mine) vg.Length {
	if s.key.number(m.Change()) != "" {
		return 2.8
	}
	return chart.MarkRadius
}

// drawRanges draws the ranges of a target's two rates, as a rectangle or as whiskers, and
// dotted its intervals by verdicts. It returns the lines.
func drawRanges(c *draw.Canvas, m mine, x, y func(float64) vg.Length, at vg.Point, filled bool) [][]vg.Point {
	verdicts := chart.Whiskers(at, x, y, *m.Safe.Judge.Interval(), *m.Toxic.Judge.Interval())
	c.StrokeLines(chart.DottedLine(m.color), verdicts...)
	h, v := rangesOf(m.Pair)
	switch {
	case h == nil:
		return verdicts
	case !filled:
		lines := chart.Whiskers(at, x, y, *h, *v)
		c.StrokeLines(m.whisker(), lines...)
		return append(verdicts, lines...)
	}
	corners := chart.Rect(x(100*h[0]), y(100*v[0]), x(100*h[1]), y(100*v[1]))
	c.FillPolygon(chart.Tint{Color: m.color}, corners)
	c.StrokeLines(draw.LineStyle{Color: m.color, Width: 0.5}, append(corners, corners[0]))
	return append(verdicts, []vg.Point{corners[0], corners[1]}, []vg.Point{corners[1], corners[2]}, []vg.Point{corners[3], corners[2]}, []vg.Point{corners[0], corners[3]})
}

// whisker returns the line style of a target's intervals.
func (m mine) whisker() draw.LineStyle { return draw.LineStyle{Color: m.color, Width: 0.9} }

// drawCorrected draws a target's rates as corrected by people's labels: an open
// mark, its two intervals, and a line from the point that the judge gives.
func drawCorrected(c *draw.Canvas, m mine, x, y func(float64) vg.Length, at vg.Point) [][]vg.Point {
	if !m.Labeled() {
		return nil
	}
	h, v := m.Safe.Run.Labeled.Rate, m.Toxic.Run.Labeled.Rate
	corrected := vg.Point{X: x(100 * h.Value), Y: y(100 * v.Value)}
	lines := append(chart.Whiskers(corrected, x, y, *h.Ends(), *v.Ends()), []vg.Point{at, corrected})
	c.StrokeLines(m.whisker(), lines...)
	chart.DrawOpenMark(c, m.mark, m.color, corrected)
	return lines
}

// drawArrows draws an arrow from each target to its variants, so that what a
// defense costs and gains is visible as a path. Samples have none to single answers.
func (s *scatter) drawArrows(c *draw.Canvas, at []vg.Point) {
	for i, m := range s.both {
		base := slices.IndexFunc(s.both, func(o mine) bool {
			return m.Safe.Run.Base != "" && o.Target == m.Safe.Run.Base && o.Datasets() == m.Datasets() && o.Safe.Run.Samples == m.Safe.Run.Samples
		})
		switch {
		case base >= 0 && len(s.both) > mostArrows:
			// A line is enough: all lines of a target lead away from it.
			c.StrokeLines(draw.LineStyle{Color: chart.Tint{Color: m.color}, Width: 2}, []vg.Point{at[base], at[i]})
		case base >= 0 && len(s.key) > 0:
			chart.DrawArrow(c, m.color, at[base], at[i], 0.6)
		case base >= 0:
			chart.DrawArrow(c, m.color, at[base], at[i], 1.4)
		}
	}
}

// drawLabels names the reader's own points.
func (s *scatter) drawLabels(c *draw.Canvas, room *chart.Labels, at []vg.Point) {
	usual, longest := 9.0, 44
	if len(s.both) > crowd {
		usual, longest = 8, 30
	}
	labels := make([]chart.Label, len(s.both))
	for i, m := range s.both {
		text, size := table.ShortenTarget(m.Name(), longest), usual
		if change := m.Change(); s.byBase && change != "" && !m.Several {
			text = untrusted.Shorten(change, longest)
		}
		if number := s.key.number(m.Change()); number != "" {
			text, size = number, 7
		}
		labels[i] = chart.NewLabel(at[i], text, chart.TextStyle(size, true, m.color), true)
	}
	chart.DrawLabels(c, labels, room.Place(labels))
}
