package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Mark is the shape of a point in a plot.
type Mark string

// The marks, each told from the others by its outline alone.
const (
	Circle       Mark = "circle"
	Square       Mark = "square"
	Triangle     Mark = "triangle"
	TriangleDown Mark = "triangle-down"
	Diamond      Mark = "diamond"
	Plus         Mark = "plus"
	Cross        Mark = "cross"
	Star         Mark = "star"
)

// Marks are the shapes beside Series, in the order of use.
var Marks = []Mark{Circle, Square, Triangle, Diamond, TriangleDown}

// MarkRadius is that of a point of the reader's own.
const MarkRadius = vg.Length(4.2)

// DrawMark draws a filled mark with a thin edge of the background's color, which
// keeps marks apart that lie on each other.
func DrawMark(c *draw.Canvas, m Mark, fill color.Color, radius vg.Length, at vg.Point) {
	path := MarkPath(m, radius, at)
	c.SetColor(fill)
	c.Fill(path)
	c.SetLineStyle(draw.LineStyle{Color: Background, Width: radius / 5})
	c.Stroke(path)
}

// DrawOpenMark draws the outline of a mark, which tells a corrected figure from the one
// that it corrects.
func DrawOpenMark(c *draw.Canvas, m Mark, edge color.Color, at vg.Point) {
	DrawMark(c, m, edge, MarkRadius, at)
	DrawMark(c, m, color.White, MarkRadius*2/3, at)
}

// DottedLine is the style of a range that counts the known error of a judge.
func DottedLine(c color.Color) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: 0.6, Dashes: []vg.Length{1, 2}}
}

// MarkPath is a mark's outline. The sizes differ a little so that all shapes look
// equally large.
func MarkPath(m Mark, r vg.Length, at vg.Point) vg.Path {
	var p vg.Path
	switch m {
	case Square:
		return polygon(at, r*1.2, 4, math.Pi/4)
	case Diamond:
		return polygon(at, r*1.25, 4, 0)
	case Triangle:
		return polygon(at, r*1.3, 3, math.Pi/2)
	case TriangleDown:
		return polygon(at, r*1.3, 3, -math.Pi/2)
	case Star:
		return star(at, r*1.35, r*0.6, 5)
	case Plus:
		return plus(at, r*1.2, 0)
	case Cross:
		return plus(at, r*1.25, math.Pi/4)
	}
	p.Move(vg.Point{X: at.X + r, Y: at.Y})
	p.Arc(at, r, 0, 2*math.Pi)
	p.Close()
	return p
}

// polygon is the outline of a regular polygon with its first corner at an angle.
func polygon(at vg.Point, r vg.Length, corners int, first float64) vg.Path {
	return closed(corners, func(i int) vg.Point {
		sin, cos := math.Sincos(first + 2*math.Pi*float64(i)/float64(corners))
		return vg.Point{X: at.X + r*vg.Length(cos), Y: at.Y + r*vg.Length(sin)}
	})
}

// star is a star whose first point is on top.
func star(at vg.Point, outer, inner vg.Length, points int) vg.Path {
	return closed(2*points, func(i int) vg.Point {
		r := outer
		if i%2 == 1 {
			r = inner
		}
		sin, cos := math.Sincos(math.Pi/2 + math.Pi*float64(i)/float64(points))
		return vg.Point{X: at.X + r*vg.Length(cos), Y: at.Y + r*vg.Length(sin)}
	})
}

// plus is a cross of two bars, turned by an angle.
func plus(at vg.Point, r vg.Length, angle float64) vg.Path {
	const half = 0.36 // of a bar's width, in radii
	corners := [][2]float64{
		{1, half},
		{half, half},
		{half, 1},
		{-half, 1},
		{-half, half},
		{-1, half},
		{-1, -half},
		{-half, -half},
		{-half, -1},
		{half, -1},
		{half, -half},
		{1, -half},
	}
	sin, cos := math.Sincos(angle)
	return closed(len(corners), func(i int) vg.Point {
		k := corners[i]
		return vg.Point{X: at.X + r*vg.Length(k[0]*cos-k[1]*sin), Y: at.Y + r*vg.Length(k[0]*sin+k[1]*cos)}
	})
}

// closed is the outline through so many corners.
func closed(corners int, at func(i int) vg.Point) vg.Path {
	var p vg.Path
	p.Move(at(0))
	for i := 1; i < corners; i++ {
		p.Line(at(i))
	}
	p.Close()
	return p
}
