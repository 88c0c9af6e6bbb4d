package chart

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Pie is a circle of shares, clockwise from the top.
type Pie struct {
	Title string
	Names []string
	// Shares are in per cent.
	Shares []float64
}

// The measures of a pie, in points.
const (
	pieWidth  = vg.Length(300)
	pieHeight = vg.Length(272)
	pieRadius = vg.Length(82)
	pieText   = 8.5
)

// sliceColors are the colors of the slices. Names stand beside all slices and gaps
// between them, so that no color has to be told from another.
var sliceColors = []Color{
	Series[0], Series[1], Series[2], LightGray, Series[4], Series[5], Series[6], Series[3], DarkGray, Muted,
}

// Pies draws circles of shares side by side.
func Pies(h Head, pies []Pie) Figure {
	return Figure{
		Width: vg.Length(len(pies))*pieWidth + 2*Margin, Height: h.Height() + pieHeight,
		Draw: func(c draw.Canvas) {
			c = h.Draw(c)
			for i, one := range pies {
				one.draw(c, vg.Point{X: c.Min.X + (vg.Length(i)+0.5)*pieWidth, Y: c.Max.Y - pieHeight/2 - 14})
			}
		},
	}
}

// slice is where a share lies and where its name goes.
type slice struct {
	name string
	// middle is the angle of its middle, clockwise from the top.
	middle float64
	// edge is the middle of its rim, and y the height of its name.
	edge vg.Point
	y    vg.Length
}

func (p Pie) draw(c draw.Canvas, center vg.Point) {
	c.FillText(Centered(TextStyle(10, true, Foreground)), vg.Point{X: center.X, Y: center.Y + pieRadius + 34}, p.Title)
	on := func(angle float64, r vg.Length) vg.Point {
		sin, cos := math.Sincos(angle)
		return vg.Point{X: center.X + r*vg.Length(sin), Y: center.Y + r*vg.Length(cos)}
	}
	var sides [2][]slice
	from := 0.0
	for i, share := range p.Shares {
		to := from + share/100*2*math.Pi
		outline := []vg.Point{center}
		for steps := 1 + int((to-from)*30); len(outline) <= steps+1; {
			outline = append(outline, on(from+(to-from)*float64(len(outline)-1)/float64(steps), pieRadius))
		}
		c.FillPolygon(sliceColors[i%len(sliceColors)], outline)
		c.StrokeLines(draw.LineStyle{Color: Background, Width: 1.5}, append(outline, center))
		middle := (from + to) / 2
		s := slice{p.Names[i], middle, on(middle, pieRadius), on(middle, pieRadius+13).Y}
		side := 0
		if middle > math.Pi {
			side = 1
		}
		sides[side] = append(sides[side], s)
		from = to
	}
	// The left side is met from below.
	slices.Reverse(sides[1])
	for i, side := range sides {
		spread(side, center.Y)
		for _, s := range side {
			elbow := on(s.middle, pieRadius+7)
			sty := TextStyle(pieText, false, Foreground)
			sty.YAlign = draw.YCenter
			// The name keeps clear of the circle at its own height.
			dy := float64(s.y - center.Y)
			clear := vg.Length(math.Sqrt(max(0, math.Pow(float64(pieRadius+12), 2)-dy*dy)))
			clear = max(clear, vg.Length(math.Abs(float64(elbow.X-center.X)))+3)
			x := center.X + clear
			if i == 1 {
				x = center.X - clear
				sty.XAlign = draw.XRight
			}
			c.StrokeLines(draw.LineStyle{Color: DarkGray, Width: 0.5}, []vg.Point{s.edge, elbow, {X: x, Y: s.y}})
			gap := vg.Length(2)
			if i == 1 {
				gap = -gap
			}
			c.FillText(sty, vg.Point{X: x + gap, Y: s.y}, s.name)
		}
	}
}

// spread moves the names of one side, from the top down, apart until none touches
// the next, and then as a whole back to the middle as far as they left it.
func spread(side []slice, middle vg.Length) {
	const line = vg.Length(pieText + 2.5)
	if len(side) == 0 {
		return
	}
	before := side[0].y + side[len(side)-1].y
	for i := 1; i < len(side); i++ {
		side[i].y = min(side[i].y, side[i-1].y-line)
	}
	after := side[0].y + side[len(side)-1].y
	if low := side[len(side)-1].y; low < middle-pieRadius-13 {
		for i := range side {
			side[i].y += (before - after) / 2
		}
	}
}
