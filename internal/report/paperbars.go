package report

import (
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// bars is a chart of horizontal bars: a group of them for each name.
type bars struct {
	title, axis string
	lines       []string
	// kinds are what the bars of a group are, inks their colours.
	kinds []string
	inks  []ink
	names []string
	// values has one entry for each name and kind, in per cent, possibly unknown.
	values [][]float64
	// spans has as many, drawn as whiskers; nil where there is none. It may be
	// empty as a whole.
	spans [][]*[2]float64
	// own is how many of the last groups are the reader's own.
	own int
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
				mine := i >= len(b.names)-b.own
				if mine && i == len(b.names)-b.own {
					c.StrokeLine2(draw.LineStyle{Color: shadowInk, Width: 0.6}, c.Min.X, top+barGap/2, c.Max.X, top+barGap/2)
				}
				sty := textStyle(9, mine, textInk)
				sty.XAlign, sty.YAlign = draw.XRight, draw.YCenter
				c.FillText(sty, vg.Point{X: left - 8, Y: top - vg.Length(len(b.kinds))*barHeight/2}, untrusted.Shorten(name, 26))
				for k, v := range b.values[i] {
					b.bar(c, i, k, v, top-vg.Length(k+1)*barHeight, x)
				}
			}
		},
	}
}

// bar draws one bar with its whiskers and its number.
func (b bars) bar(c draw.Canvas, i, k int, v float64, y vg.Length, x func(float64) vg.Length) {
	end := x(max(v, 0))
	if v != unknown {
		c.FillPolygon(b.inks[k], rect(x(0), y+1, end, y+barHeight))
	}
	if i < len(b.spans) && b.spans[i][k] != nil {
		span := b.spans[i][k]
		lo, hi, middle := x(max(span[0], 0)), x(min(span[1], b.most)), y+(barHeight+1)/2
		// A broader whisker of the ground below it keeps it visible on a bar.
		for _, sty := range []draw.LineStyle{{Color: paperInk, Width: 2.6}, {Color: textInk, Width: 1}} {
			c.StrokeLine2(sty, lo, middle, hi, middle)
			for _, end := range []vg.Length{lo, hi} {
				c.StrokeLine2(sty, end, middle-2, end, middle+2)
			}
		}
		end = max(end, hi)
	}
	c.FillText(textStyle(7.5, false, textInk), vg.Point{X: end + 3, Y: y + 1}, possibly(v))
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

// againstFigure draws figure 4, and the reader's runs below it.
func (p Paper) againstFigure() figure {
	b := bars{
		title: "Refusal of the 80K set and of the hard set", axis: "prompts refused, %",
		lines: []string{p.Source + ". Two judges: opening words find fewer refusals than GPT-4."},
		kinds: []string{"OR-Bench-80K, opening words", "OR-Bench-Hard-1K, GPT-4"}, inks: setInks, most: 100, step: 20,
	}
	own, rows := p.ownAgainst80K()
	if note := ownNote(rows); note != "" {
		b.lines = append(b.lines, note+" Whiskers: 95% intervals.")
	}
	// What has neither rate is a line of the table and nothing to draw.
	own = slices.DeleteFunc(own, func(r bothSets) bool { return r.broad == unknown && r.hard == unknown })
	b.own = len(own)
	for _, r := range append(against80K(), own...) {
		b.names = append(b.names, r.model)
		b.values = append(b.values, []float64{r.broad, r.hard})
		b.spans = append(b.spans, []*[2]float64{r.broadCI, r.hardCI})
	}
	return b.figure()
}

// keywordFigure draws table 8, and the reader's runs below it.
func (p Paper) keywordFigure() figure {
	b := bars{
		title: "Table 8: refusal by opening words and by GPT-4", axis: "prompts refused, %",
		lines: []string{p.Source + ". The sample's size is not published."},
		kinds: []string{"opening words", "GPT-4"}, inks: setInks, most: 100, step: 20,
	}
	for _, r := range p.Keyword {
		b.names = append(b.names, r.Model)
		b.values = append(b.values, []float64{r.Keyword, r.GPT4})
		b.spans = append(b.spans, []*[2]float64{nil, nil})
	}
	own, rows := p.ownKeywords(), []ownRow(nil)
	for _, r := range own {
		rows = append(rows, r.ownRow)
		b.names = append(b.names, r.name)
		b.values = append(b.values, []float64{r.keyword, r.other})
		b.spans = append(b.spans, []*[2]float64{r.keywordCI, r.otherCI})
	}
	b.own = len(own)
	if note := ownNote(rows); note != "" {
		b.kinds[1] = "GPT-4, or your other judge"
		b.lines = append(b.lines, note+" Whiskers: 95% intervals.")
	}
	return b.figure()
}

// advBenchFigure draws table 5.
func (p Paper) advBenchFigure() figure {
	b := bars{
		title: "Table 5: toxic prompts answered", axis: "prompts answered, %",
		lines: []string{p.Source + ". Spearman " + measured(p.AdvBenchSpearman) + ": the two sets rank the models alike."},
		kinds: []string{"AdvBench", "OR-Bench-Toxic"}, inks: []ink{setInks[0], setInks[2]}, most: 40, step: 10,
	}
	for _, r := range p.AdvBench {
		b.names = append(b.names, r.Model)
		b.values = append(b.values, []float64{r.AdvBench, r.Toxic})
	}
	return b.figure()
}

// moderatorFigure draws tables 1 and 12.
func (p Paper) moderatorFigure() figure {
	b := bars{
		title: "Tables 1 and 12: moderators and people on 100 prompts", axis: "%",
		lines: []string{
			p.Source + ". Whiskers: 95% Wilson intervals.",
			"The truth is the majority of the five raters: 75 safe and 25 toxic prompts.",
		},
		kinds: []string{"safe prompts called safe", "toxic prompts called safe", "accuracy"}, inks: setInks, most: 100, step: 20,
	}
	for _, m := range p.Moderators {
		b.names = append(b.names, m.Name)
		var values []float64
		var spans []*[2]float64
		for _, n := range moderatorCounts(m) {
			lo, hi := stats.Wilson(n[0], n[1], 0.95)
			values = append(values, 100*float64(n[0])/float64(n[1]))
			spans = append(spans, &[2]float64{100 * lo, 100 * hi})
		}
		b.values, b.spans = append(b.values, values), append(b.spans, spans)
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
		lines: []string{
			p.Source + ". Claude 2.1 and 3.5 are in no family of the paper's averages.",
			"Whiskers: one standard deviation of the family's models.",
		},
		kinds: []string{"mean over the family's models"}, inks: setInks[1:], most: 100, step: 20,
	}
	for _, f := range p.Families {
		b.names = append(b.names, f.Name)
		b.values = append(b.values, []float64{f.Mean})
		b.spans = append(b.spans, []*[2]float64{{f.Mean - f.Std, f.Mean + f.Std}})
	}
	return b.figure()
}
