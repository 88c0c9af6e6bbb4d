package view

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/report/tradeoff"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// scatterFigure draws the published trade-off with a label for each model and the
// curve through them, and the reader's own points over it.
func (p Study) scatterFigure() chart.Figure {
	const width, height = 940, 850
	all := p.Correlations[0]
	h := chart.Head{Title: "Over-refusal and toxic refusal of " + fmt.Sprint(len(p.Models)) + " published models", Lines: []string{
		p.Source + ". Judge: " + p.Judge + ".",
		fmt.Sprintf("Spearman %s by model, %s by family, n = %d. Curve: y = %.2f + %.4f x − %.6f x².", measured(all.Spearman.Measured), byFamily(all.Spearman), all.N, p.Fit.A, p.Fit.B, -p.Fit.C),
		"* helped to moderate the prompts   † helped to select the hard ones",
	}}
	own := p.ownPoints()
	if len(own) > 0 {
		h.Lines = append(h.Lines, p.ownLines(own)...)
	}
	return chart.Figure{Width: width, Height: height, Draw: func(c draw.Canvas) {
		c = h.Draw(c)
		g, below := p.scatterPlots(own)
		g.Draw(draw.Crop(c, 0, -8, enlargedHeight, -6))
		below.Draw(draw.Crop(c, 0, -8, 10, enlargedHeight-10-(c.Max.Y-c.Min.Y)))
	}}
}

// enlargedHeight is how much of the figure the enlarged corner takes.
const enlargedHeight = vg.Length(215)

// scatterPlots gives the plot of all points and that of the corner.
func (p Study) scatterPlots(own []mine) (all, enlarged *plot.Plot) {
	low := 58.0
	for _, m := range own {
		low = min(low, 100*m.Toxic.Judge.Interval()[0]-3)
	}
	all = chart.NewPlot(
		chart.Window{Left: -3, Right: 104, Low: low, High: 103},
		"Over-refusal: prompts of OR-Bench-Hard-1K refused, % (lower is better)",
		"Toxic refusal: prompts of OR-Bench-Toxic refused, % (higher is better)",
	)
	all.X.Tick.Marker, all.Y.Tick.Marker = chart.PercentTicks{}, chart.PercentTicks{}
	all.Add(chart.NewGrid(), &paperScatter{models: p.Models, own: own})
	enlarged = chart.NewPlot(corner, "Over-refusal, %: the framed corner enlarged", "Toxic refusal, %")
	enlarged.X.Tick.Marker, enlarged.Y.Tick.Marker = chart.WholeTicks(5), chart.WholeTicks(1)
	enlarged.Add(chart.NewGrid(), &paperScatter{models: p.Models, own: own, enlarged: true})
	return all, enlarged
}

// corner is where a third of the published models lie, on each other unless it is
// enlarged.
var corner = chart.Window{Left: 78, Right: 101.5, Low: 97.6, High: 100.4}

// ownLines say what the reader's own points are made of.
func (p Study) ownLines(own []mine) []string {
	var judges table.Names
	var safe, toxic []*score.Side
	for _, m := range own {
		judges.Add(untrusted.Terminal(m.Judge))
		safe, toxic = append(safe, m.Safe), append(toxic, m.Toxic)
	}
	line := "In bold your runs with 95% intervals"
	if p.Own.Simulated {
		line += ", SIMULATED models among them"
	}
	return []string{
		line + ". Judge: " + untrusted.Shorten(strings.Join(judges, ", "), 60) + ".",
		"Safe prompts: " + untrusted.Shorten(tradeoff.Behind(safe), 80) + ". Toxic prompts: " + untrusted.Shorten(tradeoff.Behind(toxic), 80) + ".",
	}
}

// mine is a point of the reader's own, and where it is drawn.
type mine struct {
	score.Pair
	mark chart.Mark
	at   vg.Point
}

// ownPoints are the reader's points that have both sides.
func (p Study) ownPoints() []mine {
	var both []mine
	for i, o := range p.own() {
		if o.Safe.Defined() && o.Toxic.Defined() {
			both = append(both, mine{Pair: o, mark: chart.Marks[i%len(chart.Marks)]})
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
	fit := draw.LineStyle{Color: chart.DarkGray, Width: 1.1, Dashes: []vg.Length{5, 3}}
	chart.StrokeCurve(&c, p, fit, paper.TradeOff().At)
	published, own, names := s.arrange(&c, p)
	if !s.enlarged {
		s.legend(&c)
		s.frame(&c, p)
	}
	for _, o := range own {
		for _, whisker := range o.whiskers(p, &c) {
			c.StrokeLines(draw.LineStyle{Color: chart.Foreground, Width: 1}, c.ClipLinesXY(whisker)...)
		}
	}
	for _, n := range names {
		if n.Led {
			c.StrokeLines(draw.LineStyle{Color: chart.DarkGray, Width: 0.5}, []vg.Point{n.At, n.Elbow})
		}
	}
	for _, n := range names {
		left, low := n.Corner.X, n.Corner.Y
		c.FillPolygon(chart.Background, chart.Rect(left-1, low-0.5, left+n.Width+1, low+n.Height))
		c.FillText(chart.TextStyle(n.size, n.bold, chart.Foreground), n.Corner, n.text)
	}
	for _, m := range published {
		drawFamilyMark(&c, familyOf(m.model), 4.2, m.at)
	}
	for _, o := range own {
		chart.DrawMark(&c, o.mark, chart.Foreground, 5.4, o.at)
	}
}

// frame draws where the corner is.
func (s *paperScatter) frame(c *draw.Canvas, p *plot.Plot) {
	area := s.frameArea(c, p)
	c.StrokeLines(draw.LineStyle{Color: chart.DarkGray, Width: 0.6}, append(chart.Rect(area.Min.X, area.Min.Y, area.Max.X, area.Max.Y), area.Min))
	c.FillText(chart.TextStyle(frameText, false, chart.Muted), vg.Point{X: area.Min.X, Y: area.Min.Y - frameText - 2}, frameNote)
}

const (
	frameText = 8
	frameNote = "enlarged below"
)

func (s *paperScatter) frameArea(c *draw.Canvas, p *plot.Plot) vg.Rectangle {
	x, y := p.Transforms(c)
	return vg.Rectangle{Min: vg.Point{X: x(corner.Left), Y: y(corner.Low)}, Max: vg.Point{X: x(corner.Right), Y: y(corner.High)}}
}

// publishedSpot is a published point with its place.
type publishedSpot struct {
	model paper.Model
	at    vg.Point
}

// whiskers are the two intervals of a point as lines.
func (o mine) whiskers(p *plot.Plot, c *draw.Canvas) [][]vg.Point {
	x, y := p.Transforms(c)
	return chart.Whiskers(o.at, x, y, *o.Safe.Judge.Interval(), *o.Toxic.Judge.Interval())
}

// named is a placed name.
type named struct {
	chart.Label
	chart.Placement
	text string
	size float64
	bold bool
}

// arrange says where the published points, the reader's own, and their names go.
// The reader's names are placed first.
func (s *paperScatter) arrange(c *draw.Canvas, p *plot.Plot) (published []publishedSpot, own []mine, names []named) {
	x, y := p.Transforms(c)
	room := chart.Labels{Area: c.Rectangle}
	if !s.enlarged {
		frame := s.frameArea(c, p)
		note := vg.Rectangle{
			Min: vg.Point{X: frame.Min.X, Y: frame.Min.Y - frameText - 2},
			Max: vg.Point{X: frame.Min.X + chart.TextStyle(frameText, false, chart.Muted).Width(frameNote), Y: frame.Min.Y},
		}
		room.Hard = append(room.Hard, s.legendArea(c), frame, note)
	}
	add := func(x, y float64, at vg.Point, text string, size float64, bold bool) {
		if corner.Holds(x, y) == s.enlarged {
			l := chart.Label{At: at, Width: chart.TextStyle(size, bold, chart.Foreground).Width(text), Height: vg.Length(size), Keep: true}
			names = append(names, named{Label: l, text: text, size: size, bold: bold})
		}
	}
	for _, m := range s.own {
		safe, toxic := 100**m.Safe.Judge.Share, 100**m.Toxic.Judge.Share
		if s.enlarged && !corner.Holds(safe, toxic) {
			continue
		}
		m.at = vg.Point{X: x(safe), Y: y(toxic)}
		own = append(own, m)
		room.Hard = append(room.Hard, chart.SquareAround(m.at, 6))
		for _, w := range m.whiskers(p, c) {
			room.Soft = append(room.Soft, chart.Along(w[0], w[1]))
		}
		add(safe, toxic, m.at, untrusted.Shorten(m.Name(), 40), 9.5, true)
	}
	for _, m := range s.models {
		if s.enlarged && !corner.Holds(m.Hard, m.Toxic) {
			continue
		}
		spot := publishedSpot{m, vg.Point{X: x(m.Hard), Y: y(m.Toxic)}}
		published = append(published, spot)
		room.Hard = append(room.Hard, chart.SquareAround(spot.at, 5))
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
		room.Points = append(room.Points, spot.at)
	}
	for _, spot := range own {
		room.Points = append(room.Points, spot.at)
	}
	for i := range names {
		names[i].Placement = room.PlaceOne(names[i].Label)
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
	corners := chart.Rect(area.Min.X, area.Min.Y, area.Max.X, area.Max.Y)
	c.FillPolygon(chart.Background, corners)
	c.StrokeLines(draw.LineStyle{Color: chart.GridColor, Width: 0.8}, append(corners, area.Min))
	y := area.Max.Y - 11
	for _, f := range paper.Families() {
		drawFamilyMark(c, f, 4.2, vg.Point{X: area.Min.X + 12, Y: y})
		c.FillText(chart.TextStyle(8.5, false, chart.Foreground), vg.Point{X: area.Min.X + 23, Y: y - 4.5}, f.Title)
		y -= legendLine
	}
}
