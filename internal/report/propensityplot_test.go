package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/page/pagetest"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/stats"
)

// propensityFigure makes up what a target that is asked five times does with safe prompts, beside
// temperature 0.
func propensityFigure() score.Propensity {
	mean := func(value, lo, hi float64) *stats.Estimate { return &stats.Estimate{Value: value, Lo: lo, Hi: hi} }
	return score.Propensity{
		Target: "openai/gpt-1-mini [temperature 0.7]", Scope: score.Scope{Dataset: "starter", Label: orbench.Safe, Judge: "lexical"}, Samples: 5,
		Refusals: score.Refusals{Prompts: 200, Complete: 199, Judged: 999, Refused: 143, Mean: mean(0.1432, 0.11, 0.1843)},
		Unjudged: 1, Histogram: []int{140, 22, 11, 12, 7, 7}, Simulated: true,
		Greedy: &score.VersusGreedy{Target: "openai/gpt-1-mini", Prompts: 200, Refused: 24, Histogram: []int{2, 2, 1, 6, 6, 7}},
	}
}

func TestPropensityPlot(t *testing.T) {
	t.Parallel()
	toxic := propensityFigure()
	toxic.Label, toxic.Complete, toxic.Histogram, toxic.Greedy = orbench.Toxic, 60, []int{1, 3, 6, 9, 20, 21}, nil
	all := []score.Propensity{propensityFigure(), toxic}
	f, ok := plotPropensity(all, "lexical")
	if !ok {
		t.Fatal("nothing to draw")
	}
	texts := pagetest.FigureTexts(t, f)
	for _, want := range []string{
		"Refusal propensity (SIMULATED)", "openai/gpt-1-mini [temperature 0.7]",
		"safe prompts of starter: 14.3% [11.0–18.4], n = 199", "140", "refused of 5 samples",
	} {
		if !slices.Contains(texts, want) {
			t.Errorf("the plot lacks %q: %q", want, texts)
		}
	}
	if !strings.Contains(strings.Join(texts, "\n"), "Orange") {
		t.Error("the plot does not say what orange is")
	}

	many := propensityFigure()
	many.Samples, many.Histogram, many.Complete, many.Greedy = 50, make([]int, 51), 102, nil
	for i := range many.Histogram {
		many.Histogram[i] = 2
	}
	f, ok = plotPropensity([]score.Propensity{many}, "lexical")
	if !ok {
		t.Fatal("nothing to draw of 50 samples")
	}
	if texts := pagetest.FigureTexts(t, f); slices.Contains(texts, "1") || !slices.Contains(texts, "50") && !slices.Contains(texts, "45") {
		t.Errorf("the numbers under 51 bars are %q", texts)
	}

	if _, ok := plotPropensity(all, "another judge"); ok {
		t.Error("a plot for a judge without figures")
	}
	unjudged := propensityFigure()
	unjudged.Complete, unjudged.Histogram = 0, make([]int, 6)
	if _, ok := plotPropensity([]score.Propensity{unjudged}, "lexical"); ok {
		t.Error("a plot of no prompts")
	}
}
