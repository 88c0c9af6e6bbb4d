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
		for _, j := range r.Judged() {
			j.Range = &stats.Interval{Lo: j.CI95[0], Hi: j.CI95[1]}
		}
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
		if strings.Contains(text, "Rectangles: the 95% range") != (test.tints > 0) || strings.Contains(text, "Whiskers") != (test.tints == 0) {
			t.Errorf("%d targets are explained by %q", test.targets, text[:200])
		}
	}
}
