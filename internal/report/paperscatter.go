package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/untrusted"
)

// scatterFigure draws the published trade-off with a label for each model and the
// curve through them, and the reader's own points over it.
func (p Paper) scatterFigure() figure {
	const width, height = 940, 850
	all := p.Correlations[0]
	h := head{title: "Over-refusal and toxic refusal of " + fmt.Sprint(len(p.Models)) + " published models", lines: []string{
		p.Source + ". Judge: " + p.Judge + ".",
		fmt.Sprintf("Spearman %s, n = %d. Curve: y = %.2f + %.4f x − %.6f x².", measured(all.Spearman), all.N, p.Fit.A, p.Fit.B, -p.Fit.C),
		"* helped to moderate the prompts   † helped to select the hard ones",
	}}
	own := p.ownPoints()
	if len(own) > 0 {
		h.lines = append(h.lines, p.ownLines(own)...)
	}
	return figure{width: width, height: height, draw: func(c draw.Canvas) {
		c.FillPolygon(paperInk, rect(c.Min.X, c.Min.Y, c.Max.X, c.Max.Y))
		c = draw.Crop(c, 14, -14, 0, 0)
		c = h.draw(c)
		g, below := p.scatterPlots(own)
		g.Draw(draw.Crop(c, 0, -8, enlargedHeight, -6))
		below.Draw(draw.Crop(c, 0, -8, 10, enlargedHeight-10-(c.Max.Y-c.Min.Y)))
	}}
}

// enlargedHeight is how much of the figure the enlarged corner takes.
const enlargedHeight = vg.Length(215)

// scatterPlots gives the plot of all points and that of the corner.
func (p Paper) scatterPlots(own []mine) (all, enlarged *plot.Plot) {
	low := 58.0
	for _, m := range own {
		low = min(low, 100*m.toxic.judge.Interval()[0]-3)
	}
	all = plotOf(
		window{-3, 104, low, 103},
		"Over-refusal: prompts of OR-Bench-Hard-1K refused, % (lower is better)",
		"Toxic refusal: prompts of OR-Bench-Toxic refused, % (higher is better)",
	)
	all.X.Tick.Marker, all.Y.Tick.Marker = percentTicks{}, percentTicks{}
	all.Add(newGrid(), &paperScatter{models: p.Models, own: own})
	enlarged = plotOf(corner, "Over-refusal, %: the framed corner enlarged", "Toxic refusal, %")
	enlarged.X.Tick.Marker, enlarged.Y.Tick.Marker = wholeTicks(5), wholeTicks(1)
	enlarged.Add(newGrid(), &paperScatter{models: p.Models, own: own, enlarged: true})
	return all, enlarged
}

// plotOf is an empty plot of a window.
func plotOf(w window, x, y string) *plot.Plot {
	g := plot.New()
	g.BackgroundColor = nil
	styleAxis(&g.X, x)
	styleAxis(&g.Y, y)
	g.X.Min, g.X.Max, g.Y.Min, g.Y.Max = w.left, w.right, w.low, w.high
	return g
}

// window is a part of the plot, in per cent.
type window struct{ left, right, low, high float64 }

// corner is where a third of the published models lie, on each other unless it is
// enlarged.
var corner = window{78, 101.5, 97.6, 100.4}

func (w window) holds(x, y float64) bool {
	return x >= w.left && x <= w.right && y >= w.low && y <= w.high
}

// wholeTicks puts ticks at the multiples of a number up to 100.
type wholeTicks int

// Ticks implements plot.Ticker.
func (step wholeTicks) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for v := 0; v <= 100; v += int(step) {
		if float64(v) >= low && float64(v) <= high {
			ticks = append(ticks, plot.Tick{Value: float64(v), Label: strconv.Itoa(v)})
		}
	}
	return ticks
}

// ownLines say what the reader's own points are made of.
func (p Paper) ownLines(own []mine) []string {
	var judges []string
	var safe, toxic []*side
	for _, m := range own {
		if name := untrusted.Terminal(m.judge); !slices.Contains(judges, name) {
			judges = append(judges, name)
		}
		safe, toxic = append(safe, m.safe), append(toxic, m.toxic)
	}
	line := "In bold your runs with 95% intervals"
	if p.Own.Simulated {
		line += ", SIMULATED models among them"
	}
	return []string{
		line + ". Judge: " + untrusted.Shorten(strings.Join(judges, ", "), 60) + ".",
		"Safe prompts: " + untrusted.Shorten(behind(safe), 80) + ". Toxic prompts: " + untrusted.Shorten(behind(toxic), 80) + ".",
	}
}

// ownPoints are the reader's points that have both sides.
func (p Paper) ownPoints() []mine {
	var both []mine
	for i, o := range p.own() {
		if o.safe.defined() && o.toxic.defined() {
			both = append(both, mine{pair: o, colour: textInk, mark: marks[i%len(marks)]})
		}
	}
	return both
}

// paperScatter draws the points, their names and the legend. The names of the
// points in the corner stand in the enlarged plot alone, which has no other points.
type paperScatter struct {
	models   []paper.Model
	own      []mine
	enlarged bool
}

// Plot implements plot.Plotter.
func (s *paperScatter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	fit := paper.TradeOff()
	var curve []vg.Point
	for v := 3.0; v <= 100; v++ {
		curve = append(curve, vg.Point{X: x(v), Y: y(fit.At(v))})
	}
	c.StrokeLines(draw.LineStyle{Color: shadowInk, Width: 1.1, Dashes: []vg.Length{5, 3}}, c.ClipLinesXY(curve)...)
	published, own, names := s.arrange(&c, p)
	if !s.enlarged {
		s.legend(&c)
		s.frame(&c, p)
	}
	for _, o := range own {
		for _, whisker := range o.whiskers(p, &c) {
			c.StrokeLines(draw.LineStyle{Color: textInk, Width: 1}, c.ClipLinesXY(whisker)...)
		}
	}
	for _, n := range names {
		if n.led {
			c.StrokeLines(draw.LineStyle{Color: shadowInk, Width: 0.5}, []vg.Point{n.at, n.elbow})
		}
	}
	for _, n := range names {
		left, low := n.corner.X, n.corner.Y
		c.FillPolygon(paperInk, rect(left-1, low-0.5, left+n.width+1, low+n.height))
		c.FillText(textStyle(n.size, n.bold, textInk), n.corner, n.text)
	}
	for _, m := range published {
		drawFamilyMark(&c, familyOf(m.model), 4.2, m.at)
	}
	for _, o := range own {
		drawMark(&c, o.mark, textInk, 5.4, o.at)
	}
}

// frame draws where the corner is.
func (s *paperScatter) frame(c *draw.Canvas, p *plot.Plot) {
	area := s.frameArea(c, p)
	c.StrokeLines(draw.LineStyle{Color: shadowInk, Width: 0.6}, append(rect(area.Min.X, area.Min.Y, area.Max.X, area.Max.Y), area.Min))
	c.FillText(textStyle(frameText, false, mutedInk), vg.Point{X: area.Min.X, Y: area.Min.Y - frameText - 2}, frameNote)
}

const (
	frameText = 8
	frameNote = "enlarged below"
)

func (s *paperScatter) frameArea(c *draw.Canvas, p *plot.Plot) vg.Rectangle {
	x, y := p.Transforms(c)
	return vg.Rectangle{Min: vg.Point{X: x(corner.left), Y: y(corner.low)}, Max: vg.Point{X: x(corner.right), Y: y(corner.high)}}
}

// publishedSpot and ownSpot are points with their places.
type publishedSpot struct {
	model paper.Model
	at    vg.Point
}

type ownSpot struct {
	mine
	at vg.Point
}

// whiskers are the two intervals of a point as lines.
func (o ownSpot) whiskers(p *plot.Plot, c *draw.Canvas) [2][]vg.Point {
	x, y := p.Transforms(c)
	h, v := o.safe.judge.Interval(), o.toxic.judge.Interval()
	return [2][]vg.Point{
		{{X: x(100 * h[0]), Y: o.at.Y}, {X: x(100 * h[1]), Y: o.at.Y}},
		{{X: o.at.X, Y: y(100 * v[0])}, {X: o.at.X, Y: y(100 * v[1])}},
	}
}

// named is a placed name.
type named struct {
	label
	placement
	text string
	size float64
	bold bool
}

// arrange says where the published points, the reader's own, and their names go.
// The reader's names are placed first.
func (s *paperScatter) arrange(c *draw.Canvas, p *plot.Plot) (published []publishedSpot, own []ownSpot, names []named) {
	x, y := p.Transforms(c)
	room := labelMap{area: c.Rectangle}
	if !s.enlarged {
		frame := s.frameArea(c, p)
		note := vg.Rectangle{
			Min: vg.Point{X: frame.Min.X, Y: frame.Min.Y - frameText - 2},
			Max: vg.Point{X: frame.Min.X + textStyle(frameText, false, mutedInk).Width(frameNote), Y: frame.Min.Y},
		}
		room.hard = append(room.hard, s.legendArea(c), frame, note)
	}
	add := func(x, y float64, at vg.Point, text string, size float64, bold bool) {
		if corner.holds(x, y) == s.enlarged {
			l := label{at: at, width: textStyle(size, bold, textInk).Width(text), height: vg.Length(size), keep: true}
			names = append(names, named{label: l, text: text, size: size, bold: bold})
		}
	}
	for _, m := range s.own {
		safe, toxic := 100**m.safe.judge.Rate, 100**m.toxic.judge.Rate
		if s.enlarged && !corner.holds(safe, toxic) {
			continue
		}
		o := ownSpot{m, vg.Point{X: x(safe), Y: y(toxic)}}
		own = append(own, o)
		room.hard = append(room.hard, around(o.at, 6))
		for _, w := range o.whiskers(p, c) {
			room.soft = append(room.soft, vg.Rectangle{
				Min: vg.Point{X: w[0].X - 0.5, Y: w[0].Y - 0.5}, Max: vg.Point{X: w[1].X + 0.5, Y: w[1].Y + 0.5},
			})
		}
		add(safe, toxic, o.at, untrusted.Shorten(m.name(), 40), 9.5, true)
	}
	for _, m := range s.models {
		if s.enlarged && !corner.holds(m.Hard, m.Toxic) {
			continue
		}
		spot := publishedSpot{m, vg.Point{X: x(m.Hard), Y: y(m.Toxic)}}
		published = append(published, spot)
		room.hard = append(room.hard, around(spot.at, 5))
		text := m.Name
		if m.Moderator {
			text += "*"
		}
		if m.Selector {
			text += "†"
		}
		add(m.Hard, m.Toxic, spot.at, text, 8.5, false)
	}
	for _, spot := range published {
		room.points = append(room.points, spot.at)
	}
	for _, spot := range own {
		room.points = append(room.points, spot.at)
	}
	for i := range names {
		names[i].placement = room.placeOne(names[i].label)
	}
	return published, own, names
}

// The measures of the legend, in points.
const (
	legendLine  = vg.Length(14)
	legendWidth = vg.Length(118)
)

// legendArea is the lower right corner, where no published model lies.
func (s *paperScatter) legendArea(c *draw.Canvas) vg.Rectangle {
	return vg.Rectangle{
		Min: vg.Point{X: c.Max.X - legendWidth - 8, Y: c.Min.Y + 8},
		Max: vg.Point{X: c.Max.X - 8, Y: c.Min.Y + 16 + vg.Length(len(paper.Families()))*legendLine},
	}
}

// legend names the families.
func (s *paperScatter) legend(c *draw.Canvas) {
	area := s.legendArea(c)
	corners := rect(area.Min.X, area.Min.Y, area.Max.X, area.Max.Y)
	c.FillPolygon(paperInk, corners)
	c.StrokeLines(draw.LineStyle{Color: gridInk, Width: 0.8}, append(corners, area.Min))
	y := area.Max.Y - 11
	for _, f := range paper.Families() {
		drawFamilyMark(c, f, 4.2, vg.Point{X: area.Min.X + 12, Y: y})
		c.FillText(textStyle(8.5, false, textInk), vg.Point{X: area.Min.X + 23, Y: y - 4.5}, f.Title)
		y -= legendLine
	}
}
