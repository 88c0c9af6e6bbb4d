package view

import (
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/paper"
)

// look is how the plots draw a family.
type look struct {
	light color.RGBA
	// dark is the color on a dark page, in hex.
	dark string
	mark chart.Mark
}

// looks are by paper.Family.Name: each family has a mark of its own and a color from
// the palettes for color-blind readers by Okabe and Ito (2008) and Tol (2021).
var looks = map[string]look{
	"claude":  {color.RGBA{0xD5, 0x5E, 0x00, 0xFF}, "#F08A4B", chart.Circle},
	"gemini":  {color.RGBA{0x00, 0x72, 0xB2, 0xFF}, "#5AAEE6", chart.Square},
	"gpt-3.5": {color.RGBA{0x00, 0x9E, 0x73, 0xFF}, "#3CC79B", chart.Triangle},
	"gpt-4":   {color.RGBA{0x56, 0xB4, 0xE9, 0xFF}, "#9AD4F5", chart.Diamond},
	"llama-2": {color.RGBA{0xE6, 0x9F, 0x00, 0xFF}, "#F2BC4F", chart.TriangleDown},
	"llama-3": {color.RGBA{0x88, 0x22, 0x55, 0xFF}, "#D98AB8", chart.Star},
	"mistral": {color.RGBA{0x99, 0x99, 0x33, 0xFF}, "#C9C965", chart.Plus},
	"qwen":    {color.RGBA{0x33, 0x22, 0x88, 0xFF}, "#A89BF0", chart.Cross},
}

// familyColor is a family's color, which the page replaces on a dark background.
func familyColor(f paper.Family) chart.Color {
	return chart.Color{RGB: looks[f.Name].light, Variable: "--family-" + strings.ReplaceAll(f.Name, ".", "-")}
}

// withFamilies makes the family colors of an inline SVG replaceable.
func withFamilies(svg string) string {
	for _, f := range paper.Families() {
		k := familyColor(f)
		hex := fmt.Sprintf("#%02X%02X%02X", k.RGB.R, k.RGB.G, k.RGB.B)
		svg = strings.ReplaceAll(svg, "fill:"+hex, "fill:var("+k.Variable+","+hex+")")
	}
	return svg
}

// familyStyle is the style sheet that replaces them on a dark background.
func familyStyle() string {
	var b strings.Builder
	b.WriteString("@media (prefers-color-scheme: dark) { :root {")
	for _, f := range paper.Families() {
		b.WriteString(" " + familyColor(f).Variable + ": " + looks[f.Name].dark + ";")
	}
	b.WriteString(" } }")
	return b.String()
}

// drawFamilyMark draws a family's mark with a thin edge of the text's color:
// light colors keep a shape on a white background, dark ones on a black one.
func drawFamilyMark(c *draw.Canvas, f paper.Family, radius vg.Length, at vg.Point) {
	path := chart.MarkPath(looks[f.Name].mark, radius, at)
	c.SetColor(familyColor(f))
	c.Fill(path)
	c.SetLineStyle(draw.LineStyle{Color: chart.Foreground, Width: 0.5})
	c.Stroke(path)
}
