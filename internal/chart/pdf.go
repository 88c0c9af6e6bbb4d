package chart

import (
	"bytes"
	"image/color"
	"io"
	"regexp"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/encoding/charmap"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgpdf"
)

// pdfDates matches the times of writing that the PDF library puts into a file.
var pdfDates = regexp.MustCompile(`/(CreationDate|ModDate) \(D:[^)]*\)`)

// PDF draws the figure as PDF. The times of writing become blanks, which leaves
// every offset of the file where it was, so that the same figure gives the same
// bytes.
func (f Figure) PDF(w io.Writer) error {
	c := pdfCanvas{vgpdf.New(f.Width, f.Height)}
	f.Draw(draw.NewCanvas(c, f.Width, f.Height))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(pdfDates.ReplaceAllFunc(b.Bytes(), func(date []byte) []byte {
		return bytes.Repeat([]byte{' '}, len(date))
	}))
	return err
}

// pdfCanvas repairs how the library's PDF canvas writes text: it takes text as
// Windows-1252 where the rest of the library has UTF-8; it embeds one face however
// many are asked for; and it makes that face anew for every size of it. And it repairs translucent colors.
type pdfCanvas struct{ *vgpdf.Canvas }

// SetColor sets a color. The library takes what Go has already mixed with alpha
// for the pure color, and so makes translucent colors gray.
func (c pdfCanvas) SetColor(k color.Color) {
	if k == nil {
		k = color.Black
	}
	c.Canvas.SetColor(pure{color.NRGBAModel.Convert(k).(color.NRGBA)})
}

// pure is a color of which RGBA gives the parts before they are mixed with alpha.
type pure struct{ color.NRGBA }

// RGBA is what vgpdf takes for the color.
func (k pure) RGBA() (r, g, b, a uint32) {
	return 0x101 * uint32(k.R), 0x101 * uint32(k.G), 0x101 * uint32(k.B), 0x101 * uint32(k.A)
}

// FillString writes plain text of Windows-1252 as text, which can be searched.
// All other text is drawn, and bold text lies below its drawing unseen.
func (c pdfCanvas) FillString(face plotfont.Face, at vg.Point, text string) {
	narrow, err := charmap.Windows1252.NewEncoder().String(strings.ReplaceAll(text, "−", "-"))
	drawn := err != nil || face.Font.Weight == font.WeightBold
	if drawn {
		c.Fill(outline(face, at, text))
	}
	if err != nil {
		return
	}
	// One size of the face, which the canvas scales.
	const size = vg.Length(10)
	scale := float64(face.Font.Size / size)
	plain := face.Font
	plain.Weight = font.WeightNormal
	c.Push()
	if drawn {
		c.SetColor(color.Transparent)
	}
	c.Translate(at)
	c.Scale(scale, scale)
	c.Canvas.FillString(fonts.Lookup(plain, size), vg.Point{}, narrow)
	c.Pop()
}

// outline gives the shapes of a text's letters, the first beginning at a point. A
// letter that the face lacks is the box that the face has for it.
func outline(face plotfont.Face, at vg.Point, text string) vg.Path {
	var path vg.Path
	var buffer sfnt.Buffer
	units := fixed.Int26_6(face.Face.UnitsPerEm())
	scale := face.Font.Size / vg.Length(units)
	var before sfnt.GlyphIndex
	for i, letter := range text {
		glyph, err := face.Face.GlyphIndex(&buffer, letter)
		if err != nil {
			continue
		}
		if i > 0 {
			if kern, err := face.Face.Kern(&buffer, before, glyph, units, font.HintingNone); err == nil {
				at.X += vg.Length(kern) * scale
			}
		}
		before = glyph
		segments, err := face.Face.LoadGlyph(&buffer, glyph, units, nil)
		if err != nil {
			continue
		}
		// In a font y grows downwards.
		corner := func(p fixed.Point26_6) vg.Point {
			return vg.Point{X: at.X + vg.Length(p.X)*scale, Y: at.Y - vg.Length(p.Y)*scale}
		}
		for _, s := range segments {
			switch s.Op {
			case sfnt.SegmentOpMoveTo:
				path.Move(corner(s.Args[0]))
			case sfnt.SegmentOpLineTo:
				path.Line(corner(s.Args[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(corner(s.Args[0]), corner(s.Args[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(corner(s.Args[0]), corner(s.Args[1]), corner(s.Args[2]))
			}
		}
		if advance, err := face.Face.GlyphAdvance(&buffer, glyph, units, font.HintingNone); err == nil {
			at.X += vg.Length(advance) * scale
		}
	}
	return path
}
