package web

import (
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/stats"
)

// TestRateOf holds that the list of studies shows the rates that their reports show: by people's
// labels where these replace the judge's, and no range of a judge that nobody checked.
func TestRateOf(t *testing.T) {
	t.Parallel()
	rated := figure.New(figure.OverRefusal, figure.Keys{Label: orbench.Safe, Judge: "llm:m/j"}, 100, &stats.Estimate{Value: 0.2, Lo: 0.13, Hi: 0.29})
	checked := rated
	checked.Range = &stats.Interval{Lo: 0.05, Hi: 0.45}
	labels := func(n int) *annotation.Corrected {
		return &annotation.Corrected{Rate: stats.Estimate{Value: 0.4, Lo: 0.3, Hi: 0.5}, Labels: n}
	}
	for name, of := range map[string]struct {
		rate           figure.Figure
		labeled        *annotation.Corrected
		text, interval string
	}{
		"a judge that was checked":   {checked, nil, "20.0%", "5.0–45.0"},
		"a judge that was not":       {rated, nil, "20.0%", "not checked"},
		"labels that replace a rate": {checked, labels(25), "40.0%", "30.0–50.0 by 25 labels"},
		"too few labels":             {checked, labels(5), "20.0%", "5.0–45.0"},
	} {
		judge := score.JudgeResult{Judge: "llm:m/j", Judged: 100, Refused: 20, Rate: of.rate}
		run := score.RunResult{About: score.About{Label: orbench.Safe}, N: 100, Answered: 100, Judges: []score.JudgeResult{judge}, Labeled: of.labeled}
		if got := rateOf(&score.Side{Run: run, Judge: judge}); got.Text() != of.text || got.Range != of.interval {
			t.Errorf("%s: %s (%s), want %s (%s)", name, got.Text(), got.Range, of.text, of.interval)
		}
	}
}
