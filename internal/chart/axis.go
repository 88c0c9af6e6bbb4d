package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Window is a part of a plot, in the units of its axes.
type Window struct{ Left, Right, Low, High float64 }

// Holds reports whether a point lies in the window.
func (w Window) Holds(x, y float64) bool {
	return x >= w.Left && x <= w.Right && y >= w.Low && y <= w.High
}

// NewPlot is an empty plot of a window with the titles of its axes.
func NewPlot(w Window, x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	styleAxis(&p.X, x)
	styleAxis(&p.Y, y)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = w.Left, w.Right, w.Low, w.High
	return p
}

func styleAxis(a *plot.Axis, title string) {
	a.Label.Text = title
	a.Label.TextStyle.Font = plotFont(10, false)
	a.Label.TextStyle.Color = Foreground
	a.Label.Padding = 4
	a.Color = LightGray
	a.LineStyle.Color = LightGray
	a.LineStyle.Width = 0.6
	a.Padding = 0
	a.Tick.Label.Font = plotFont(9, false)
	a.Tick.Label.Color = Muted
	a.Tick.LineStyle.Color = LightGray
	a.Tick.Length = 3
}

// PercentTicks puts ticks at round per cents and none beyond 0 and 100.
type PercentTicks struct{}

// Ticks implements plot.Ticker.
func (PercentTicks) Ticks(low, high float64) []plot.Tick {
	step := WholeTicks(20)
	if high-low <= 50 {
		step = 10
	}
	return step.Ticks(low, high)
}

// WholeTicks puts ticks at the multiples of a number from 0 to 100.
type WholeTicks int

// Ticks implements plot.Ticker.
func (step WholeTicks) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for v := 0; v <= 100; v += int(step) {
		if float64(v) >= low && float64(v) <= high {
			ticks = append(ticks, plot.Tick{Value: float64(v), Label: strconv.Itoa(v)})
		}
	}
	return ticks
}

// NewGrid is a grid at the ticks.
func NewGrid() *plotter.Grid {
	g := plotter.NewGrid()
	for _, s := range []*draw.LineStyle{&g.Vertical, &g.Horizontal} {
		s.Color, s.Width = GridColor, 0.6
	}
	return g
}

// StrokeCurve draws a function over the per cents from 3 to 100.
func StrokeCurve(c *draw.Canvas, p *plot.Plot, sty draw.LineStyle, at func(x float64) float64) {
	x, y := p.Transforms(c)
	var line []vg.Point
	for v := 3.0; v <= 100; v++ {
		line = append(line, vg.Point{X: x(v), Y: y(at(v))})
	}
	c.StrokeLines(sty, c.ClipLinesXY(line)...)
}

// Whiskers are the two lines through a point that span ranges of shares from 0 to 1, on a
// plot of per cents.
func Whiskers(at vg.Point, x, y func(float64) vg.Length, h, v [2]float64) [][]vg.Point {
	return [][]vg.Point{
		{{X: x(100 * h[0]), Y: at.Y}, {X: x(100 * h[1]), Y: at.Y}},
		{{X: at.X, Y: y(100 * v[0])}, {X: at.X, Y: y(100 * v[1])}},
	}
}

// DrawArrow draws an arrow from the edge of one mark to that of another, nothing
// where they all but touch.
func DrawArrow(c *draw.Canvas, color Color, from, to vg.Point, width vg.Length) {
	head, wing := 3.5+1.8*width, 1.4+0.86*width
	dx, dy := to.X-from.X, to.Y-from.Y
	length := vg.Length(math.Hypot(float64(dx), float64(dy)))
	if length < 2*(MarkRadius+head) {
		return
	}
	dx, dy = dx/length, dy/length
	from = vg.Point{X: from.X + dx*(MarkRadius+1), Y: from.Y + dy*(MarkRadius+1)}
	tip := vg.Point{X: to.X - dx*(MarkRadius+1), Y: to.Y - dy*(MarkRadius+1)}
	neck := vg.Point{X: tip.X - dx*head, Y: tip.Y - dy*head}
	c.StrokeLines(draw.LineStyle{Color: color, Width: width}, []vg.Point{from, neck})
	c.FillPolygon(color, []vg.Point{
		tip, {X: neck.X - dy*wing, Y: neck.Y + dx*wing}, {X: neck.X + dy*wing, Y: neck.Y - dx*wing},
	})
}
