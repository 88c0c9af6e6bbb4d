package report

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/paper"
)

// scatterFigure draws the published trade-off with a label for each model and the
// curve through them, and the reader's own points over it.
func (p Paper) scatterFigure() figure {
	const width, height = 940, 700
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
		g := plot.New()
		g.BackgroundColor = nil
		styleAxis(&g.X, "Over-refusal: prompts of OR-Bench-Hard-1K refused, % (lower is better)")
		styleAxis(&g.Y, "Toxic refusal: prompts of OR-Bench-Toxic refused, % (higher is better)")
		low := 58.0
		for _, m := range own {
			low = min(low, 100*m.toxic.judge.CI95[0]-3)
		}
		g.X.Min, g.X.Max, g.Y.Min, g.Y.Max = -3, 104, low, 103
		g.X.Tick.Marker, g.Y.Tick.Marker = percentTicks{}, percentTicks{}
		g.Add(newGrid(), fitCurve{}, &paperScatter{models: p.Models, own: own})
		g.Draw(draw.Crop(c, 0, -8, 10, -6))
	}}
}

// ownLines say what the reader's own points are made of.
func (p Paper) ownLines(own []mine) []string {
	var judges []string
	var safe, toxic []*side
	for _, m := range own {
		if name := clean(m.judge); !slices.Contains(judges, name) {
			judges = append(judges, name)
		}
		safe, toxic = append(safe, m.safe), append(toxic, m.toxic)
	}
	line := "In bold your runs with 95% Wilson intervals"
	if p.Own.Simulated {
		line += ", SIMULATED models among them"
	}
	return []string{
		line + ". Judge: " + shorten(strings.Join(judges, ", "), 60) + ".",
		"Safe prompts: " + shorten(behind(safe), 80) + ". Toxic prompts: " + shorten(behind(toxic), 80) + ".",
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

// paperScatter draws the points and their names, and the legend.
type paperScatter struct {
	models []paper.Model
	own    []mine
}

func (s *paperScatter) Plot(c draw.Canvas, p *plot.Plot) {
	at, ownAt, names := s.arrange(&c, p)
	s.legend(&c)
	x, y := p.Transforms(&c)
	for i, m := range s.own {
		h, v := m.safe.judge.CI95, m.toxic.judge.CI95
		sty := draw.LineStyle{Color: textInk, Width: 1}
		c.StrokeLine2(sty, x(100*h[0]), ownAt[i].Y, x(100*h[1]), ownAt[i].Y)
		c.StrokeLine2(sty, ownAt[i].X, y(100*v[0]), ownAt[i].X, y(100*v[1]))
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
	for i, m := range s.models {
		drawFamilyMark(&c, familyOf(m), 4.2, at[i])
	}
	for i, m := range s.own {
		drawMark(&c, m.mark, textInk, 5.4, ownAt[i])
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

// arrange says where the published points, the reader's own, and all their names
// go. The reader's names are placed first.
func (s *paperScatter) arrange(c *draw.Canvas, p *plot.Plot) (at, ownAt []vg.Point, names []named) {
	x, y := p.Transforms(c)
	room := labelMap{area: c.Rectangle, hard: []vg.Rectangle{s.legendArea(c)}}
	add := func(at vg.Point, text string, size float64, bold bool) {
		sty := textStyle(size, bold, textInk)
		l := label{at: at, width: sty.Width(text), height: vg.Length(size), keep: true}
		names = append(names, named{label: l, text: text, size: size, bold: bold})
	}
	for _, m := range s.own {
		point := vg.Point{X: x(100 * *m.safe.judge.Rate), Y: y(100 * *m.toxic.judge.Rate)}
		ownAt = append(ownAt, point)
		h, v := m.safe.judge.CI95, m.toxic.judge.CI95
		room.hard = append(room.hard, around(point, 6))
		room.soft = append(
			room.soft,
			vg.Rectangle{Min: vg.Point{X: x(100 * h[0]), Y: point.Y - 0.5}, Max: vg.Point{X: x(100 * h[1]), Y: point.Y + 0.5}},
			vg.Rectangle{Min: vg.Point{X: point.X - 0.5, Y: y(100 * v[0])}, Max: vg.Point{X: point.X + 0.5, Y: y(100 * v[1])}},
		)
		add(point, shorten(clean(m.name()), 40), 9, true)
	}
	for _, m := range s.models {
		point := vg.Point{X: x(m.Hard), Y: y(m.Toxic)}
		at = append(at, point)
		room.hard = append(room.hard, around(point, 5))
		text := m.Name
		if m.Moderator {
			text += "*"
		}
		if m.Selector {
			text += "†"
		}
		add(point, text, 7.5, false)
	}
	for i := range names {
		names[i].placement = room.placeOne(names[i].label)
	}
	return at, ownAt, names
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
