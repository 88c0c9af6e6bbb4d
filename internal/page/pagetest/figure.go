package pagetest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/chart"
)

// FigureTexts draws a figure and returns the texts in it. It fails the test if the
// SVG is not well-formed XML, or if a horizontal text runs over the figure's
// edge.
func FigureTexts(t testing.TB, f chart.Figure) []string {
	t.Helper()
	var b bytes.Buffer
	if err := f.SVG(&b); err != nil {
		t.Fatal(err)
	}
	var texts []string
	inText, turned := false, 0
	for d := xml.NewDecoder(&b); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("the SVG is not XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text"
			if inText && turned == 0 {
				checkWidth(t, f, token)
			}
			if token.Name.Local == "g" && (turned > 0 || strings.Contains(attribute(token, "transform"), "rotate")) {
				turned++
			}
		case xml.CharData:
			if inText {
				texts = append(texts, string(token))
			}
		case xml.EndElement:
			inText = false
			if token.Name.Local == "g" && turned > 0 {
				turned--
			}
		}
	}
}

// checkWidth fails the test if a text element is wider than its space.
func checkWidth(t testing.TB, f chart.Figure, text xml.StartElement) {
	t.Helper()
	var left, width float64
	for name, value := range map[string]*float64{"x": &left, "textLength": &width} {
		var err error
		if *value, err = strconv.ParseFloat(attribute(text, name), 64); err != nil {
			t.Fatalf("a text's %s: %v", name, err)
		}
	}
	if right := left + width; left < 0 || right > f.Width.Points() {
		t.Errorf("a text reaches from %.0f to %.0f of a figure that is %.0f points wide", left, right, f.Width.Points())
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
