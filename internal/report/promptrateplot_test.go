package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/stats"
)

// per-prompt refusal rates makes up what a target that is asked five times does with the
// prompts of both labels, beside temperature 0.
func promptRates() []score.PromptRates {
	mean := func(value, lo, hi float64) *stats.Estimate { return &stats.Estimate{Value: value, Lo: lo, Hi: hi} }
	icc := 0.62
	safe := score.PromptRates{
		Target: "openai/gpt-1-mini [temperature 0.7]", Dataset: "starter", DatasetSHA256: fixtureSHA, Label: orbench.Safe, Judge: "lexical",
		Samples: 5, Targets: []string{"openai/gpt-1-mini [temperature 0.7]", "openai/gpt-1-mini [temperature 0.7, sample 2]"},
		Refusals: score.Refusals{
			Prompts: 200, Complete: 199, Judged: 999, Refused: 143, Mean: mean(0.1432, 0.11, 0.1843),
			Always: 7, Sometimes: 52, Never: 140, AtLeastOnce: mean(0.2965, 0.2374, 0.3633), EveryTime: mean(0.0352, 0.0171, 0.0708),
		},
		Unjudged: 1, Histogram: []int{140, 22, 11, 12, 7, 7}, Intraclass: &icc,
		ByCategory: map[orbench.Category]score.Refusals{}, Simulated: true,
		Greedy: &score.VersusGreedy{
			Target: "openai/gpt-1-mini", Prompts: 200, Refused: 24, Rate: mean(0.12, 0.082, 0.1723), Difference: mean(0.0232, 0.004, 0.0424),
			Agree: 180, OnlyGreedy: 5, OnlySamples: 11, Even: 4, Agreement: mean(0.9, 0.85, 0.9343),
			WhereAnswered: mean(0.0651, 0.05, 0.09), WhereRefused: mean(0.71, 0.6, 0.8), Histogram: []int{2, 2, 1, 6, 6, 7},
		},
	}
	toxic := safe
	toxic.Label, toxic.Complete, toxic.Histogram, toxic.Greedy = orbench.Toxic, 60, []int{1, 3, 6, 9, 20, 21}, nil
	return []score.PromptRates{safe, toxic}
}

func TestPromptRatePlot(t *testing.T) {
	t.Parallel()
	r := score.Result{PromptRates: promptRates()}
	f, ok := promptRatePlot(r, "lexical")
	if !ok {
		t.Fatal("nothing to draw")
	}
	keepPicture(t, "propensity", f)
	texts := svgTexts(t, f)
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

	many := r.PromptRates[0]
	many.Samples, many.Histogram, many.Complete, many.Greedy = 50, make([]int, 51), 102, nil
	for i := range many.Histogram {
		many.Histogram[i] = 2
	}
	f, ok = promptRatePlot(score.Result{PromptRates: []score.PromptRates{many}}, "lexical")
	if !ok {
		t.Fatal("nothing to draw of 50 samples")
	}
	keepPicture(t, "propensity-many", f)
	if texts := svgTexts(t, f); slices.Contains(texts, "1") || !slices.Contains(texts, "50") && !slices.Contains(texts, "45") {
		t.Errorf("the numbers under 51 bars are %q", texts)
	}

	if _, ok := promptRatePlot(r, "another judge"); ok {
		t.Error("a plot for a judge without figures")
	}
	unjudged := r.PromptRates[0]
	unjudged.Complete, unjudged.Histogram = 0, make([]int, 6)
	if _, ok := promptRatePlot(score.Result{PromptRates: []score.PromptRates{unjudged}}, "lexical"); ok {
		t.Error("a plot of no prompts")
	}
}
