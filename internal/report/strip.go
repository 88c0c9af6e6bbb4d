package report

import (
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// strip shows targets of which one side was measured: a line each, under a row of
// the published models.
type strip struct {
	title     string
	rows      []mine
	side      func(Pair) *score.Side
	published func(paper.Model) float64
}

// height is what the strip needs, nothing when it has no rows.
func (s strip) height() vg.Length {
	if len(s.rows) == 0 {
		return 0
	}
	return stripAround + vg.Length(len(s.rows)+1)*stripRow
}

// The strip's columns: names to the left, the scale, the figures to the right.
const (
	stripNames   = vg.Length(190)
	stripFigures = vg.Length(130)
)

func (s strip) draw(c draw.Canvas) {
	small := chart.TextStyle(9, false, chart.Muted)
	c.FillText(chart.TextStyle(10, false, chart.Foreground), vg.Point{X: c.Min.X, Y: c.Max.Y - 22}, s.title)
	left, right := c.Min.X+stripNames, c.Max.X-stripFigures
	x := func(share float64) vg.Length { return left + (right-left)*vg.Length(share) }
	top := c.Max.Y - 30
	bottom := top - vg.Length(len(s.rows)+1)*stripRow
	for v := 0; v <= 100; v += 20 {
		at := x(float64(v) / 100)
		c.StrokeLine2(draw.LineStyle{Color: chart.GridColor, Width: 0.6}, at, bottom, at, top)
		tick := small
		tick.XAlign = draw.XCenter
		c.FillText(tick, vg.Point{X: at, Y: bottom - 13}, strconv.Itoa(v))
	}
	names := small
	names.XAlign = draw.XRight
	y := top - stripRow/2
	c.FillText(names, vg.Point{X: left - 10, Y: y - 4}, "32 published models")
	for _, m := range paper.Models() {
		chart.DrawMark(&c, chart.Circle, chart.LightGray, 2.6, vg.Point{X: x(s.published(m) / 100), Y: y})
	}
	for _, m := range s.rows {
		y -= stripRow
		j := s.side(m.Pair).Judge
		ci := j.Interval()
		name := chart.TextStyle(9, true, m.color)
		name.XAlign = draw.XRight
		c.FillText(name, vg.Point{X: left - 10, Y: y - 4}, shortenTarget(m.Name(), 34))
		c.StrokeLine2(draw.LineStyle{Color: m.color, Width: 1.2}, x(ci[0]), y, x(ci[1]), y)
		chart.DrawMark(&c, m.mark, m.color, chart.MarkRadius, vg.Point{X: x(*j.Share), Y: y})
		c.FillText(chart.TextStyle(8, false, chart.Foreground), vg.Point{X: right + 10, Y: y - 4},
			table.Rate(j.Rate)+" ["+table.Interval(ci)+"], n = "+table.Count(j.Judged))
	}
}
