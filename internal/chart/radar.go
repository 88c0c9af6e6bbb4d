package chart

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Radar has a panel for each model: an outline for each line, over axes that all panels have.
type Radar struct {
	Head
	Axes []string
	// Lines are what the outlines are: at most two.
	Lines []string
	// Names are those of the panels. Shares, from 0 to 1, are by panel, line and axis; nil for
	// one that is not known.
	Names  []string
	Shares [][][]*float64
}

// The measures of a radar, in points. Two panels stand side by side.
const (
	radarHeight = vg.Length(196)
	radarRadius = vg.Length(66)
	radarLegend = vg.Length(12)
)

// The lines differ in marks and dashes too.
var (
	radarStyles = []draw.LineStyle{{Color: Series[1], Width: 1.4}, {Color: Series[0], Width: 1.4, Dashes: []vg.Length{4, 2}}}
	radarMarks  = []Mark{Circle, Square}
)

// Figure lays the panels out, as wide as a page.
func (r Radar) Figure() Figure {
	rows := (len(r.Names) + 1) / 2
	return r.Head.Figure(PageWidth, vg.Length(len(r.Lines))*radarLegend+vg.Length(rows)*radarHeight, func(c draw.Canvas) {
		legend := TextStyle(7.5, false, Foreground)
		for i, text := range r.Lines {
			y := c.Max.Y - radarLegend/2
			c.StrokeLine2(radarStyles[i], c.Min.X, y, c.Min.X+20, y)
			DrawMark(&c, radarMarks[i], radarStyles[i].Color, 2.4, vg.Point{X: c.Min.X + 10, Y: y})
			c.FillText(legend, vg.Point{X: c.Min.X + 25, Y: y - 2.5}, text)
			c.Max.Y -= radarLegend
		}
		for i := range r.Names {
			r.draw(c, i, vg.Point{
				X: c.Min.X + (vg.Length(i%2)+0.5)*(c.Max.X-c.Min.X)/2,
				Y: c.Max.Y - vg.Length(i/2)*radarHeight - radarHeight/2 - 4,
			})
		}
	})
}

// draw draws a panel around a center, its first axis upwards. What looks alike is one path,
// since a page has the drawing as text.
func (r Radar) draw(c draw.Canvas, panel int, center vg.Point) {
	axes := r.Axes
	at := func(axis int, share float64) vg.Point {
		sin, cos := math.Sincos(2 * math.Pi * float64(axis) / float64(len(axes)))
		return vg.Point{X: center.X + radarRadius*vg.Length(share*sin), Y: center.Y + radarRadius*vg.Length(share*cos)}
	}
	around := func(path *vg.Path, share func(axis int) float64) {
		path.Move(at(0, share(0)))
		for axis := 1; axis < len(axes); axis++ {
			path.Line(at(axis, share(axis)))
		}
		path.Close()
	}
	stroke := func(sty draw.LineStyle, path vg.Path) {
		c.SetLineStyle(sty)
		c.Stroke(path)
	}
	var grid vg.Path
	for _, share := range []float64{0.25, 0.5, 0.75, 1} {
		around(&grid, func(int) float64 { return share })
	}
	for axis := range axes {
		grid.Move(center)
		grid.Line(at(axis, 1))
	}
	stroke(draw.LineStyle{Color: GridColor, Width: 0.7}, grid)
	for axis, name := range axes {
		sty, end := Centered(TextStyle(7, false, Muted)), at(axis, 1.1)
		sty.YAlign = draw.YCenter
		switch {
		case end.X > center.X+6:
			sty.XAlign = draw.XLeft
		case end.X < center.X-6:
			sty.XAlign = draw.XRight
		}
		c.FillText(sty, end, name)
	}
	c.FillText(Centered(heatName), vg.Point{X: center.X, Y: center.Y + radarRadius + 16}, r.Names[panel])
	for i, shares := range r.Shares[panel] {
		// An outline over a gap would invent a rate.
		if !slices.Contains(shares, nil) {
			var outline vg.Path
			around(&outline, func(axis int) float64 { return *shares[axis] })
			stroke(radarStyles[i], outline)
		}
		var marks vg.Path
		for axis, share := range shares {
			if share != nil {
				marks = append(marks, MarkPath(radarMarks[i], 2, at(axis, *share))...)
			}
		}
		c.SetColor(radarStyles[i].Color)
		c.Fill(marks)
	}
}
