package tradeoff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/page/pagetest"
	"github.com/orbench/orbench/internal/score/scoretest"
	"github.com/orbench/orbench/stats"
)

// TestRegions draws a rectangle for each of a few targets, in the colors of the
// page's theme, and whiskers for many.
func TestRegions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ targets, tints int }{{1, 1}, {mostRegions, mostRegions}, {mostRegions + 1, 0}} {
		r, _ := scoretest.Fixture{Targets: test.targets, Safe: 20, Toxic: 6, OneJudge: true}.Make()
		r.Finish()
		f, ok := Plot(r, "lexical")
		if !ok {
			t.Fatal("nothing is drawn")
		}
		svg, err := f.InlineSVG("x")
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(svg, "fill-opacity:"); n != test.tints {
			t.Errorf("%d targets have %d rectangles, want %d", test.targets, n, test.tints)
		}
		for _, k := range chart.Series {
			hex := fmt.Sprintf("fill:#%02X%02X%02X", k.RGB.R, k.RGB.G, k.RGB.B)
			if strings.Contains(svg, hex) {
				t.Errorf("%d targets: %s stays as it is on a dark page", test.targets, hex)
			}
		}
		text := strings.Join(pagetest.FigureTexts(t, f), "\n")
		if strings.Contains(text, "Rectangles hold both rates") != (test.tints > 0) || strings.Contains(text, "Whiskers") != (test.tints == 0) {
			t.Errorf("%d targets are explained by %q", test.targets, text[:200])
		}
	}
}

// TestRegionOf checks that the clustered region is preferred to the plain one.
func TestRegionOf(t *testing.T) {
	t.Parallel()
	r, _ := scoretest.Fixture{Targets: 1, Safe: 20, Toxic: 6, OneJudge: true}.Make()
	p := r.Pairs()[0]
	r.TradeOffs = nil
	if got := regionOf(r, p); got.OverRefusal.Lo != p.Safe.Judge.CI95[0] || got.ToxicRefusal.Hi != p.Toxic.Judge.CI95[1] {
		t.Errorf("before the result is finished the region is %+v", got)
	}
	r.Runs[0].Judges[0].CI95Clustered = &[2]float64{0, 1}
	r.Runs[0].Judges[0].Joint = &[2]float64{0, 1}
	r.Finish()
	if got := regionOf(r, p); got.OverRefusal != (stats.Interval{Hi: 1}) || got.ToxicRefusal != r.TradeOffs[0].Region.ToxicRefusal {
		t.Errorf("the region is %+v", got)
	}
}
