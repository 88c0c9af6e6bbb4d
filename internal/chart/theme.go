package chart

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"image/png"
	"io"
	"strings"
	"sync"
	"time"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/orbench/orbench/internal/untrusted"
)

// Color is a color that a page may replace for its dark theme. It is opaque.
type Color struct {
	RGB color.RGBA
	// Variable is the name of the page's CSS variable for the color.
	Variable string
}

// RGBA makes a Color a color.Color.
func (k Color) RGBA() (r, g, b, a uint32) { return k.RGB.RGBA() }

// The colors of everything in plots except the data.
var (
	Background = Color{color.RGBA{0xFF, 0xFF, 0xFE, 0xFF}, "--plot-paper"}
	Foreground = Color{color.RGBA{0x1B, 0x1F, 0x24, 0xFF}, "--plot-text"}
	Muted      = Color{color.RGBA{0x59, 0x63, 0x6E, 0xFF}, "--plot-muted"}
	GridColor  = Color{color.RGBA{0xE6, 0xE8, 0xEB, 0xFF}, "--plot-grid"}
	LightGray  = Color{color.RGBA{0xB9, 0xBF, 0xC7, 0xFF}, "--plot-ghost"}
	DarkGray   = Color{color.RGBA{0x8A, 0x93, 0x9E, 0xFF}, "--plot-shadow"}
)

// Series are colors for data that color-blind readers can tell apart too (Okabe
// and Ito 2008, without its yellow, and Tol 2021). If there are more items than
// colors, the colors repeat with other marks.
var Series = []Color{
	{color.RGBA{0x00, 0x72, 0xB2, 0xFF}, "--plot-1"},
	{color.RGBA{0xD5, 0x5E, 0x00, 0xFF}, "--plot-2"},
	{color.RGBA{0x00, 0x8A, 0x64, 0xFF}, "--plot-3"},
	{color.RGBA{0xB4, 0x4A, 0x8A, 0xFF}, "--plot-4"},
	{color.RGBA{0x33, 0x22, 0x88, 0xFF}, "--plot-5"},
	{color.RGBA{0x9A, 0x6B, 0x00, 0xFF}, "--plot-6"},
	{color.RGBA{0x2E, 0x8F, 0xB8, 0xFF}, "--plot-7"},
	{color.RGBA{0x6B, 0x6B, 0x6B, 0xFF}, "--plot-8"},
}

// The widths of figures in a paper of two columns: of a column, and of the page.
const (
	ColumnWidth = vg.Length(240)
	PageWidth   = vg.Length(504)
)

// plotFont is the font of plots. Its metrics are those of Arial, so a page
// without the font keeps the layout.
func plotFont(points float64, bold bool) plotfont.Font {
	f := plotfont.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(points)}
	if bold {
		f.Weight = font.WeightBold
	}
	return f
}

// fonts holds the fonts of plotFont. The plotting library's own set has ten
// more, which take 3.5 MB.
var fonts = plotfont.NewCache(plotfont.Collection{
	{Font: plotFont(0, false), Face: parsed(liberationsansregular.TTF)},
	{Font: plotFont(0, true), Face: parsed(liberationsansbold.TTF)},
})

func parsed(ttf []byte) *sfnt.Font {
	face, err := sfnt.Parse(ttf)
	if err != nil {
		panic(fmt.Sprintf("chart: a built-in font cannot be read: %v", err))
	}
	return face
}

// TextStyle returns a style for one line of text.
func TextStyle(points float64, bold bool, c color.Color) text.Style {
	return text.Style{Color: c, Font: plotFont(points, bold), Handler: text.Plain{Fonts: fonts}, YAlign: draw.YBottom}
}

// Centered returns a style for text centered on a point's X.
func Centered(sty text.Style) text.Style {
	sty.XAlign = draw.XCenter
	return sty
}

// Right returns a style for text that ends at a point's X.
func Right(sty text.Style) text.Style {
	sty.XAlign = draw.XRight
	return sty
}

// plotDPI is the resolution of the PNG files.
const plotDPI = 144

// Figure is a drawing of a fixed size.
type Figure struct {
	// Width and Height are in points.
	Width, Height vg.Length
	Draw          func(draw.Canvas)
	// Title and About are stored in files; empty for none.
	Title, About string
	// Opens gives what a point that NamePoint named opens on a page: an address, and the
	// words that say so. An empty address is no link. It is nil for no links.
	Opens func(point string) (address, words string)
}

// Formats are the ways to write a figure, which are the endings of the files too.
var Formats = []string{"svg", "pdf", "png"}

// As writes the figure in one of Formats.
func (f Figure) As(format string) func(io.Writer) error {
	return map[string]func(io.Writer) error{"svg": f.SVG, "pdf": f.PDF, "png": f.PNG}[format]
}

// SVG draws the figure as SVG, with its title and what it is about, and for dark screens too.
func (f Figure) SVG(w io.Writer) error {
	var b strings.Builder
	if err := f.svg(&b); err != nil {
		return err
	}
	before, rest, _ := strings.Cut(b.String(), "<svg ")
	element, content, _ := strings.Cut(rest, ">")
	head := "<title>" + untrusted.Attribute(f.Title) + "</title>"
	if f.About != "" {
		head += "<desc>" + untrusted.Attribute(f.About) + "</desc>"
	}
	_, err := io.WriteString(w, before+"<svg "+element+">\n"+head+dark+themed(content))
	return err
}

// svg draws the figure as SVG, and no more.
func (f Figure) svg(w io.Writer) error {
	c := &svgCanvas{Canvas: vgsvg.New(f.Width, f.Height)}
	f.Draw(draw.NewCanvas(c, f.Width, f.Height))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	// The library names one font without a fallback.
	drawn := c.sized(b.String())
	if f.Opens != nil {
		end := strings.LastIndex(drawn, "</svg>")
		drawn = drawn[:end] + c.links(f) + drawn[end:]
	}
	s := strings.ReplaceAll(drawn, "font-family:Liberation Sans;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
	_, err := io.WriteString(w, s)
	return err
}

// svgCanvas records how wide each text is in the font used for the layout. If a
// viewer lacks a font with these widths, its own font could run into
// neighboring text.
type svgCanvas struct {
	*vgsvg.Canvas
	widths []vg.Length
	points []namedPoint
}

// namedPoint is where a point was drawn.
type namedPoint struct {
	name string
	at   vg.Point
}

// NamePoint names a point that was drawn, so that it can be a link; see Figure.Opens.
func NamePoint(c *draw.Canvas, name string, at vg.Point) {
	switch canvas := c.Canvas.(type) {
	case draw.Canvas: // one that was cropped has the whole one
		NamePoint(&canvas, name, at)
	case *svgCanvas:
		canvas.points = append(canvas.points, namedPoint{name, at})
	}
}

// linkRadius is how far from a point a click still opens it.
const linkRadius = 2 * MarkRadius

// links are the links of the named points, as circles without a color over the drawing.
func (c *svgCanvas) links(f Figure) string {
	var b strings.Builder
	for _, p := range c.points {
		if address, words := f.Opens(p.name); address != "" {
			fmt.Fprintf(&b, `<a href="%s"><title>%s</title><circle cx="%.5g" cy="%.5g" r="%.5g" fill="transparent"/></a>`+"\n",
				html.EscapeString(address), untrusted.Attribute(words), p.at.X.Points(), (f.Height - p.at.Y).Points(), linkRadius.Points())
		}
	}
	return b.String()
}

// FillString writes a text, as one element.
func (c *svgCanvas) FillString(face plotfont.Face, at vg.Point, text string) {
	c.widths = append(c.widths, face.Width(text))
	c.Canvas.FillString(face, at, text)
}

// sized fixes each text in a drawing to the width that was computed for it.
func (c *svgCanvas) sized(svg string) string {
	parts := strings.Split(svg, "<text ")
	for i := range parts[1:] {
		if width := c.widths[i].Points(); width > 0 {
			parts[i+1] = fmt.Sprintf(`textLength="%.5g" lengthAdjust="spacingAndGlyphs" `, width) + parts[i+1]
		}
	}
	return strings.Join(parts, "<text ")
}

// InlineSVG draws the figure for a page: without the prologue of a file, sized
// by its container, with colors that the page can replace, and with a title for
// those who cannot see it.
func (f Figure) InlineSVG(title string) (string, error) {
	var b strings.Builder
	if err := f.svg(&b); err != nil {
		return "", err
	}
	_, body, _ := strings.Cut(b.String(), "<svg ")
	_, body, _ = strings.Cut(body, ">")
	role := "img"
	if strings.Contains(body, "<a href=") {
		role = "group" // what is in an image cannot be reached
	}
	opening := fmt.Sprintf(`<svg role="%s" aria-label="%s" viewBox="0 0 %.5g %.5g" xmlns="http://www.w3.org/2000/svg">`,
		role, untrusted.Attribute(title), f.Width.Points(), f.Height.Points())
	return opening + themed(body), nil
}

// themed lets a page, or the style of a file, replace the colors of a drawing.
func themed(svg string) string {
	for _, c := range append([]Color{Background, Foreground, Muted, GridColor, LightGray, DarkGray}, Series...) {
		hex := fmt.Sprintf("#%02X%02X%02X", c.RGB.R, c.RGB.G, c.RGB.B)
		for _, property := range []string{"fill:", "stroke:"} {
			svg = strings.ReplaceAll(svg, property+hex, property+"var("+c.Variable+","+hex+")")
		}
	}
	return svg
}

// dark are the colors of a file where its reader has a dark screen; see page.css.
const dark = "<style>@media (prefers-color-scheme:dark){svg{--plot-paper:#14171a;--plot-text:#e7e9ec;--plot-muted:#a2abb5;--plot-grid:#2b3036;--plot-ghost:#5a636d;--plot-shadow:#8a949f;" +
	"--plot-1:#5aaee6;--plot-2:#f08a4b;--plot-3:#3cc79b;--plot-4:#e58fc3;--plot-5:#a89bf0;--plot-6:#d9ab45;--plot-7:#8fd0ea;--plot-8:#b4b9bf}}</style>"

// PNG draws the figure as PNG. It uses the fastest compression, which takes two
// thirds of the time and makes the file a twentieth larger.
func (f Figure) PNG(w io.Writer) error {
	c := vgimg.NewWith(vgimg.UseWH(f.Width, f.Height), vgimg.UseDPI(plotDPI), vgimg.UseBackgroundColor(Background))
	f.Draw(draw.NewCanvas(c, f.Width, f.Height))
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	var b bytes.Buffer
	if err := encoder.Encode(&b, c.Image()); err != nil {
		return err
	}
	return writePNG(w, b.Bytes(), f.About)
}

// PDF draws the figure as PDF. Letters are drawn as shapes, so that every reader shows
// them alike and none is missing.
func (f Figure) PDF(w io.Writer) error {
	datePDF()
	c := pdfCanvas{vgpdf.New(f.Width, f.Height)}
	f.Draw(draw.NewCanvas(c, f.Width, f.Height))
	_, err := c.WriteTo(w)
	return err
}

// datePDF has the library date all files alike, so that the same figure gives the same bytes.
var datePDF = sync.OnceFunc(func() {
	fpdf.SetDefaultCreationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultModificationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultCatalogSort(true)
})

// pdfCanvas draws texts as shapes. The library's own texts lack letters beyond Latin.
type pdfCanvas struct{ *vgpdf.Canvas }

// glyphUnits is the size at which the shapes of letters are read.
const glyphUnits = 1000

// FillString draws a text.
func (c pdfCanvas) FillString(face plotfont.Face, at vg.Point, text string) {
	var buffer sfnt.Buffer
	scale := face.Font.Size / glyphUnits
	point := func(p fixed.Point26_6) vg.Point {
		return vg.Point{X: at.X + scale*vg.Length(p.X)/64, Y: at.Y - scale*vg.Length(p.Y)/64}
	}
	for _, r := range text {
		glyph, err := face.Face.GlyphIndex(&buffer, r)
		if err != nil {
			continue
		}
		segments, err := face.Face.LoadGlyph(&buffer, glyph, fixed.I(glyphUnits), nil)
		if err != nil {
			continue
		}
		var shape vg.Path
		for _, s := range segments {
			switch s.Op {
			case sfnt.SegmentOpMoveTo:
				shape.Move(point(s.Args[0]))
			case sfnt.SegmentOpLineTo:
				shape.Line(point(s.Args[0]))
			case sfnt.SegmentOpQuadTo:
				shape.QuadTo(point(s.Args[0]), point(s.Args[1]))
			case sfnt.SegmentOpCubeTo:
				shape.CubeTo(point(s.Args[0]), point(s.Args[1]), point(s.Args[2]))
			}
		}
		if len(shape) > 0 {
			c.Fill(shape)
		}
		at.X += face.Width(string(r))
	}
}

// Rect returns the corners of a rectangle.
func Rect(x0, y0, x1, y1 vg.Length) []vg.Point {
	return []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}
}
