package chart_test

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"testing"

	"gonum.org/v1/plot/vg/draw"

	"github.com/orbench/orbench/internal/chart"
)

// TestMetadata has pictures say what they are made of, and stay the same pictures.
func TestMetadata(t *testing.T) {
	t.Parallel()
	f := chart.Figure{Width: 40, Height: 30, Draw: func(c draw.Canvas) {
		c.FillPolygon(chart.Foreground, chart.Rect(5, 5, 20, 20))
	}}
	var plain, about bytes.Buffer
	if err := f.PNG(&plain); err != nil {
		t.Fatal(err)
	}
	f.About = `run "é" <&>`
	if err := f.PNG(&about); err != nil {
		t.Fatal(err)
	}
	want, err := png.Decode(bytes.NewReader(plain.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	// The decoder checks the sum of every chunk.
	got, err := png.Decode(bytes.NewReader(about.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for x := range want.Bounds().Dx() {
		for y := range want.Bounds().Dy() {
			if want.At(x, y) != got.At(x, y) {
				t.Fatalf("the pixel at %d, %d differs", x, y)
			}
		}
	}
	if !bytes.Contains(about.Bytes(), []byte("iTXtDescription\x00\x00\x00\x00\x00"+f.About)) {
		t.Error("the PNG does not say what it is made of")
	}
	about.Reset()
	if err := f.SVG(&about); err != nil {
		t.Fatal(err)
	}
	var svg struct {
		About string `xml:"desc"`
	}
	if err := xml.Unmarshal(about.Bytes(), &svg); err != nil || svg.About != f.About {
		t.Errorf("the SVG says %q, %v", svg.About, err)
	}
}
