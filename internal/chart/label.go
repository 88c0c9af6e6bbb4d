package chart

import (
	"math"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Label is a text to be placed near its point without covering anything.
type Label struct {
	At            vg.Point
	Width, Height vg.Length
	Text          string
	Style         text.Style
	// Keep is true for a label that must appear. If needed it is placed away
	// from its point and joined to it by a line. Other labels are left out if
	// there is no room.
	Keep bool
}

// NewLabel makes a label of a text.
func NewLabel(at vg.Point, s string, sty text.Style, keep bool) Label {
	return Label{At: at, Width: sty.Width(s), Height: sty.Font.Size, Text: s, Style: sty, Keep: keep}
}

// DrawLabels draws labels where they were placed. Labels that must appear have
// a background of their own, which keeps them readable over lines.
func DrawLabels(c *draw.Canvas, labels []Label, placed []Placement) {
	for i, where := range placed {
		if where.Led {
			c.StrokeLines(draw.LineStyle{Color: labels[i].Style.Color, Width: 0.5}, []vg.Point{labels[i].At, where.Elbow})
		}
	}
	for i, where := range placed {
		l, x, y := labels[i], where.Corner.X, where.Corner.Y
		if l.Keep {
			c.FillPolygon(Background, Rect(x-1, y-1, x+l.Width+1, y+l.Height))
		}
		if where.Shown {
			c.FillText(l.Style, where.Corner, l.Text)
		}
	}
}

// Placement is where a label was placed.
type Placement struct {
	// Corner is the lower left corner of the text.
	Corner vg.Point
	Shown  bool
	// Led is true if the label is so far from its point that a line should join
	// the point to Elbow, on the label's edge.
	Led   bool
	Elbow vg.Point
}

// Labels records which parts of a plot are taken.
type Labels struct {
	Area vg.Rectangle
	// Hard must not be covered: marks and other labels. Soft should not be
	// covered: whiskers.
	Hard, Soft []vg.Rectangle
	leaders    [][2]vg.Point
	// Points are the marks that a label without a line could seem to belong to,
	// including its own.
	Points []vg.Point
}

// Place finds room for the labels one after the other. For each it tries the
// eight sides of the point, then rings further out, and takes the cheapest
// place. Covering something hard costs more than any distance.
func (m *Labels) Place(labels []Label) []Placement {
	placed := make([]Placement, len(labels))
	for i, l := range labels {
		placed[i] = m.placeOne(l)
	}
	return placed
}

const (
	// gap is the least distance between a mark's center and its label's edge.
	gap = vg.Length(6)
	// labelRings is how many distances are tried; ringStep is the distance
	// between them.
	labelRings = 80
	ringStep   = vg.Length(7)
	// nearRings is how many rings are so near that a label needs no line to its
	// point.
	nearRings = 2
)

// placeOne places one label, given those before it.
func (m *Labels) placeOne(l Label) Placement {
	best, bestCost := Placement{}, math.Inf(1)
	rings := labelRings
	if !l.Keep {
		rings = 1
	}
	for ring := range rings {
		// Further rings only add distance, so none can be cheaper than a place
		// that covers nothing.
		if bestCost < ringCost(ring) {
			break
		}
		sides := 8 * (1 + min(ring, 3))
		for k := range sides {
			p := l.around(k, sides, gap+vg.Length(ring)*ringStep)
			p.Led = ring >= nearRings
			cost := m.cost(l, p) + ringCost(ring) + 0.01*float64(k)
			if cost < bestCost {
				best, bestCost = p, cost
			}
		}
	}
	// An optional label is left out if it would cover anything.
	if !l.Keep && bestCost >= 5 {
		return Placement{}
	}
	best.Shown = true
	m.Hard = append(m.Hard, l.box(best))
	if best.Led {
		m.leaders = append(m.leaders, [2]vg.Point{l.At, best.Elbow})
	}
	return best
}

func ringCost(ring int) float64 { return 3 * float64(ring) }

// around puts the label in direction k of sides directions from its point, with
// its nearest edge at the given distance. Direction 0 is to the right.
func (l Label) around(k, sides int, distance vg.Length) Placement {
	sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(sides))
	near := vg.Point{X: l.At.X + distance*vg.Length(cos), Y: l.At.Y + distance*vg.Length(sin)}
	// The edge of the label that faces the point is what is placed: its left
	// edge on the right side, its middle above and below.
	p := Placement{Elbow: near}
	p.Corner.X = near.X - l.Width*vg.Length(1-cos)/2
	p.Corner.Y = near.Y - l.Height*vg.Length(1-sin)/2
	return p
}

// box returns the space of a placed label, with a little room around it.
func (l Label) box(p Placement) vg.Rectangle {
	const air = 1.5
	return vg.Rectangle{
		Min: vg.Point{X: p.Corner.X - air, Y: p.Corner.Y - air},
		Max: vg.Point{X: p.Corner.X + l.Width + air, Y: p.Corner.Y + l.Height + air},
	}
}

// cost returns the cost of what a placement would cover.
func (m *Labels) cost(l Label, p Placement) float64 {
	box := l.box(p)
	if box.Min.X < m.Area.Min.X || box.Max.X > m.Area.Max.X || box.Min.Y < m.Area.Min.Y || box.Max.Y > m.Area.Max.Y {
		return 1e9
	}
	cost := 0.0
	for _, h := range m.Hard {
		if a := Overlap(box, h); a > 0 {
			cost += 1e5 + a
		}
		if p.Led && crosses(l.At, p.Elbow, h) {
			cost += 40
		}
	}
	for _, s := range m.Soft {
		if Overlap(box, s) > 0 {
			cost += 14
		}
	}
	if own := Distance(box, l.At); !p.Led {
		for _, other := range m.Points {
			if other != l.At && Distance(box, other) < own+2 {
				cost += 25
			}
		}
	}
	for _, line := range m.leaders {
		if crosses(line[0], line[1], box) {
			cost += 300
		}
		if p.Led && meet(l.At, p.Elbow, line[0], line[1]) {
			cost += 60
		}
	}
	return cost
}

// Overlap returns the area that two rectangles share.
func Overlap(a, b vg.Rectangle) float64 {
	w := min(a.Max.X, b.Max.X) - max(a.Min.X, b.Min.X)
	h := min(a.Max.Y, b.Max.Y) - max(a.Min.Y, b.Min.Y)
	if w <= 0 || h <= 0 {
		return 0
	}
	return float64(w * h)
}

// Distance returns how far a point is from a rectangle; it is 0 inside.
func Distance(r vg.Rectangle, p vg.Point) vg.Length {
	dx := max(r.Min.X-p.X, p.X-r.Max.X, 0)
	dy := max(r.Min.Y-p.Y, p.Y-r.Max.Y, 0)
	return vg.Length(math.Hypot(float64(dx), float64(dy)))
}

// crosses reports whether a line passes through a rectangle that does not
// contain its start. A label's line starts on its own point's mark.
func crosses(from, to vg.Point, r vg.Rectangle) bool {
	inside := func(p vg.Point) bool {
		return p.X > r.Min.X && p.X < r.Max.X && p.Y > r.Min.Y && p.Y < r.Max.Y
	}
	if inside(from) {
		return false
	}
	if inside(to) {
		return true
	}
	a, b := r.Min, r.Max
	return meet(from, to, a, b) || meet(from, to, vg.Point{X: a.X, Y: b.Y}, vg.Point{X: b.X, Y: a.Y})
}

// meet reports whether two lines cross.
func meet(a, b, c, d vg.Point) bool {
	side := func(p, q, r vg.Point) vg.Length { return (q.X-p.X)*(r.Y-p.Y) - (q.Y-p.Y)*(r.X-p.X) }
	return side(a, b, c)*side(a, b, d) < 0 && side(c, d, a)*side(c, d, b) < 0
}

// SquareAround returns the square that a mark takes around a point.
func SquareAround(p vg.Point, r vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: p.X - r, Y: p.Y - r}, Max: vg.Point{X: p.X + r, Y: p.Y + r}}
}

// Along returns the rectangle around the line from a to b, with half a point of
// room on each side. No coordinate of b may be smaller than that of a.
func Along(a, b vg.Point) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: a.X - 0.5, Y: a.Y - 0.5}, Max: vg.Point{X: b.X + 0.5, Y: b.Y + 0.5}}
}
