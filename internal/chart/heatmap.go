package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/table"
)

// HeatMap is panels of cells, one above the other.
type HeatMap struct {
	Panels []HeatPanel
	// Note is printed at the bottom.
	Note string
}

// HeatPanel has a row of cells for each name. The last column is set slightly
// apart.
type HeatPanel struct {
	Title, Note string
	Columns     []string
	Names       []string
	Cells       [][]HeatCell
	Ramp        Ramp
}

// HeatCell shows a share, the counts behind it and its interval.
type HeatCell struct {
	// Share is from 0 to 1, nil for an empty cell.
	Share            *float64
	Counts, Interval string
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
	heatCellWidth  = vg.Length(52)
	heatCellHeight = vg.Length(38)
	heatTitle      = vg.Length(40)
	heatGap        = vg.Length(20)
)

// The styles of a panel's title, the line below it, and the note.
var (
	heatTitleStyle = TextStyle(12, true, Foreground)
	heatNoteStyle  = TextStyle(8.5, false, Muted)
	heatFootStyle  = TextStyle(7.5, false, Muted)
)

// Figure lays out the panels.
func (m HeatMap) Figure() Figure {
	names := vg.Length(80)
	f := Figure{Height: 30}
	for _, p := range m.Panels {
		for _, name := range p.Names {
			names = max(names, TextStyle(9, true, Foreground).Width(name))
		}
	}
	names += 8
	for _, p := range m.Panels {
		f.Height += p.height()
		// A panel with few columns is narrower than its title.
		f.Width = max(f.Width, 2*Margin+max(names+vg.Length(len(p.Columns))*heatCellWidth+24, heatTitleStyle.Width(p.Title), heatNoteStyle.Width(p.Note)))
	}
	f.Width = max(f.Width, 2*Margin+heatFootStyle.Width(m.Note))
	f.Draw = func(c draw.Canvas) {
		c.FillPolygon(Background, Rect(c.Min.X, c.Min.Y, c.Max.X, c.Max.Y))
		c = draw.Crop(c, Margin, -Margin, 0, 0)
		for _, p := range m.Panels {
			p.draw(c, names)
			c.Max.Y -= p.height()
		}
		c.FillText(heatFootStyle, vg.Point{X: c.Min.X, Y: c.Min.Y + 12}, m.Note)
	}
	return f
}

func (p HeatPanel) height() vg.Length {
	return heatTitle + p.headHeight() + vg.Length(len(p.Names))*heatCellHeight + heatGap
}

// widest returns the width of the longest column name, without the last
// column's.
func (p HeatPanel) widest() vg.Length {
	widest := vg.Length(0)
	for _, name := range p.Columns[:len(p.Columns)-1] {
		widest = max(widest, TextStyle(8.5, false, Foreground).Width(name))
	}
	return widest
}

// slanted reports whether a column name is too wide to fit above its cells.
func (p HeatPanel) slanted() bool { return p.widest() > heatCellWidth-4 }

// headHeight returns the height of the column names.
func (p HeatPanel) headHeight() vg.Length {
	if !p.slanted() {
		return 16
	}
	return 12 + p.widest()*0.71
}

func (p HeatPanel) draw(c draw.Canvas, names vg.Length) {
	c.FillText(heatTitleStyle, vg.Point{X: c.Min.X, Y: c.Max.Y - 22}, p.Title)
	c.FillText(heatNoteStyle, vg.Point{X: c.Min.X, Y: c.Max.Y - 34}, p.Note)
	left, top := c.Min.X+names, c.Max.Y-heatTitle-p.headHeight()
	last := len(p.Columns) - 1
	column := func(i int) vg.Length {
		x := left + vg.Length(i)*heatCellWidth
		if i == last {
			x += 8
		}
		return x
	}
	for i, name := range p.Columns {
		sty := TextStyle(8.5, false, Foreground)
		if p.slanted() && i < last {
			sty.Rotation, sty.YAlign = 0.785, draw.YCenter
		} else {
			sty.XAlign = draw.XCenter
		}
		c.FillText(sty, vg.Point{X: column(i) + heatCellWidth/2, Y: top + 4}, name)
	}
	for k, cells := range p.Cells {
		y := top - vg.Length(k+1)*heatCellHeight
		name := Right(TextStyle(9, true, Foreground))
		name.YAlign = draw.YCenter
		c.FillText(name, vg.Point{X: left - 8, Y: y + heatCellHeight/2}, p.Names[k])
		for i, cell := range cells {
			cell.draw(c, vg.Point{X: column(i), Y: y}, p.Ramp)
		}
	}
}

// draw colors the cell by its share and writes its figures and its mark.
func (h HeatCell) draw(c draw.Canvas, at vg.Point, ramp Ramp) {
	corners := Rect(at.X+0.5, at.Y+0.5, at.X+heatCellWidth-0.5, at.Y+heatCellHeight-0.5)
	middle := vg.Point{X: at.X + heatCellWidth/2, Y: at.Y + heatCellHeight - 14.5}
	text := func(size float64, bold bool, k color.Color, y vg.Length, s string) {
		c.FillText(Centered(TextStyle(size, bold, k)), vg.Point{X: middle.X, Y: y}, s)
	}
	if h.Share == nil {
		c.FillPolygon(GridColor, corners)
		text(9, false, Muted, at.Y+heatCellHeight/2-4, table.None)
		return
	}
	c.FillPolygon(ramp.At(*h.Share), corners)
	front := Foreground
	if ramp.Dark(*h.Share) {
		front = Background
	}
	text(9, true, front, middle.Y, table.Percent(*h.Share))
	if h.Mark != "" {
		c.SetColor(front)
		c.Fill(MarkPath(h.Mark, 2.2, vg.Point{X: at.X + heatCellWidth - 6, Y: middle.Y + 3.6}))
	}
	text(6.5, false, front, at.Y+13, h.Counts)
	text(6.5, false, front, at.Y+4.5, h.Interval)
}
