package report

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"strings"

	"golang.org/x/image/font"
	"gonum.org/v1/plot"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/untrusted"
)

// ink is a colour that the page may replace for its dark theme.
type ink struct {
	rgb color.RGBA
	// variable is the page's CSS variable for it.
	variable string
}

// RGBA makes an ink a color.Color.
func (k ink) RGBA() (r, g, b, a uint32) { return k.rgb.RGBA() }

// wash is a thin coat of an ink.
type wash struct{ ink }

// RGBA makes a wash a color.Color: the ink at a twelfth of full cover. Each part is
// rounded up, so that divided by the alpha again, as for SVG, it is the ink's own
// and the page can replace it.
func (w wash) RGBA() (r, g, b, a uint32) {
	a = 0xFFFF / 12
	coat := func(v uint8) uint32 { return (uint32(v)*a + 0xFE) / 0xFF }
	return coat(w.rgb.R), coat(w.rgb.G), coat(w.rgb.B), a
}

// The colours of the plots outside of the data.
var (
	paperInk  = ink{color.RGBA{0xFF, 0xFF, 0xFE, 0xFF}, "--plot-paper"}
	textInk   = ink{color.RGBA{0x1B, 0x1F, 0x24, 0xFF}, "--plot-text"}
	mutedInk  = ink{color.RGBA{0x59, 0x63, 0x6E, 0xFF}, "--plot-muted"}
	gridInk   = ink{color.RGBA{0xE6, 0xE8, 0xEB, 0xFF}, "--plot-grid"}
	ghostInk  = ink{color.RGBA{0xB9, 0xBF, 0xC7, 0xFF}, "--plot-ghost"}
	shadowInk = ink{color.RGBA{0x8A, 0x93, 0x9E, 0xFF}, "--plot-shadow"}
)

// series are the colours of the reader's own targets, told apart by colour-blind
// readers too (Okabe and Ito 2008, without its yellow, and Tol 2021). With more
// targets than colours the marks tell the rounds apart.
var series = []ink{
	{color.RGBA{0x00, 0x72, 0xB2, 0xFF}, "--plot-1"},
	{color.RGBA{0xD5, 0x5E, 0x00, 0xFF}, "--plot-2"},
	{color.RGBA{0x00, 0x8A, 0x64, 0xFF}, "--plot-3"},
	{color.RGBA{0xB4, 0x4A, 0x8A, 0xFF}, "--plot-4"},
	{color.RGBA{0x33, 0x22, 0x88, 0xFF}, "--plot-5"},
	{color.RGBA{0x9A, 0x6B, 0x00, 0xFF}, "--plot-6"},
	{color.RGBA{0x2E, 0x8F, 0xB8, 0xFF}, "--plot-7"},
}

// marks are the shapes of the reader's own targets, in the order of use.
var marks = []paper.Mark{paper.Circle, paper.Square, paper.Triangle, paper.Diamond, paper.TriangleDown}

// plotFont is the text of plots. Its metrics are those of Arial, so that a page
// without the font keeps the layout.
func plotFont(points float64, bold bool) plotfont.Font {
	f := plotfont.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(points)}
	if bold {
		f.Weight = font.WeightBold
	}
	return f
}

// textStyle is a style for one line of text.
func textStyle(points float64, bold bool, c color.Color) text.Style {
	return text.Style{Color: c, Font: plotFont(points, bold), Handler: plot.DefaultTextHandler, YAlign: draw.YBottom}
}

// plotDPI is the resolution of the PNG files.
const plotDPI = 144

// figure is a drawing of a fixed size.
type figure struct {
	width, height vg.Length
	draw          func(draw.Canvas)
}

// svg draws the figure as SVG.
func (f figure) svg(w io.Writer) error {
	c := vgsvg.New(f.width, f.height)
	f.draw(draw.NewCanvas(c, f.width, f.height))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	// The library names one font and no other to fall back on.
	s := strings.ReplaceAll(b.String(), "font-family:Liberation Sans;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
	_, err := io.WriteString(w, s)
	return err
}

// inlineSVG draws the figure for a page: without the prologue of a file, sized by
// its container, its colours replaceable by the page, and named by title for those
// who cannot see it.
func (f figure) inlineSVG(title string) (string, error) {
	var b strings.Builder
	if err := f.svg(&b); err != nil {
		return "", err
	}
	_, body, _ := strings.Cut(b.String(), "<svg ")
	_, body, ok := strings.Cut(body, ">")
	if !ok {
		return "", fmt.Errorf("the plot library wrote no <svg> element")
	}
	for _, c := range append([]ink{paperInk, textInk, mutedInk, gridInk, ghostInk, shadowInk}, series...) {
		hex := fmt.Sprintf("#%02X%02X%02X", c.rgb.R, c.rgb.G, c.rgb.B)
		for _, property := range []string{"fill:", "stroke:"} {
			body = strings.ReplaceAll(body, property+hex, property+"var("+c.variable+","+hex+")")
		}
	}
	head := fmt.Sprintf(`<svg role="img" aria-label="%s" viewBox="0 0 %.5g %.5g" xmlns="http://www.w3.org/2000/svg">`,
		untrusted.Attribute(title), f.width.Points(), f.height.Points())
	return head + body, nil
}

// png draws the figure as PNG. The fastest compression takes two thirds of the
// time for a file that is a twentieth larger.
func (f figure) png(w io.Writer) error {
	c := vgimg.NewWith(vgimg.UseWH(f.width, f.height), vgimg.UseDPI(plotDPI), vgimg.UseBackgroundColor(paperInk))
	f.draw(draw.NewCanvas(c, f.width, f.height))
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	return encoder.Encode(w, c.Image())
}

// rect gives the corners of a rectangle.
func rect(x0, y0, x1, y1 vg.Length) []vg.Point {
	return []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}
}

// drawMark draws a filled mark with a thin edge of the background's colour, which
// keeps marks apart that lie on each other.
func drawMark(c *draw.Canvas, m paper.Mark, fill color.Color, radius vg.Length, at vg.Point) {
	path := markPath(m, radius, at)
	c.SetColor(fill)
	c.Fill(path)
	c.SetLineStyle(draw.LineStyle{Color: paperInk, Width: radius / 5})
	c.Stroke(path)
}

// markPath is a mark's outline. The sizes differ a little so that all shapes look
// equally large.
func markPath(m paper.Mark, r vg.Length, at vg.Point) vg.Path {
	var p vg.Path
	switch m {
	case paper.Square:
		return polygon(at, r*1.2, 4, math.Pi/4)
	case paper.Diamond:
		return polygon(at, r*1.25, 4, 0)
	case paper.Triangle:
		return polygon(at, r*1.3, 3, math.Pi/2)
	case paper.TriangleDown:
		return polygon(at, r*1.3, 3, -math.Pi/2)
	}
	p.Move(vg.Point{X: at.X + r, Y: at.Y})
	p.Arc(at, r, 0, 2*math.Pi)
	p.Close()
	return p
}

// polygon is the outline of a regular polygon with its first corner at an angle.
func polygon(at vg.Point, r vg.Length, corners int, first float64) vg.Path {
	var p vg.Path
	for i := range corners {
		sin, cos := math.Sincos(first + 2*math.Pi*float64(i)/float64(corners))
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
