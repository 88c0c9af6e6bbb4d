package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Mark is the shape of a point in a plot.
type Mark string

// The marks. Each can be told from the others by its outline alone.
const (
	Circle       Mark = "circle"
	Square       Mark = "square"
	Triangle     Mark = "triangle"
	TriangleDown Mark = "triangle-down"
	Diamond      Mark = "diamond"
	Plus         Mark = "plus"  // a star of four points
	Cross        Mark = "cross" // the same, turned
	Star         Mark = "star"
)

// Marks lists the shapes that go with Series, in the order of use.
var Marks = []Mark{Circle, Square, Triangle, Diamond, TriangleDown, Plus, Star, Cross}

// MarkRadius is the radius of one of the reader's own points.
const MarkRadius = vg.Length(4.2)

// DrawMark draws a filled mark with a thin edge in the background's color,
// which separates overlapping marks.
func DrawMark(c *draw.Canvas, m Mark, fill color.Color, radius vg.Length, at vg.Point) {
	path := MarkPath(m, radius, at)
	c.SetColor(fill)
	c.Fill(path)
	c.SetLineStyle(draw.LineStyle{Color: Background, Width: radius / 5})
	c.Stroke(path)
}

// DrawOpenMark draws the outline of a mark. It marks a corrected figure; the
// figure that it corrects is filled.
func DrawOpenMark(c *draw.Canvas, m Mark, edge color.Color, at vg.Point) {
	DrawMark(c, m, edge, MarkRadius, at)
	DrawMark(c, m, color.White, MarkRadius*2/3, at)
}

// shape is a polygon, or a star if inner is not 0.
type shape struct {
	corners int
	// outer is the distance of the corners from the center; inner is that of
	// every second corner of a star. Both are in radii. Sizes differ slightly
	// so that all shapes look equally large.
	outer, inner float64
	// first is the angle of the first corner.
	first float64
}

// shapes holds the shapes of all marks except the circle.
var shapes = map[Mark]shape{
	Square:       {4, 1.2, 0, math.Pi / 4},
	Diamond:      {4, 1.25, 0, 0},
	Triangle:     {3, 1.3, 0, math.Pi / 2},
	TriangleDown: {3, 1.3, 0, -math.Pi / 2},
	Star:         {10, 1.35, 0.6, math.Pi / 2},
	Plus:         {8, 1.45, 0.55, 0},
	Cross:        {8, 1.45, 0.55, math.Pi / 4},
}

// MarkPath returns a mark's outline.
func MarkPath(m Mark, r vg.Length, at vg.Point) (p vg.Path) {
	s, ok := shapes[m]
	if !ok {
		p.Move(vg.Point{X: at.X + r, Y: at.Y})
		p.Arc(at, r, 0, 2*math.Pi)
	}
	for i := range s.corners {
		distance := s.outer
		if i%2 == 1 && s.inner > 0 {
			distance = s.inner
		}
		sin, cos := math.Sincos(s.first + 2*math.Pi*float64(i)/float64(s.corners))
		corner := vg.Point{X: at.X + r*vg.Length(distance*cos), Y: at.Y + r*vg.Length(distance*sin)}
		if i == 0 {
			p.Move(corner)
		} else {
			p.Line(corner)
		}
	}
	p.Close()
	return p
}
