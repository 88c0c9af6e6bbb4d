package chart

import (
	"bytes"
	"image/color"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/table"
)

// The figures of a heat map can be read on each color, in a dark theme, too: the cells keep their
// colors there, and so must the text.
func TestHeatMapCanBeRead(t *testing.T) {
	t.Parallel()
	// contrast is as WCAG 2.1 defines it.
	contrast := func(a, b color.Color) float64 {
		luminance := func(k color.Color) (sum float64) {
			r, g, b, _ := k.RGBA()
			for i, v := range []uint32{r, g, b} {
				s := float64(v) / 0xFFFF
				if s = s / 12.92; s > 0.04045/12.92 {
					s = math.Pow((s*12.92+0.055)/1.055, 2.4)
				}
				sum += []float64{0.2126, 0.7152, 0.0722}[i] * s
			}
			return sum
		}
		x, y := luminance(a)+0.05, luminance(b)+0.05
		return max(x, y) / min(x, y)
	}
	for name, ramp := range map[string]Ramp{"bad": Bad, "good": Good} {
		m := HeatMap{Names: []string{"model"}, Ramp: ramp}
		row := []HeatCell{}
		for percent := range 101 {
			share := float64(percent) / 100
			row, m.Columns = append(row, HeatCell{Share: &share}), append(m.Columns, "c")
		}
		m.Cells = [][]HeatCell{row}
		var b bytes.Buffer
		if err := m.Figure().SVG(&b); err != nil {
			t.Fatal(err)
		}
		for i, cell := range row {
			text := regexp.MustCompile(`(?s)<text [^>]*>` + regexp.QuoteMeta(table.Percent(*cell.Share)) + `</text>`).FindString(b.String())
			front := color.Color(color.Black)
			if strings.Contains(text, "fill:#FFFFFF") {
				front = color.White
			} else if text == "" || strings.Contains(text, "fill:") {
				t.Fatalf("%s, %d%%: the text is %q, want black or white", name, i, text)
			}
			if got := contrast(front, ramp.At(*cell.Share)); got < 4.5 {
				t.Errorf("%s, %d%%: the contrast is %.2f, want 4.5", name, i, got)
			}
		}
	}
}
