package chart

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"html"
	"image/color"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgpdf"
)

// Drawn text is as wide as the same text set by the library, and every letter of
// any script has a shape.
func TestOutlineOfText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Llama-3-70b", "AVAToday − y", "模型"} {
		sty := TextStyle(9, true, Foreground)
		at := vg.Point{X: 100, Y: 50}
		path := outline(fonts.Lookup(sty.Font, sty.Font.Size), at, text)
		left, right := at.X+1000, at.X-1000
		for _, p := range path {
			left, right = min(left, p.Pos.X), max(right, p.Pos.X)
		}
		// The sides of the first and the last letter keep a little distance.
		if left < at.X || left > at.X+2 || right > at.X+sty.Width(text)+0.1 || right < at.X+sty.Width(text)-2 {
			t.Errorf("%q is drawn from %v to %v, want %v to %v", text, left, right, at.X, at.X+sty.Width(text))
		}
	}
}

// Every text of an SVG says how wide it is, so that no other font makes it wider.
func TestSVGTextIsAsWideAsReckoned(t *testing.T) {
	t.Parallel()
	sty := TextStyle(9, true, Foreground)
	texts := []string{"Llama-3-70b", "<text x>", "", "over-refusal, %"}
	f := Figure{Width: 100, Height: 100, Draw: func(c draw.Canvas) {
		for _, text := range texts {
			c.FillText(sty, vg.Point{X: 10, Y: 10}, text)
		}
	}}
	var b bytes.Buffer
	if err := f.SVG(&b); err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if text == "" {
			continue
		}
		want := fmt.Sprintf(`<text textLength="%.5g" lengthAdjust="spacingAndGlyphs" `, sty.Width(text).Points())
		if element := regexp.MustCompile(`(?s)<text [^>]*>` + regexp.QuoteMeta(html.EscapeString(text)) + `</text>`).FindString(b.String()); !strings.HasPrefix(element, want) {
			t.Errorf("%q is %q, want %s…", text, element, want)
		}
	}
}

// A translucent color reaches the PDF library with its own hue.
func TestPDFKeepsTranslucentHues(t *testing.T) {
	t.Parallel()
	f := Figure{Width: 10, Height: 10, Draw: func(c draw.Canvas) {
		c.FillPolygon(Translucent{Series[1], 0x2C}, Rect(0, 0, 10, 10))
	}}
	doc := vgpdf.New(f.Width, f.Height)
	f.Draw(draw.NewCanvas(pdfCanvas{doc}, f.Width, f.Height))
	var b bytes.Buffer
	if _, err := doc.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	_, stream, _ := bytes.Cut(b.Bytes(), []byte("stream\n"))
	z, err := zlib.NewReader(bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	// #D55E00 in the units of PDF, but for what eight bits of mixed parts lose.
	got := regexp.MustCompile(`([0-9.]+) ([0-9.]+) ([0-9.]+) rg`).FindAllStringSubmatch(string(page), -1)
	if len(got) == 0 {
		t.Fatalf("no color in %q", page)
	}
	for i, want := range []float64{0.835, 0.369, 0} {
		if v, _ := strconv.ParseFloat(got[len(got)-1][i+1], 64); math.Abs(v-want) > 0.02 {
			t.Errorf("part %d of the color is %v, want %v", i, v, want)
		}
	}
}

// TestTint keeps the color's hue exactly when it is divided by its opacity.
func TestTint(t *testing.T) {
	t.Parallel()
	for v := range 256 {
		w := Tint{Color{RGB: color.RGBA{uint8(v), uint8(255 - v), 0, 0xFF}}}
		r, g, b, a := w.RGBA()
		if int(float64(r)*255/float64(a)) != v || int(float64(g)*255/float64(a)) != 255-v || b != 0 || r > a || g > a {
			t.Fatalf("the color %d becomes %d %d %d of %d", v, r, g, b, a)
		}
	}
}
