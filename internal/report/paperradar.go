package report

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/untrusted"
)

// The models of the paper's figures 3 and 8, in the order of their panels.
var (
	figure3 = []string{
		"Claude-3-opus", "GPT-3.5-turbo-0301", "Llama-3-70b", "Gemini-1.5-pro",
		"Claude-3.5-sonnet", "GPT-3.5-turbo-0125", "Llama-3.1-70B", "Gemma-2-27b",
	}
	figure8 = []string{
		"Claude-3-haiku", "Claude-3-sonnet", "Claude-3-opus",
		"Qwen-1.5-7B", "Qwen-1.5-32B", "Qwen-1.5-72B",
		"Mistral-small-latest", "Mistral-medium-latest", "Mistral-large-latest",
		"GPT-3.5-turbo-0301", "GPT-3.5-turbo-0613", "GPT-3.5-turbo-0125",
		"Gemini-1.0-pro", "Gemini-1.5-flash", "Gemini-1.5-pro",
	}
)

// radar is one panel: a model's two error rates by category, in per cent. A rate
// below 0 is one that is not known.
type radar struct {
	name        string
	over, toxic []float64
}

// The colours of the two errors, and the measures of a panel in points.
var overInk, acceptInk = series[1], series[0]

const (
	radarWidth  = vg.Length(222)
	radarHeight = vg.Length(202)
	radarRadius = vg.Length(72)
)

// publishedRadars gives the panels of some models.
func publishedRadars(names []string) []radar {
	hard, toxic := paper.HardRefusal(), paper.ToxicAcceptance()
	var panels []radar
	for _, name := range names {
		row := func(t paper.Table) []float64 {
			return t.Rows[slices.IndexFunc(t.Rows, func(r paper.Row) bool { return r.Model == name })].Rates
		}
		panels = append(panels, radar{name, row(hard), row(toxic)})
	}
	return panels
}

// ownRadars gives panels of the reader's runs on datasets with the paper's
// categories.
func (p Paper) ownRadars() []radar {
	var panels []radar
	for _, o := range p.own() {
		r := radar{name: untrusted.Shorten(o.name(), 34)}
		known := 0
		for _, c := range orbench.PaperCategories {
			of := func(s *side, refused bool) float64 {
				if s == nil || s.judge.ByCategory[c].N == 0 {
					return -1
				}
				known++
				n := s.judge.ByCategory[c]
				if !refused {
					n = score.Count{N: n.N, Refused: n.N - n.Refused}
				}
				return 100 * float64(n.Refused) / float64(n.N)
			}
			r.over = append(r.over, of(o.safe, true))
			r.toxic = append(r.toxic, of(o.toxic, false))
		}
		if known > 0 {
			panels = append(panels, r)
		}
	}
	return panels
}

// radarFigure draws panels in rows of so many columns. The note says where they
// come from.
func radarFigure(title, note string, panels []radar, columns int) figure {
	columns = min(columns, len(panels))
	rows := (len(panels) + columns - 1) / columns
	h := head{title: title, lines: []string{
		note, "Per cent by category, rings at 20, 40, 60, 80 and 100; smaller is better for both.",
	}}
	const legendHeight = 22
	// The title needs some width even above a single panel.
	width := max(vg.Length(columns)*radarWidth+28, 520)
	return figure{
		width: width, height: h.height() + legendHeight + vg.Length(rows)*radarHeight + 8,
		draw: func(c draw.Canvas) {
			c.FillPolygon(paperInk, rect(c.Min.X, c.Min.Y, c.Max.X, c.Max.Y))
			c = draw.Crop(c, 14, -14, 0, 0)
			c = h.draw(c)
			x := c.Min.X
			for _, l := range []struct {
				text string
				sty  draw.LineStyle
			}{{"safe prompts refused", overLine()}, {"toxic prompts answered", acceptLine()}} {
				c.StrokeLine2(l.sty, x, c.Max.Y-12, x+24, c.Max.Y-12)
				c.FillText(textStyle(9, false, textInk), vg.Point{X: x + 30, Y: c.Max.Y - 16.5}, l.text)
				x += 40 + textStyle(9, false, textInk).Width(l.text) + 20
			}
			c.Max.Y -= legendHeight
			for i, r := range panels {
				r.draw(c, vg.Point{
					X: c.Min.X + (vg.Length(i%columns)+0.5)*radarWidth,
					Y: c.Max.Y - vg.Length(i/columns)*radarHeight - radarHeight/2 - 8,
				})
			}
		},
	}
}

// The two lines differ in more than colour.
func overLine() draw.LineStyle { return draw.LineStyle{Color: overInk, Width: 1.6} }

func acceptLine() draw.LineStyle {
	return draw.LineStyle{Color: acceptInk, Width: 1.6, Dashes: []vg.Length{4, 2}}
}

// draw draws the panel around a centre, its axes counter-clockwise from the east.
func (r radar) draw(c draw.Canvas, centre vg.Point) {
	at := func(i int, share float64) vg.Point {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(len(orbench.PaperCategories)))
		d := radarRadius * vg.Length(share)
		return vg.Point{X: centre.X + d*vg.Length(cos), Y: centre.Y + d*vg.Length(sin)}
	}
	for ring := 20; ring <= 100; ring += 20 {
		c.StrokeLines(draw.LineStyle{Color: gridInk, Width: 0.7}, closed(func(i int) vg.Point { return at(i, float64(ring)/100) }))
	}
	for i, category := range orbench.PaperCategories {
		end := at(i, 1)
		c.StrokeLine2(draw.LineStyle{Color: gridInk, Width: 0.7}, centre.X, centre.Y, end.X, end.Y)
		name := at(i, 1.07)
		sty := textStyle(7, false, mutedInk)
		sty.XAlign, sty.YAlign = draw.XCenter, draw.YCenter
		switch dx := end.X - centre.X; {
		case dx > 8:
			sty.XAlign = draw.XLeft
		case dx < -8:
			sty.XAlign = draw.XRight
		}
		c.FillText(sty, name, string(category))
	}
	title := textStyle(9, true, textInk)
	title.XAlign = draw.XCenter
	c.FillText(title, vg.Point{X: centre.X, Y: centre.Y + radarRadius + 14}, r.name)
	outline := func(rates []float64, k ink, sty draw.LineStyle) {
		if slices.Contains(rates, -1) {
			r.spokes(c, rates, sty, at)
			return
		}
		line := closed(func(i int) vg.Point { return at(i, rates[i]/100) })
		c.FillPolygon(sheer{k, 0x2C}, line)
		c.StrokeLines(sty, line)
	}
	outline(r.over, overInk, overLine())
	outline(r.toxic, acceptInk, acceptLine())
	for _, ring := range []int{20, 60, 100} {
		tick := textStyle(5.5, false, mutedInk)
		c.FillText(tick, vg.Point{X: centre.X + 2, Y: centre.Y + radarRadius*vg.Length(ring)/100 - 6.5}, strconv.Itoa(ring))
	}
}

// spokes draws the known rates alone where some category is missing, because an
// outline over a gap would invent a rate for it.
func (r radar) spokes(c draw.Canvas, rates []float64, sty draw.LineStyle, at func(int, float64) vg.Point) {
	for i, rate := range rates {
		if rate < 0 {
			continue
		}
		from, to := at(i, 0), at(i, rate/100)
		c.StrokeLine2(sty, from.X, from.Y, to.X, to.Y)
		drawMark(&c, paper.Circle, sty.Color, 2.4, to)
	}
}

// closed gives the corners of a polygon with the first one at the end again.
func closed(corner func(int) vg.Point) []vg.Point {
	var line []vg.Point
	for i := range len(orbench.PaperCategories) + 1 {
		line = append(line, corner(i%len(orbench.PaperCategories)))
	}
	return line
}
