package score_test

import (
	"testing"

	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/score/scoretest"
	"github.com/orbench/orbench/stats"
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

// TestBasisOfPredicted has what is predicted of a judge from other models rest on those, though
// these answers have labels, on which the rate rests.
func TestBasisOfPredicted(t *testing.T) {
	t.Parallel()
	r, _ := scoretest.Fixture{Targets: 1, Safe: 40}.Make()
	run := &r.Runs[0]
	j := &run.Judges[0]
	run.Labeled = &annotation.Corrected{Rate: stats.Estimate{Value: 0.2, Lo: 0.1, Hi: 0.3}, Labels: score.LeastLabels + 10, People: 2}
	j.Figures = nil
	for _, m := range []figure.Measure{figure.JudgeRecall, figure.JudgeSpecificity} {
		j.Figures = append(j.Figures, figure.New(m, run.Keys(j.Judge), 900, &stats.Estimate{Value: 0.8, Lo: 0.5, Hi: 0.9}))
	}
	want := map[figure.Measure]string{
		figure.RateOf(run.Label): "checked here (30 labels)", figure.JudgeRecall: "checked on other models", figure.JudgeSpecificity: "checked on other models",
	}
	for m, basis := range want {
		found := false
		for f := range figure.Of(r.All(), m) {
			found = true
			if f.Basis.String() != basis || f.Checked == figure.Elsewhere && f.Labels+f.People > 0 {
				t.Errorf("%s rests on %+v, want %s", m, f.Basis, basis)
			}
		}
		if !found {
			t.Errorf("%s is not there", m)
		}
	}
}
