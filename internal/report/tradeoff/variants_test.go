package tradeoff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/page/pagetest"
	"github.com/orbench/orbench/internal/score/scoretest"
	"github.com/orbench/orbench/stats"
)

func TestManyVariantsHaveNumbers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		targets, variants int
		numbered          bool
	}{
		"few":              {2, mostNamed / 2, false},
		"many":             {2, mostNamed/2 + 1, true},
		"only targets":     {2 * mostNamed, 0, false},
		"more than arrows": {3, mostArrows, true},
	} {
		r := scoretest.Crossed(tc.targets, tc.variants)
		f, ok := Plot(r, "lexical")
		if !ok {
			t.Fatalf("%s: nothing is drawn", name)
		}
		texts := pagetest.FigureTexts(t, f)
		for v := range tc.variants {
			change := fmt.Sprintf("[change-%d]", v)
			n := 0
			for _, text := range texts {
				if strings.Contains(text, change) {
					n++
				}
			}
			// In the key a change stands once, by name at each of its targets.
			if tc.numbered && n != 1 || !tc.numbered && n != tc.targets {
				t.Errorf("%s: %s is named %d times", name, change, n)
			}
			number := fmt.Sprint(v + 1)
			if tc.numbered && v > 20 && times(texts, number) < 1+tc.targets {
				t.Errorf("%s: the number %s is not at all of its points", name, number)
			}
		}
		if tc.targets < 4 && !slices.Contains(texts, "p/model-1") {
			t.Errorf("%s: the plain target is not named", name)
		}
	}
}

// The intervals of plain targets are drawn, so the scale must reach to their ends.
func TestScaleHoldsIntervals(t *testing.T) {
	t.Parallel()
	r := scoretest.Crossed(1, mostNamed+2)
	for i := range r.Runs {
		rate, interval := 0.8, [2]float64{0.31, 0.94}
		r.Runs[i].Judges[0].Rate = stats.Rate{Share: &rate, CI95: &interval}
		r.Runs[i].Judges[0].Refused = 80
	}
	f, ok := Plot(r, "lexical")
	if !ok {
		t.Fatal("nothing is drawn")
	}
	if texts := pagetest.FigureTexts(t, f); times(texts, "40") < 2 {
		t.Errorf("the upward scale does not begin below 40: %q", texts)
	}
}

func times(texts []string, want string) (n int) {
	for _, text := range texts {
		if text == want {
			n++
		}
	}
	return n
}
