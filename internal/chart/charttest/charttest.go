package charttest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/orbench/orbench/internal/chart"
)

// Texts draws a figure and gives the texts in it. It fails the test where the SVG is not
// well-formed XML.
func Texts(t testing.TB, f chart.Figure) []string {
	t.Helper()
	var b bytes.Buffer
	if err := f.SVG(&b); err != nil {
		t.Fatal(err)
	}
	var texts []string
	inText := false
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
		case xml.CharData:
			if inText {
				texts = append(texts, string(token))
			}
		case xml.EndElement:
			inText = false
		}
	}
}

var pictures = flag.String("pictures", "", "write the figures that tests draw to this folder")

// Keep draws a figure into the folder of the flag -pictures, if there is one.
func Keep(t testing.TB, name string, f chart.Figure) {
	t.Helper()
	if *pictures == "" {
		return
	}
	out, err := os.Create(filepath.Join(*pictures, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := f.PNG(out); err != nil {
		t.Fatal(err)
	}
}
