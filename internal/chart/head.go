package chart

import (
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Head is the title of a figure and the lines below it.
type Head struct {
	Title string
	Lines []string
}

// lineStyle is the style of the lines below a title.
var lineStyle = TextStyle(7, false, Muted)

// Height returns the height of the head.
func (h Head) Height() vg.Length { return 26 + vg.Length(len(h.Lines))*9.5 }

// Figure makes a figure of the head, with its lines wrapped to fit the width, and of a
// drawing of some height below it.
func (h Head) Figure(width, below vg.Length, drawBelow func(draw.Canvas)) Figure {
	var lines []string
	for _, line := range h.Lines {
		lines = append(lines, Wrap(lineStyle, line, width-2*Margin)...)
	}
	h.Lines = lines
	return Figure{Title: h.Title, Width: width, Height: h.Height() + below, Draw: func(c draw.Canvas) { drawBelow(h.Draw(c)) }}
}

// Draw fills the background and writes the head. It returns the rest of the
// canvas, with a margin on both sides.
func (h Head) Draw(c draw.Canvas) draw.Canvas {
	c.FillPolygon(Background, Rect(c.Min.X, c.Min.Y, c.Max.X, c.Max.Y))
	c = draw.Crop(c, Margin, -Margin, 0, 0)
	y := c.Max.Y - 16
	c.FillText(TextStyle(10, true, Foreground), vg.Point{X: c.Min.X, Y: y}, h.Title)
	for _, line := range h.Lines {
		y -= 9.5
		c.FillText(lineStyle, vg.Point{X: c.Min.X, Y: y}, line)
	}
	c.Max.Y -= h.Height()
	return c
}

// Margin is the room on both sides of a figure.
const Margin = vg.Length(6)

// Wrap breaks a text into lines of at most the width given.
func Wrap(sty text.Style, s string, width vg.Length) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		next := strings.TrimSpace(line + " " + word)
		if line != "" && sty.Width(next) > width {
			lines = append(lines, line)
			next = word
		}
		line = next
	}
	return append(lines, line)
}
