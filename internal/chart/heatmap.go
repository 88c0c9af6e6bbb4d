package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/table"
)

// HeatMap has a row of cells for each name. The last column is set slightly apart.
type HeatMap struct {
	Head
	Columns []string
	Names   []string
	Cells   [][]HeatCell
	Ramp    Ramp
}

// HeatCell shows a share and its interval.
type HeatCell struct {
	// Share is from 0 to 1, nil for an empty cell.
	Share    *float64
	Interval string
	// Mark is drawn beside the share; empty for none.
	Mark Mark
}

// Ramp is a range of colors for shares from 0 to 1.
type Ramp struct{ from, to color.RGBA }

// The ramps: from near white to dark orange for shares that are bad when high,
// and to dark blue for shares that are good when high.
var (
	Bad  = Ramp{color.RGBA{0xFB, 0xF6, 0xF0, 0xFF}, color.RGBA{0xA3, 0x3A, 0x00, 0xFF}}
	Good = Ramp{color.RGBA{0xF4, 0xF6, 0xF8, 0xFF}, color.RGBA{0x0B, 0x4A, 0x82, 0xFF}}
)

// At returns the color of a share.
func (r Ramp) At(share float64) color.RGBA {
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + share*(float64(b)-float64(a)) + 0.5) }
	return color.RGBA{mix(r.from.R, r.to.R), mix(r.from.G, r.to.G), mix(r.from.B, r.to.B), 0xFF}
}

// Dark reports whether white text reads better than black on the color of a
// share. It does if the color's relative luminance, as WCAG 2.1 defines it, is
// below 0.179, where both have the same contrast.
func (r Ramp) Dark(share float64) bool {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	c := r.At(share)
	return 0.2126*linear(c.R)+0.7152*linear(c.G)+0.0722*linear(c.B) < 0.179
}

// The measures of the heat map, in points.
const (
	leastCellWidth = vg.Length(39)
	heatCellHeight = vg.Length(23)
)

// The styles of names.
var (
	heatName  = TextStyle(7.5, true, Foreground)
	heatHead  = TextStyle(7, false, Foreground)
	heatSlant = 0.785
)

// Figure lays out the map: as wide as a page, or wider if it has many columns.
func (m HeatMap) Figure() Figure {
	names, widest, last := vg.Length(60), vg.Length(0), len(m.Columns)-1
	for _, name := range m.Names {
		names = max(names, heatName.Width(name)+8)
	}
	for _, name := range m.Columns[:last] {
		widest = max(widest, heatHead.Width(name))
	}
	cell := max(leastCellWidth, min(2*leastCellWidth, (PageWidth-2*Margin-names-4)/vg.Length(len(m.Columns))))
	slanted, heads := widest > cell-2, vg.Length(12)
	if slanted {
		heads = 10 + widest*0.71
	}
	width := max(PageWidth, 2*Margin+names+4+vg.Length(len(m.Columns))*cell)
	return m.Head.Figure(width, heads+vg.Length(len(m.Names))*heatCellHeight+8, func(c draw.Canvas) {
		left, top := c.Min.X+names, c.Max.Y-heads
		column := func(i int) vg.Length {
			if i == last {
				return left + vg.Length(i)*cell + 4
			}
			return left + vg.Length(i)*cell
		}
		for i, name := range m.Columns {
			sty := Centered(heatHead)
			if slanted && i < last {
				sty = heatHead
				sty.Rotation, sty.YAlign = heatSlant, draw.YCenter
			}
			c.FillText(sty, vg.Point{X: column(i) + cell/2, Y: top + 4}, name)
		}
		for k, cells := range m.Cells {
			y := top - vg.Length(k+1)*heatCellHeight
			name := Right(heatName)
			name.YAlign = draw.YCenter
			c.FillText(name, vg.Point{X: left - 6, Y: y + heatCellHeight/2}, m.Names[k])
			for i, of := range cells {
				of.draw(c, vg.Point{X: column(i), Y: y}, cell, m.Ramp)
			}
		}
	})
}

// draw colors the cell by its share and writes its figures and its mark.
func (h HeatCell) draw(c draw.Canvas, at vg.Point, width vg.Length, ramp Ramp) {
	corners := Rect(at.X+0.5, at.Y+0.5, at.X+width-0.5, at.Y+heatCellHeight-0.5)
	text := func(size float64, bold bool, k color.Color, y vg.Length, s string) {
		c.FillText(Centered(TextStyle(size, bold, k)), vg.Point{X: at.X + width/2, Y: at.Y + y}, s)
	}
	if h.Share == nil {
		c.FillPolygon(GridColor, corners)
		text(7.5, false, Muted, heatCellHeight/2-3, table.None)
		return
	}
	c.FillPolygon(ramp.At(*h.Share), corners)
	// The cell has its color in a dark theme, too, so its text keeps its own.
	front := color.Black
	if ramp.Dark(*h.Share) {
		front = color.White
	}
	text(7.5, true, front, 13, table.Percent(*h.Share))
	if h.Mark != "" {
		c.SetColor(front)
		c.Fill(MarkPath(h.Mark, 1.6, vg.Point{X: at.X + width - 3.5, Y: at.Y + 19}))
	}
	text(7, false, front, 3.5, h.Interval)
}
