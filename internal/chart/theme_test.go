package chart

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

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

// A PDF is the same each time, and has letters that the library's own texts lack.
func TestPDF(t *testing.T) {
	t.Parallel()
	draws := func(text string) []byte {
		f := Figure{Width: 100, Height: 100, Draw: func(c draw.Canvas) {
			c.FillText(TextStyle(9, true, Foreground), vg.Point{X: 10, Y: 10}, text)
		}}
		var b bytes.Buffer
		if err := f.PDF(&b); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	one := draws("κ′ over-refusal")
	if !bytes.HasPrefix(one, []byte("%PDF-")) || !bytes.Equal(one, draws("κ′ over-refusal")) {
		t.Error("the same figure gives other bytes")
	}
	if bytes.Equal(draws("κ"), draws("λ")) {
		t.Error("two letters look alike")
	}
}
