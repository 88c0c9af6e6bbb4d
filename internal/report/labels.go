package report

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// label is a text to be placed near its point without covering anything.
type label struct {
	at            vg.Point
	width, height vg.Length
	// keep is true for a label that must appear, if need be away from its point
	// and joined to it by a line; others are left out where there is no room.
	keep bool
}

// placement is where a label went.
type placement struct {
	// corner is the lower left corner of the text.
	corner vg.Point
	shown  bool
	// led is true when the label lies so far off that a line from its point to
	// elbow, on the label's edge, should join them.
	led   bool
	elbow vg.Point
}

// labelMap knows what part of a plot is taken.
type labelMap struct {
	area vg.Rectangle
	// hard must not be covered: marks and other labels. soft should not: whiskers.
	hard, soft []vg.Rectangle
	leaders    [][2]vg.Point
	// points are the marks that a label without a line could be taken to belong to,
	// its own among them.
	points []vg.Point
}

// place finds room for the labels one after the other. For each it tries the
// eight sides of the point, then rings further out, and takes the place that
// costs least; a hard cover costs more than any distance.
func (m *labelMap) place(labels []label) []placement {
	placed := make([]placement, len(labels))
	for i, l := range labels {
		placed[i] = m.placeOne(l)
	}
	return placed
}

const (
	// gap is the least distance between a mark's centre and its label's edge.
	gap = vg.Length(6)
	// labelRings is how many distances are tried, ringStep how far apart.
	labelRings = 80
	ringStep   = vg.Length(7)
	// nearRings is how many of them need no line back to the point.
	nearRings = 2
)

func (m *labelMap) placeOne(l label) placement {
	best, bestCost := placement{}, math.Inf(1)
	rings := labelRings
	if !l.keep {
		rings = 1
	}
	for ring := range rings {
		// Further rings only add distance, so none can beat a clean place.
		if bestCost < ringCost(ring) {
			break
		}
		sides := 8 * (1 + min(ring, 3))
		for k := range sides {
			p := l.around(k, sides, gap+vg.Length(ring)*ringStep)
			p.led = ring >= nearRings
			cost := m.cost(l, p) + ringCost(ring) + 0.01*float64(k)
			if cost < bestCost {
				best, bestCost = p, cost
			}
		}
	}
	// A label that may be left out is, rather than cover anything.
	if !l.keep && bestCost >= 5 {
		return placement{}
	}
	best.shown = true
	m.hard = append(m.hard, l.box(best))
	if best.led {
		m.leaders = append(m.leaders, [2]vg.Point{l.at, best.elbow})
	}
	return best
}

func ringCost(ring int) float64 { return 3 * float64(ring) }

// around puts the label on the k-th of some directions from its point, its
// nearest edge at the distance given. Direction 0 is to the right.
func (l label) around(k, sides int, distance vg.Length) placement {
	sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(sides))
	near := vg.Point{X: l.at.X + distance*vg.Length(cos), Y: l.at.Y + distance*vg.Length(sin)}
	// The label hangs on the point by its edge that faces it: by its left edge on
	// the right side, by its middle above and below.
	p := placement{elbow: near}
	p.corner.X = near.X - l.width*vg.Length(1-cos)/2
	p.corner.Y = near.Y - l.height*vg.Length(1-sin)/2
	return p
}

// box is the space that a placed label takes, with a little room around it.
func (l label) box(p placement) vg.Rectangle {
	const air = 1.5
	return vg.Rectangle{
		Min: vg.Point{X: p.corner.X - air, Y: p.corner.Y - air},
		Max: vg.Point{X: p.corner.X + l.width + air, Y: p.corner.Y + l.height + air},
	}
}

// cost weighs what a place would cover.
func (m *labelMap) cost(l label, p placement) float64 {
	box := l.box(p)
	if box.Min.X < m.area.Min.X || box.Max.X > m.area.Max.X || box.Min.Y < m.area.Min.Y || box.Max.Y > m.area.Max.Y {
		return 1e9
	}
	cost := 0.0
	for _, h := range m.hard {
		if a := overlap(box, h); a > 0 {
			cost += 1e5 + a
		}
		if p.led && crosses(l.at, p.elbow, h) {
			cost += 40
		}
	}
	for _, s := range m.soft {
		if overlap(box, s) > 0 {
			cost += 14
		}
	}
	if own := distance(box, l.at); !p.led {
		for _, other := range m.points {
			if other != l.at && distance(box, other) < own+2 {
				cost += 25
			}
		}
	}
	for _, line := range m.leaders {
		if crosses(line[0], line[1], box) {
			cost += 300
		}
		if p.led && meet(l.at, p.elbow, line[0], line[1]) {
			cost += 60
		}
	}
	return cost
}

// overlap is the area that two rectangles share.
func overlap(a, b vg.Rectangle) float64 {
	w := min(a.Max.X, b.Max.X) - max(a.Min.X, b.Min.X)
	h := min(a.Max.Y, b.Max.Y) - max(a.Min.Y, b.Min.Y)
	if w <= 0 || h <= 0 {
		return 0
	}
	return float64(w * h)
}

// distance is how far a point lies from a rectangle, 0 inside.
func distance(r vg.Rectangle, p vg.Point) vg.Length {
	dx := max(r.Min.X-p.X, p.X-r.Max.X, 0)
	dy := max(r.Min.Y-p.Y, p.Y-r.Max.Y, 0)
	return vg.Length(math.Hypot(float64(dx), float64(dy)))
}

// crosses reports whether a line passes through a rectangle that does not hold
// its start (the line of a label starts on its own point's mark).
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
