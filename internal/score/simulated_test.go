package score_test

import (
	"testing"

	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score/scoretest"
)

// TestFiguresOfSimulated has every figure of a simulated result say that it is, whatever it
// measures, and none of any other result.
func TestFiguresOfSimulated(t *testing.T) {
	t.Parallel()
	for _, simulated := range []bool{true, false} {
		r, _ := scoretest.Fixture{Targets: 3, Safe: 20, Toxic: 20, Simulated: simulated}.Make()
		r.Figures = append(r.Figures, figure.New(figure.Spearman, r.Runs[0].Scope(r.Runs[0].Judges[0].Judge), 3, nil))
		all, measures := r.All(), map[figure.Measure]bool{}
		for _, f := range all {
			measures[f.Measure] = true
			if f.Simulated != simulated {
				t.Errorf("%s of %+v is simulated: %v", f.Measure, f.Keys, f.Simulated)
			}
		}
		if len(measures) < 8 {
			t.Errorf("only %d measures: %v", len(measures), measures)
		}
	}
}
