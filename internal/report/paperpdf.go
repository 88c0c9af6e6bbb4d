package report

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgpdf"
)

// pdfDates matches the times of writing that the PDF library puts into a file.
var pdfDates = regexp.MustCompile(`/(CreationDate|ModDate) \(D:[^)]*\)`)

// pdf draws the figure as PDF. The times of writing become blanks, which leaves
// every offset of the file where it was, so that the same figure gives the same
// bytes.
func (f figure) pdf(w io.Writer) error {
	c := pdfCanvas{vgpdf.New(f.width, f.height)}
	f.draw(draw.NewCanvas(c, f.width, f.height))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(pdfDates.ReplaceAllFunc(b.Bytes(), func(date []byte) []byte {
		return bytes.Repeat([]byte{' '}, len(date))
	}))
	return err
}

// pdfCanvas mends how the library's PDF canvas writes text. It embeds one face
// however many are asked for, and under a name that bold text does not find again,
// so that all text is written in the plain one. And it takes text as Windows-1252
// where the rest of the library has UTF-8.
type pdfCanvas struct{ *vgpdf.Canvas }

// FillString writes a text. What Windows-1252 lacks becomes a sign for the unknown.
func (c pdfCanvas) FillString(face plotfont.Face, at vg.Point, text string) {
	plain := face.Font
	plain.Weight = font.WeightNormal
	narrow, err := encoding.ReplaceUnsupported(charmap.Windows1252.NewEncoder()).String(strings.ReplaceAll(text, "−", "-"))
	if err != nil {
		narrow = text
	}
	c.Canvas.FillString(plotfont.DefaultCache.Lookup(plain, plain.Size), at, narrow)
}
