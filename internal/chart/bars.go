package chart

import (
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// Bars is a chart of horizontal bars: a group of them for each name.
type Bars struct {
	Head
	Axis string
	// Kinds are what the bars of a group are, Colors theirs.
	Kinds  []string
	Colors []Color
	groups []barGroup
	// Own is how many of the last groups are the reader's own.
	Own int
	// Most is the end of the axis, and Step the distance of its ticks.
	Most, Step float64
}

// barGroup is a name with a bar for each kind.
type barGroup struct {
	name string
	// values are in per cent or table.Unknown.
	values []float64
	// spans are drawn as whiskers; nil where there is none. They may be empty as a whole.
	spans []*[2]float64
}

// Add adds a group: a name with a value for each kind, in per cent or table.Unknown, and
// the ends of whiskers, nil for none; the last may be left out.
func (b *Bars) Add(name string, values []float64, spans ...*[2]float64) {
	b.groups = append(b.groups, barGroup{name, values, spans})
}

// The measures of a chart, in points.
const (
	barsWidth = vg.Length(680)
	barNames  = vg.Length(140)
	barHeight = vg.Length(9.5)
	barGap    = vg.Length(9)
	barFoot   = vg.Length(44)
)

// Figure lays the chart out.
func (b Bars) Figure() Figure {
	group := vg.Length(len(b.Kinds))*barHeight + barGap
	const legendHeight = 24
	return Figure{
		Width: barsWidth, Height: b.Height() + legendHeight + vg.Length(len(b.groups))*group + barFoot,
		Draw: func(c draw.Canvas) {
			c = b.Draw(c)
			b.legend(c)
			c.Max.Y -= legendHeight
			left, right := c.Min.X+barNames, c.Max.X-36
			bottom := c.Max.Y - vg.Length(len(b.groups))*group
			x := func(v float64) vg.Length { return left + (right-left)*vg.Length(v/b.Most) }
			for v := 0.0; v <= b.Most; v += b.Step {
				c.StrokeLine2(draw.LineStyle{Color: GridColor, Width: 0.6}, x(v), bottom, x(v), c.Max.Y)
				c.FillText(Centered(TextStyle(8.5, false, Muted)), vg.Point{X: x(v), Y: bottom - 13}, strconv.Itoa(int(v)))
			}
			c.FillText(Centered(TextStyle(9, false, Foreground)), vg.Point{X: (left + right) / 2, Y: bottom - 28}, b.Axis)
			for i, g := range b.groups {
				top := c.Max.Y - vg.Length(i)*group - barGap/2
				own := i >= len(b.groups)-b.Own
				if own && i == len(b.groups)-b.Own {
					c.StrokeLine2(draw.LineStyle{Color: DarkGray, Width: 0.6}, c.Min.X, top+barGap/2, c.Max.X, top+barGap/2)
				}
				sty := Right(TextStyle(9, own, Foreground))
				sty.YAlign = draw.YCenter
				c.FillText(sty, vg.Point{X: left - 8, Y: top - vg.Length(len(b.Kinds))*barHeight/2}, untrusted.Shorten(g.name, 26))
				for k := range g.values {
					b.bar(c, g, k, top-vg.Length(k+1)*barHeight, x)
				}
			}
		},
	}
}

// bar draws one bar with its whiskers and its number.
func (b Bars) bar(c draw.Canvas, g barGroup, k int, y vg.Length, x func(float64) vg.Length) {
	v := g.values[k]
	end := x(max(v, 0))
	if v != table.Unknown {
		c.FillPolygon(b.Colors[k], Rect(x(0), y+1, end, y+barHeight))
	}
	if k < len(g.spans) && g.spans[k] != nil {
		span := g.spans[k]
		lo, hi, middle := x(max(span[0], 0)), x(min(span[1], b.Most)), y+(barHeight+1)/2
		// A broader whisker of the background below it keeps it visible on a bar.
		for _, sty := range []draw.LineStyle{{Color: Background, Width: 2.6}, {Color: Foreground, Width: 1}} {
			c.StrokeLine2(sty, lo, middle, hi, middle)
			for _, end := range []vg.Length{lo, hi} {
				c.StrokeLine2(sty, end, middle-2, end, middle+2)
			}
		}
		end = max(end, hi)
	}
	c.FillText(TextStyle(7.5, false, Foreground), vg.Point{X: end + 3, Y: y + 1}, table.PerCent(v))
}

func (b Bars) legend(c draw.Canvas) {
	x := c.Min.X + barNames
	for k, kind := range b.Kinds {
		c.FillPolygon(b.Colors[k], Rect(x, c.Max.Y-15, x+10, c.Max.Y-5))
		c.FillText(TextStyle(9, false, Foreground), vg.Point{X: x + 15, Y: c.Max.Y - 14.5}, kind)
		x += 15 + TextStyle(9, false, Foreground).Width(kind) + 24
	}
}
