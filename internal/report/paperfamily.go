package report

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/paper"
)

// familyDark are the families' colours on a dark page, by paper.Family.Name.
var familyDark = map[string]string{
	"claude": "#F08A4B", "gemini": "#5AAEE6", "gpt-3.5": "#3CC79B", "gpt-4": "#9AD4F5",
	"llama-2": "#F2BC4F", "llama-3": "#D98AB8", "mistral": "#C9C965", "qwen": "#A89BF0",
}

// familyInk is a family's colour, which the page replaces on a dark ground.
func familyInk(f paper.Family) ink {
	return ink{f.Colour, "--family-" + strings.ReplaceAll(f.Name, ".", "-")}
}

// withFamilies makes the family colours of an inline SVG replaceable.
func withFamilies(svg string) string {
	for _, f := range paper.Families() {
		k := familyInk(f)
		hex := fmt.Sprintf("#%02X%02X%02X", k.rgb.R, k.rgb.G, k.rgb.B)
		svg = strings.ReplaceAll(svg, "fill:"+hex, "fill:var("+k.variable+","+hex+")")
	}
	return svg
}

// familyStyle is the style sheet that replaces them on a dark ground.
func familyStyle() string {
	var b strings.Builder
	b.WriteString("@media (prefers-color-scheme: dark) { :root {")
	for _, f := range paper.Families() {
		b.WriteString(" " + familyInk(f).variable + ": " + familyDark[f.Name] + ";")
	}
	b.WriteString(" } }")
	return b.String()
}

// drawFamilyMark draws a family's mark with a thin edge of the text's colour:
// light colours keep a shape on a white ground, dark ones on a black one.
func drawFamilyMark(c *draw.Canvas, f paper.Family, radius vg.Length, at vg.Point) {
	path := familyPath(f.Mark, radius, at)
	c.SetColor(familyInk(f))
	c.Fill(path)
	c.SetLineStyle(draw.LineStyle{Color: textInk, Width: 0.5})
	c.Stroke(path)
}

// familyPath is the outline of all eight marks; those that the reader's own
// targets use too are markPath's.
func familyPath(m paper.Mark, r vg.Length, at vg.Point) vg.Path {
	switch m {
	case paper.Star:
		return star(at, r*1.35, r*0.6, 5)
	case paper.Plus:
		return plus(at, r*1.2, 0)
	case paper.Cross:
		return plus(at, r*1.25, math.Pi/4)
	}
	return markPath(m, r, at)
}

// star is a star whose first point is on top.
func star(at vg.Point, outer, inner vg.Length, points int) vg.Path {
	var p vg.Path
	for i := range 2 * points {
		r := outer
		if i%2 == 1 {
			r = inner
		}
		sin, cos := math.Sincos(math.Pi/2 + math.Pi*float64(i)/float64(points))
		corner := vg.Point{X: at.X + r*vg.Length(cos), Y: at.Y + r*vg.Length(sin)}
		if i == 0 {
			p.Move(corner)
		} else {
			p.Line(corner)
		}
	}
	p.Close()
	return p
}

// plus is a cross of two bars, turned by an angle.
func plus(at vg.Point, r vg.Length, angle float64) vg.Path {
	const half = 0.36 // of a bar's width, in radii
	corners := [][2]float64{
		{1, half},
		{half, half},
		{half, 1},
		{-half, 1},
		{-half, half},
		{-1, half},
		{-1, -half},
		{-half, -half},
		{-half, -1},
		{half, -1},
		{half, -half},
		{1, -half},
	}
	sin, cos := math.Sincos(angle)
	var p vg.Path
	for i, k := range corners {
		corner := vg.Point{
			X: at.X + r*vg.Length(k[0]*cos-k[1]*sin),
			Y: at.Y + r*vg.Length(k[0]*sin+k[1]*cos),
		}
		if i == 0 {
			p.Move(corner)
		} else {
			p.Line(corner)
		}
	}
	p.Close()
	return p
}

// sheer is an ink that lets the ground shine through.
type sheer struct {
	ink
	alpha uint8
}

// RGBA makes a sheer a color.Color.
func (s sheer) RGBA() (r, g, b, a uint32) {
	return color.NRGBA{s.rgb.R, s.rgb.G, s.rgb.B, s.alpha}.RGBA()
}
