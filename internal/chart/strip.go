package chart

import (
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Strip shows shares on one scale, one line each with its interval, below a row
// of other shares for comparison.
type Strip struct {
	Title string
	Rows  []StripRow
	// Others are shares drawn in gray; OthersName says whose they are.
	Others     []float64
	OthersName string
}

// StripRow is a line of a Strip. Shares are from 0 to 1.
type StripRow struct {
	Name string
	At   float64
	// Range is drawn as a line, and Verdicts as a dotted one; nil for none.
	Range, Verdicts *[2]float64
	// Open marks a corrected figure.
	Open bool
	// Figures are printed to the right of the scale.
	Figures string
	Color   Color
	Mark    Mark
	// Point names the mark, see NamePoint; empty for no name.
	Point string
}

// The strip's columns and rows: names on the left, the scale, the figures on
// the right.
const (
	stripNames   = vg.Length(190)
	stripFigures = vg.Length(130)
	stripRow     = vg.Length(17)
	stripAround  = vg.Length(58)
)

// Height returns the height of the strip; it is 0 without rows.
func (s Strip) Height() vg.Length {
	if len(s.Rows) == 0 {
		return 0
	}
	return stripAround + vg.Length(len(s.Rows)+1)*stripRow
}

// Draw draws the strip at the top of c.
func (s Strip) Draw(c draw.Canvas) {
	small := TextStyle(9, false, Muted)
	c.FillText(TextStyle(10, false, Foreground), vg.Point{X: c.Min.X, Y: c.Max.Y - 22}, s.Title)
	left, right := c.Min.X+stripNames, c.Max.X-stripFigures
	x := func(share float64) vg.Length { return left + (right-left)*vg.Length(share) }
	top := c.Max.Y - 30
	bottom := top - vg.Length(len(s.Rows)+1)*stripRow
	for v := 0; v <= 100; v += 20 {
		at := x(float64(v) / 100)
		c.StrokeLine2(draw.LineStyle{Color: GridColor, Width: 0.6}, at, bottom, at, top)
		c.FillText(Centered(small), vg.Point{X: at, Y: bottom - 13}, strconv.Itoa(v))
	}
	y := top - stripRow/2
	c.FillText(Right(small), vg.Point{X: left - 10, Y: y - 4}, s.OthersName)
	for _, share := range s.Others {
		DrawMark(&c, Circle, LightGray, 2.6, vg.Point{X: x(share), Y: y})
	}
	for _, row := range s.Rows {
		y -= stripRow
		c.FillText(Right(TextStyle(9, true, row.Color)), vg.Point{X: left - 10, Y: y - 4}, row.Name)
		at := vg.Point{X: x(row.At), Y: y}
		if r := row.Range; r != nil {
			c.StrokeLine2(draw.LineStyle{Color: row.Color, Width: 1.2}, x(r[0]), y, x(r[1]), y)
		}
		if r := row.Verdicts; r != nil {
			c.StrokeLine2(DottedLine(row.Color), x(r[0]), y-2, x(r[1]), y-2)
		}
		if row.Open {
			DrawOpenMark(&c, row.Mark, row.Color, at)
		} else {
			DrawMark(&c, row.Mark, row.Color, MarkRadius, at)
		}
		if row.Point != "" {
			NamePoint(&c, row.Point, at)
		}
		c.FillText(TextStyle(8, false, Foreground), vg.Point{X: right + 10, Y: y - 4}, row.Figures)
	}
}
