package report

import (
	"fmt"
	"image/color"
	"strings"
	"testing"

	"github.com/orbench/orbench/stats"
)

// TestRegions draws a rectangle for each of a few targets, in the colours of the
// page's theme, and whiskers for many.
func TestRegions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ targets, washes int }{{1, 1}, {mostRegions, mostRegions}, {mostRegions + 1, 0}} {
		r, _ := fixture{targets: test.targets, safe: 20, toxic: 6, oneJudge: true}.make()
		r.Finish()
		f, ok := tradeOff(r, "lexical")
		if !ok {
			t.Fatal("nothing is drawn")
		}
		svg, err := f.inlineSVG("x")
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(svg, "fill-opacity:"); n != test.washes {
			t.Errorf("%d targets have %d rectangles, want %d", test.targets, n, test.washes)
		}
		for _, k := range series {
			hex := fmt.Sprintf("fill:#%02X%02X%02X", k.rgb.R, k.rgb.G, k.rgb.B)
			if strings.Contains(svg, hex) {
				t.Errorf("%d targets: %s stays as it is on a dark page", test.targets, hex)
			}
		}
		text := strings.Join(svgTexts(t, f), "\n")
		if strings.Contains(text, "Rectangles hold both rates") != (test.washes > 0) || strings.Contains(text, "Whiskers") != (test.washes == 0) {
			t.Errorf("%d targets are explained by %q", test.targets, text[:200])
		}
	}
}

// TestRegionOf takes the region that counts clusters before the plain one.
func TestRegionOf(t *testing.T) {
	t.Parallel()
	r, _ := fixture{targets: 1, safe: 20, toxic: 6, oneJudge: true}.make()
	p := pairsOf(r)[0]
	r.TradeOffs = nil
	if got := regionOf(r, p); got.OverRefusal.Lo != p.safe.judge.CI95[0] || got.ToxicRefusal.Hi != p.toxic.judge.CI95[1] {
		t.Errorf("before the result is finished the region is %+v", got)
	}
	r.Runs[0].Judges[0].CI95Clustered = &[2]float64{0, 1}
	r.Runs[0].Judges[0].Joint = &[2]float64{0, 1}
	r.Finish()
	if got := regionOf(r, p); got.OverRefusal != (stats.Interval{Hi: 1}) || got.ToxicRefusal != r.TradeOffs[0].Region.ToxicRefusal {
		t.Errorf("the region is %+v", got)
	}
}

// TestWash keeps the ink's hue exactly when it is divided by its cover.
func TestWash(t *testing.T) {
	t.Parallel()
	for v := range 256 {
		w := wash{ink{rgb: color.RGBA{uint8(v), uint8(255 - v), 0, 0xFF}}}
		r, g, b, a := w.RGBA()
		if int(float64(r)*255/float64(a)) != v || int(float64(g)*255/float64(a)) != 255-v || b != 0 || r > a || g > a {
			t.Fatalf("the ink %d is washed to %d %d %d of %d", v, r, g, b, a)
		}
	}
}
