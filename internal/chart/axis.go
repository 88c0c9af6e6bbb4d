package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Window is the part of a plane that a plot shows, in the units of its axes.
type Window struct{ Left, Right, Low, High float64 }

// Plot is a plot of a window, with titles and ticks on its axes.
type Plot struct {
	Window
	X, Y           string
	XTicks, YTicks []float64
}

// Ticks returns the multiples of step between low and high that lie from 0 to
// 100.
func Ticks(step, low, high float64) (ticks []float64) {
	for v := 0.0; v <= 100; v += step {
		if v >= low && v <= high {
			ticks = append(ticks, v)
		}
	}
	return ticks
}

// PercentTicks returns the ticks of an axis in per cent.
func PercentTicks(low, high float64) []float64 {
	if high-low <= 50 {
		return Ticks(10, low, high)
	}
	return Ticks(20, low, high)
}

// Transforms returns the functions that map values on the two axes to places on
// the canvas.
func (p Plot) Transforms(c *draw.Canvas) (x, y func(float64) vg.Length) {
	return func(v float64) vg.Length { return c.X((v - p.Left) / (p.Right - p.Left)) },
		func(v float64) vg.Length { return c.Y((v - p.Low) / (p.High - p.Low)) }
}

// The room for the titles and the ticks of the axes, in points.
const (
	leftOfPlot = vg.Length(31)
	belowPlot  = vg.Length(24)
)

// Draw draws the axes and a grid at their ticks, and returns the area between
// the axes. The labels of ticks at the ends extend beyond the canvas.
func (p Plot) Draw(c draw.Canvas) draw.Canvas {
	title, label := Centered(TextStyle(7.5, false, Foreground)), TextStyle(7, false, Muted)
	axis, grid := draw.LineStyle{Color: LightGray, Width: 0.6}, draw.LineStyle{Color: GridColor, Width: 0.6}
	in := draw.Crop(c, leftOfPlot, 0, belowPlot, 0)
	left, bottom, middle := in.Min.X, in.Min.Y, in.Center()
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	x, y := p.Transforms(&in)
	for _, v := range p.XTicks {
		c.StrokeLine2(grid, x(v), bottom, x(v), in.Max.Y)
		c.StrokeLine2(axis, x(v), bottom-3, x(v), bottom)
		c.FillText(Centered(label), vg.Point{X: x(v), Y: bottom - 11}, number(v))
	}
	right := Right(label)
	right.YAlign = draw.YCenter
	for _, v := range p.YTicks {
		c.StrokeLine2(grid, left, y(v), in.Max.X, y(v))
		c.StrokeLine2(axis, left-3, y(v), left, y(v))
		c.FillText(right, vg.Point{X: left - 6, Y: y(v) + 1}, number(v))
	}
	c.StrokeLine2(axis, left, bottom, in.Max.X, bottom)
	c.StrokeLine2(axis, left, bottom, left, in.Max.Y)
	c.FillText(title, vg.Point{X: middle.X, Y: c.Min.Y + 2}, p.X)
	title.Rotation = math.Pi / 2
	c.FillText(title, vg.Point{X: c.Min.X + 9, Y: middle.Y}, p.Y)
	return in
}

// StrokeCurve draws a function for x from 3 to 100 per cent.
func (p Plot) StrokeCurve(c *draw.Canvas, sty draw.LineStyle, at func(x float64) float64) {
	x, y := p.Transforms(c)
	var line []vg.Point
	for v := 3.0; v <= 100; v++ {
		line = append(line, vg.Point{X: x(v), Y: y(at(v))})
	}
	c.StrokeLines(sty, c.ClipLinesXY(line)...)
}

// Whiskers returns the two lines through a point that span ranges of shares
// from 0 to 1, on a plot in per cent.
func Whiskers(at vg.Point, x, y func(float64) vg.Length, h, v [2]float64) [][]vg.Point {
	return [][]vg.Point{
		{{X: x(100 * h[0]), Y: at.Y}, {X: x(100 * h[1]), Y: at.Y}},
		{{X: at.X, Y: y(100 * v[0])}, {X: at.X, Y: y(100 * v[1])}},
	}
}

// DrawArrow draws an arrow from the edge of one mark to the edge of another. It
// draws nothing if the marks almost touch.
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
