package report

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/paper"
)

// pie is a circle of shares, clockwise from the top.
type pie struct {
	title  string
	names  []string
	shares []float64 // in per cent
}

// The measures of a pie, in points.
const (
	pieWidth  = vg.Length(300)
	pieHeight = vg.Length(272)
	pieRadius = vg.Length(82)
	pieText   = 8.5
)

// pieInks are the colours of the slices. Names stand beside all slices and gaps
// between them, so that no colour has to be told from another.
var pieInks = []ink{
	series[0], series[1], series[2], ghostInk, series[4], series[5], series[6], series[3], shadowInk, mutedInk,
}

// pieFigure draws figure 7 as it was published.
func (p Paper) pieFigure() figure {
	pies := []pie{{title: "OR-Bench-80K"}, {title: "OR-Bench-Hard-1K"}, {title: "OR-Bench-Toxic"}}
	for _, c := range p.Categories {
		for i, share := range []float64{c.Share80K, c.ShareHard, c.ShareToxic} {
			pies[i].names = append(pies[i].names, string(c.Category)+" "+printedRate(share))
			pies[i].shares = append(pies[i].shares, share)
		}
	}
	h := head{title: "Figure 7: categories of the three sets, %", lines: []string{
		p.Source + ". The hard and the toxic set are the older version, of " +
			count(paper.HardOlder) + " and " + count(paper.ToxicOlder) + " prompts.",
	}}
	return figure{
		width: vg.Length(len(pies))*pieWidth + 28, height: h.height() + pieHeight,
		draw: func(c draw.Canvas) {
			c.FillPolygon(paperInk, rect(c.Min.X, c.Min.Y, c.Max.X, c.Max.Y))
			c = draw.Crop(c, 14, -14, 0, 0)
			c = h.draw(c)
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

func (p pie) draw(c draw.Canvas, centre vg.Point) {
	title := textStyle(10, true, textInk)
	title.XAlign = draw.XCenter
	c.FillText(title, vg.Point{X: centre.X, Y: centre.Y + pieRadius + 34}, p.title)
	on := func(angle float64, r vg.Length) vg.Point {
		sin, cos := math.Sincos(angle)
		return vg.Point{X: centre.X + r*vg.Length(sin), Y: centre.Y + r*vg.Length(cos)}
	}
	var sides [2][]slice
	from := 0.0
	for i, share := range p.shares {
		to := from + share/100*2*math.Pi
		outline := []vg.Point{centre}
		for steps := 1 + int((to-from)*30); len(outline) <= steps+1; {
			outline = append(outline, on(from+(to-from)*float64(len(outline)-1)/float64(steps), pieRadius))
		}
		c.FillPolygon(pieInks[i%len(pieInks)], outline)
		c.StrokeLines(draw.LineStyle{Color: paperInk, Width: 1.5}, append(outline, centre))
		middle := (from + to) / 2
		s := slice{p.names[i], middle, on(middle, pieRadius), on(middle, pieRadius+13).Y}
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
		spread(side, centre.Y)
		for _, s := range side {
			elbow := on(s.middle, pieRadius+7)
			sty := textStyle(pieText, false, textInk)
			sty.YAlign = draw.YCenter
			// The name keeps clear of the circle at its own height.
			dy := float64(s.y - centre.Y)
			clear := vg.Length(math.Sqrt(max(0, math.Pow(float64(pieRadius+12), 2)-dy*dy)))
			clear = max(clear, vg.Length(math.Abs(float64(elbow.X-centre.X)))+3)
			x := centre.X + clear
			if i == 1 {
				x = centre.X - clear
				sty.XAlign = draw.XRight
			}
			c.StrokeLines(draw.LineStyle{Color: shadowInk, Width: 0.5}, []vg.Point{s.edge, elbow, {X: x, Y: s.y}})
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
