package report

import (
	"image/color"
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

// The measures of the heat map, in points.
const (
	heatCellWidth  = vg.Length(52)
	heatCellHeight = vg.Length(38)
	heatTitle      = vg.Length(40)
	heatGap        = vg.Length(20)
	heatMargin     = vg.Length(14)
	// heatNameCells is the most characters of a target's or a category's name.
	heatNameCells     = 40
	heatCategoryCells = 24
)

// heatMap draws refusal by category: a panel for each label of each dataset, a
// row for each target, a column for each category, as one judge sees it. It
// reports false when no dataset names categories.
func heatMap(r score.Result, judge string) (figure, bool) {
	var panels []heat
	for _, h := range heatsOf(r, []string{judge}) {
		if h.named() {
			panels = append(panels, h)
		}
	}
	if len(panels) == 0 {
		return figure{}, false
	}
	marks := ""
	if slices.ContainsFunc(panels, func(h heat) bool { return h.marked() }) {
		marks = "Triangles: significantly more or less often than the target's other prompts."
	}
	names := vg.Length(80)
	f := figure{height: 30}
	for _, h := range panels {
		for _, row := range h.rows {
			names = max(names, textStyle(9, true, textInk).Width(heatName(row)))
		}
	}
	names += 8
	for _, h := range panels {
		f.height += heatTitle + h.headHeight() + vg.Length(len(h.rows))*heatCellHeight + heatGap
		f.width = max(f.width, 2*heatMargin+names+vg.Length(len(h.categories)+1)*heatCellWidth+24)
	}
	f.draw = func(c draw.Canvas) {
		c.FillPolygon(paperInk, rect(c.Min.X, c.Min.Y, c.Max.X, c.Max.Y))
		c = draw.Crop(c, heatMargin, -heatMargin, 0, 0)
		for _, h := range panels {
			h.draw(c, names)
			c.Max.Y -= heatTitle + h.headHeight() + vg.Length(len(h.rows))*heatCellHeight + heatGap
		}
		c.FillText(textStyle(7.5, false, mutedInk), vg.Point{X: c.Min.X, Y: c.Min.Y + 12},
			"Each cell: share refused, refused / judged, and the 95% interval in per cent. "+marks)
	}
	return f, true
}

func heatName(row heatRow) string {
	name := shortenTarget(untrusted.Terminal(row.target), heatNameCells)
	if row.simulated {
		name += " (simulated)"
	}
	return name
}

// slanted reports whether a category's name is too wide to stand above its cell.
func (h heat) slanted() bool {
	for _, c := range h.categories {
		if textStyle(8.5, false, textInk).Width(heatCategory(c)) > heatCellWidth-4 {
			return true
		}
	}
	return false
}

func heatCategory(c orbench.Category) string {
	return untrusted.Shorten(categoryName(c), heatCategoryCells)
}

// headHeight is the room for the names of the categories.
func (h heat) headHeight() vg.Length {
	if !h.slanted() {
		return 16
	}
	widest := vg.Length(0)
	for _, c := range h.categories {
		widest = max(widest, textStyle(8.5, false, textInk).Width(heatCategory(c)))
	}
	return 12 + widest*0.71
}

func (h heat) draw(c draw.Canvas, names vg.Length) {
	title, note := labelTitle(h.label), "Dataset "+untrusted.Terminal(h.dataset)+", judge "+untrusted.Shorten(h.judge, 50)
	if h.dropped > 0 {
		note += "; the " + strconv.Itoa(len(h.categories)) + " largest of " + strconv.Itoa(len(h.categories)+h.dropped) + " categories"
	}
	if h.variants > 0 {
		note += "; without " + count(h.variants) + " variants"
	}
	c.FillText(textStyle(12, true, textInk), vg.Point{X: c.Min.X, Y: c.Max.Y - 22}, title)
	c.FillText(textStyle(8.5, false, mutedInk), vg.Point{X: c.Min.X, Y: c.Max.Y - 34}, note)
	left, top := c.Min.X+names, c.Max.Y-heatTitle-h.headHeight()
	// The overall rate stands a little apart on the right.
	column := func(i int) vg.Length {
		x := left + vg.Length(i)*heatCellWidth
		if i == len(h.categories) {
			x += 8
		}
		return x
	}
	heading := textStyle(8.5, false, textInk)
	for i := range len(h.categories) + 1 {
		name := "all"
		if i < len(h.categories) {
			name = heatCategory(h.categories[i])
		}
		at := vg.Point{X: column(i) + heatCellWidth/2, Y: top + 4}
		sty := heading
		if h.slanted() && i < len(h.categories) {
			sty.Rotation, sty.YAlign = 0.785, draw.YCenter
		} else {
			sty.XAlign = draw.XCenter
		}
		c.FillText(sty, at, name)
	}
	for k, row := range h.rows {
		y := top - vg.Length(k+1)*heatCellHeight
		name := textStyle(9, true, textInk)
		name.XAlign, name.YAlign = draw.XRight, draw.YCenter
		c.FillText(name, vg.Point{X: left - 8, Y: y + heatCellHeight/2}, heatName(row))
		for i := range len(h.categories) + 1 {
			n := row.all
			if i < len(h.categories) {
				n = row.counts[h.categories[i]]
			}
			mark := ""
			if i < len(h.categories) {
				mark = row.mark(h.categories[i])
			}
			drawCell(c, vg.Point{X: column(i), Y: y}, n, h.label, mark)
		}
	}
}

// drawCell colours a cell by its rate and writes the figures and the mark of a
// category that stands out into it.
func drawCell(c draw.Canvas, at vg.Point, n score.Count, label orbench.Label, mark string) {
	share, ci := shareOf(n)
	corners := rect(at.X+0.5, at.Y+0.5, at.X+heatCellWidth-0.5, at.Y+heatCellHeight-0.5)
	middle := vg.Point{X: at.X + heatCellWidth/2, Y: at.Y + heatCellHeight - 14.5}
	text := func(size float64, bold bool, colour color.Color, y vg.Length, s string) {
		sty := textStyle(size, bold, colour)
		sty.XAlign = draw.XCenter
		c.FillText(sty, vg.Point{X: middle.X, Y: y}, s)
	}
	if share == nil {
		c.FillPolygon(gridInk, corners)
		text(9, false, mutedInk, at.Y+heatCellHeight/2-4, "–")
		return
	}
	ground := heatColour(label, *share)
	c.FillPolygon(ground, corners)
	front := color.Color(textInk)
	if isDark(ground) {
		front = paperInk
	}
	text(9, true, front, middle.Y, percent(*share))
	if mark != "" {
		shape := paper.Triangle
		if mark == "▼" {
			shape = paper.TriangleDown
		}
		c.SetColor(front)
		c.Fill(markPath(shape, 2.2, vg.Point{X: at.X + heatCellWidth - 6, Y: middle.Y + 3.6}))
	}
	text(6.5, false, front, at.Y+13, strconv.Itoa(n.Refused)+" / "+strconv.Itoa(n.N))
	text(6.5, false, front, at.Y+4.5, interval(ci))
}

// heatColour runs from near white to a dark orange for the refusal of safe
// prompts, which is bad, and to a dark blue for that of toxic ones, which is good.
func heatColour(label orbench.Label, share float64) color.RGBA {
	from, to := color.RGBA{0xF4, 0xF6, 0xF8, 0xFF}, color.RGBA{0x0B, 0x4A, 0x82, 0xFF}
	if label == orbench.Safe {
		from, to = color.RGBA{0xFB, 0xF6, 0xF0, 0xFF}, color.RGBA{0xA3, 0x3A, 0x00, 0xFF}
	}
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + share*(float64(b)-float64(a)) + 0.5) }
	return color.RGBA{mix(from.R, to.R), mix(from.G, to.G), mix(from.B, to.B), 0xFF}
}

// isDark reports whether white text reads better on a colour than black: whether
// its relative luminance, as WCAG 2.1 defines it, is below the 0.179 at which
// both have the same contrast.
func isDark(c color.RGBA) bool {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R)+0.7152*linear(c.G)+0.0722*linear(c.B) < 0.179
}
