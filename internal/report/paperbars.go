package report

import (
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// bars is a chart of horizontal bars: a group of them for each name.
type bars struct {
	title, axis string
	lines       []string
	// kinds are what the bars of a group are, inks their colours.
	kinds []string
	inks  []ink
	names []string
	// values has one entry for each name and kind, in per cent.
	values [][]float64
	// most is the end of the axis, and step the distance of its ticks.
	most, step float64
}

// The measures of a chart, in points.
const (
	barsWidth = vg.Length(680)
	barNames  = vg.Length(140)
	barHeight = vg.Length(9.5)
	barGap    = vg.Length(9)
	barFoot   = vg.Length(44)
)

// figure lays the chart out.
func (b bars) figure() figure {
	h := head{title: b.title, lines: b.lines}
	group := vg.Length(len(b.kinds))*barHeight + barGap
	const legendHeight = 24
	return figure{
		width: barsWidth, height: h.height() + legendHeight + vg.Length(len(b.names))*group + barFoot,
		draw: func(c draw.Canvas) {
			c.FillPolygon(paperInk, rect(c.Min.X, c.Min.Y, c.Max.X, c.Max.Y))
			c = draw.Crop(c, 14, -14, 0, 0)
			c = h.draw(c)
			b.legend(c)
			c.Max.Y -= legendHeight
			left, right := c.Min.X+barNames, c.Max.X-36
			bottom := c.Max.Y - vg.Length(len(b.names))*group
			x := func(v float64) vg.Length { return left + (right-left)*vg.Length(v/b.most) }
			for v := 0.0; v <= b.most; v += b.step {
				c.StrokeLine2(draw.LineStyle{Color: gridInk, Width: 0.6}, x(v), bottom, x(v), c.Max.Y)
				tick := textStyle(8.5, false, mutedInk)
				tick.XAlign = draw.XCenter
				c.FillText(tick, vg.Point{X: x(v), Y: bottom - 13}, strconv.Itoa(int(v)))
			}
			axis := textStyle(9, false, textInk)
			axis.XAlign = draw.XCenter
			c.FillText(axis, vg.Point{X: (left + right) / 2, Y: bottom - 28}, b.axis)
			for i, name := range b.names {
				top := c.Max.Y - vg.Length(i)*group - barGap/2
				sty := textStyle(9, false, textInk)
				sty.XAlign, sty.YAlign = draw.XRight, draw.YCenter
				c.FillText(sty, vg.Point{X: left - 8, Y: top - vg.Length(len(b.kinds))*barHeight/2}, name)
				for k, v := range b.values[i] {
					y := top - vg.Length(k+1)*barHeight
					c.FillPolygon(b.inks[k], rect(left, y+1, x(v), y+barHeight))
					c.FillText(textStyle(7.5, false, textInk), vg.Point{X: x(v) + 3, Y: y + 1}, printedRate(v))
				}
			}
		},
	}
}

// setInks are the colours of the 80K, the hard and the toxic set: on white a
// light, a middle and a dark one, which are told apart without their hues too.
var setInks = []ink{ghostInk, series[1], series[4]}

func (b bars) legend(c draw.Canvas) {
	x := c.Min.X + barNames
	for k, kind := range b.kinds {
		c.FillPolygon(b.inks[k], rect(x, c.Max.Y-15, x+10, c.Max.Y-5))
		c.FillText(textStyle(9, false, textInk), vg.Point{X: x + 15, Y: c.Max.Y - 14.5}, kind)
		x += 15 + textStyle(9, false, textInk).Width(kind) + 24
	}
}

// againstFigure draws figure 4.
func (p Paper) againstFigure() figure {
	b := bars{
		title: "Refusal of the 80K set and of the hard set", axis: "prompts refused, %",
		lines: []string{p.Source + ". Two judges: opening words find fewer refusals than GPT-4."},
		kinds: []string{"OR-Bench-80K, opening words", "OR-Bench-Hard-1K, GPT-4"}, inks: setInks, most: 100, step: 20,
	}
	for _, r := range against80K() {
		b.names = append(b.names, r.model)
		b.values = append(b.values, []float64{r.broad, r.hard})
	}
	return b.figure()
}

// shareFigure draws figure 7.
func (p Paper) shareFigure() figure {
	b := bars{
		title: "Categories of the three sets", axis: "share of the set, %",
		lines: []string{p.Source + ". The hard and the toxic set are the older version, of 1,534 and 681 prompts."},
		kinds: []string{"OR-Bench-80K", "OR-Bench-Hard-1K", "OR-Bench-Toxic"}, inks: setInks, most: 40, step: 10,
	}
	for _, c := range p.Categories {
		b.names = append(b.names, string(c.Category))
		b.values = append(b.values, []float64{c.Share80K, c.ShareHard, c.ShareToxic})
	}
	return b.figure()
}

// familyFigure draws the family averages.
func (p Paper) familyFigure() figure {
	b := bars{
		title: "Mean refusal of the hard set by family", axis: "prompts refused, %",
		lines: []string{p.Source + ". Claude 2.1 and 3.5 are in no family of the paper's averages."},
		kinds: []string{"mean over the family's models"}, inks: setInks[1:], most: 100, step: 20,
	}
	for _, f := range p.Families {
		b.names = append(b.names, f.Name)
		b.values = append(b.values, []float64{f.Mean})
	}
	return b.figure()
}
