package chart

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/table"
)

// Radar is one panel: a model's rates by category, in per cent, in the order of the
// lines and the axes of Radars. A rate of table.Unknown is not known.
type Radar struct {
	Name  string
	Rates [2][]float64
}

// Radars are panels of two outlines each.
type Radars struct {
	Head
	// Axes are the categories, Lines what the two outlines are.
	Axes  []string
	Lines [2]string
	// Columns is how many panels stand side by side.
	Columns int
	Panels  []Radar
}

// The measures of a panel, in points.
const (
	radarWidth  = vg.Length(222)
	radarHeight = vg.Length(202)
	radarRadius = vg.Length(72)
)

// Figure lays the panels out.
func (r Radars) Figure() Figure {
	columns := min(r.Columns, len(r.Panels))
	rows := (len(r.Panels) + columns - 1) / columns
	const legendHeight = 22
	// The title needs some width even above a single panel.
	width := max(vg.Length(columns)*radarWidth+2*Margin, 520)
	return Figure{
		Width: width, Height: r.Height() + legendHeight + vg.Length(rows)*radarHeight + 8,
		Draw: func(c draw.Canvas) {
			c = r.Draw(c)
			x := c.Min.X
			for i, text := range r.Lines {
				c.StrokeLine2(radarLines[i], x, c.Max.Y-12, x+24, c.Max.Y-12)
				c.FillText(TextStyle(9, false, Foreground), vg.Point{X: x + 30, Y: c.Max.Y - 16.5}, text)
				x += 40 + TextStyle(9, false, Foreground).Width(text) + 20
			}
			c.Max.Y -= legendHeight
			for i, panel := range r.Panels {
				r.panel(c, panel, vg.Point{
					X: c.Min.X + (vg.Length(i%columns)+0.5)*radarWidth,
					Y: c.Max.Y - vg.Length(i/columns)*radarHeight - radarHeight/2 - 8,
				})
			}
		},
	}
}

// radarLines differ in more than color.
var radarLines = [2]draw.LineStyle{
	{Color: Series[1], Width: 1.6},
	{Color: Series[0], Width: 1.6, Dashes: []vg.Length{4, 2}},
}

// panel draws a panel around a center, its axes counter-clockwise from the east.
func (r Radars) panel(c draw.Canvas, panel Radar, center vg.Point) {
	at := func(i int, share float64) vg.Point {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(len(r.Axes)))
		d := radarRadius * vg.Length(share)
		return vg.Point{X: center.X + d*vg.Length(cos), Y: center.Y + d*vg.Length(sin)}
	}
	for ring := 20; ring <= 100; ring += 20 {
		c.StrokeLines(draw.LineStyle{Color: GridColor, Width: 0.7}, r.closed(func(i int) vg.Point { return at(i, float64(ring)/100) }))
	}
	for i, category := range r.Axes {
		end := at(i, 1)
		c.StrokeLine2(draw.LineStyle{Color: GridColor, Width: 0.7}, center.X, center.Y, end.X, end.Y)
		name := at(i, 1.07)
		sty := TextStyle(7, false, Muted)
		sty.XAlign, sty.YAlign = draw.XCenter, draw.YCenter
		switch dx := end.X - center.X; {
		case dx > 8:
			sty.XAlign = draw.XLeft
		case dx < -8:
			sty.XAlign = draw.XRight
		}
		c.FillText(sty, name, category)
	}
	c.FillText(Centered(TextStyle(9, true, Foreground)), vg.Point{X: center.X, Y: center.Y + radarRadius + 14}, panel.Name)
	for i, rates := range panel.Rates {
		sty := radarLines[i]
		if slices.Contains(rates, table.Unknown) {
			spokes(c, rates, sty, at)
			continue
		}
		line := r.closed(func(i int) vg.Point { return at(i, rates[i]/100) })
		c.FillPolygon(Translucent{sty.Color.(Color), 0x2C}, line)
		c.StrokeLines(sty, line)
	}
	for _, ring := range []int{20, 60, 100} {
		c.FillText(TextStyle(5.5, false, Muted), vg.Point{X: center.X + 2, Y: center.Y + radarRadius*vg.Length(ring)/100 - 6.5}, strconv.Itoa(ring))
	}
}

// spokes draws the known rates alone where some category is missing, because an
// outline over a gap would invent a rate for it.
func spokes(c draw.Canvas, rates []float64, sty draw.LineStyle, at func(int, float64) vg.Point) {
	for i, rate := range rates {
		if rate == table.Unknown {
			continue
		}
		from, to := at(i, 0), at(i, rate/100)
		c.StrokeLine2(sty, from.X, from.Y, to.X, to.Y)
		DrawMark(&c, Circle, sty.Color, 2.4, to)
	}
}

// closed gives the corners of a polygon with the first one at the end again.
func (r Radars) closed(corner func(int) vg.Point) []vg.Point {
	var line []vg.Point
	for i := range len(r.Axes) + 1 {
		line = append(line, corner(i%len(r.Axes)))
	}
	return line
}
