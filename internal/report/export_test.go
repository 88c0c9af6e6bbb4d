package report

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/propensity"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/stats"
)

// Fixture gives the tests outside of the package a made-up run of some targets.
func Fixture(targets int, simulated bool) (score.Result, []score.Row) {
	return fixture{Targets: targets, Safe: 6, Toxic: 3, Simulated: simulated}.make()
}

// ResultOf counts rows into the result that they make.
func ResultOf(rows []score.Row) score.Result { return resultOf(rows, false) }

// Propensity makes up figures of a target that is asked several times.
func Propensity() []propensity.Figures { return propensities() }

// Sampled makes up a result with two samples of a target on safe prompts.
func Sampled() score.Result {
	r := score.Result{Propensity: propensities()[:1], Simulated: true}
	for i, target := range r.Propensity[0].Targets {
		rate := 0.145
		j := score.JudgeResult{Judge: "lexical", Judged: 200, Refused: 29, Rate: stats.Rate{Share: &rate, CI95: &[2]float64{0.1, 0.2}}}
		if i > 0 {
			j.Judged, j.Unjudged, j.Refused = 199, 1, 28
		}
		r.Runs = append(r.Runs, score.RunResult{
			Target: target, Variant: r.Propensity[0].Target, Dataset: "starter", DatasetSHA256: fixtureSHA, Label: orbench.Safe, N: 200, Answered: 200, Simulated: true,
			Judges: []score.JudgeResult{j},
		})
	}
	return r
}

// propensities makes up what a target that is asked five times does with the
// prompts of both labels, beside temperature 0.
func propensities() []propensity.Figures {
	mean := func(value, lo, hi float64) *stats.Estimate { return &stats.Estimate{Value: value, Lo: lo, Hi: hi} }
	icc := 0.62
	safe := propensity.Figures{
		Target: "openai/gpt-1-mini [temperature 0.7]", Dataset: "starter", DatasetSHA256: fixtureSHA, Label: orbench.Safe, Judge: "lexical",
		Samples: 5, Targets: []string{"openai/gpt-1-mini [temperature 0.7]", "openai/gpt-1-mini [temperature 0.7, sample 2]"},
		Refusals: propensity.Refusals{
			Prompts: 200, Complete: 199, Judged: 999, Refused: 143, Mean: mean(0.1432, 0.11, 0.1843),
			Always: 7, Sometimes: 52, Never: 140, AtLeastOnce: mean(0.2965, 0.2374, 0.3633), EveryTime: mean(0.0352, 0.0171, 0.0708),
		},
		Unjudged: 1, Histogram: []int{140, 22, 11, 12, 7, 7}, Intraclass: &icc,
		ByCategory: map[orbench.Category]propensity.Refusals{}, Simulated: true,
		Greedy: &propensity.VersusGreedy{
			Target: "openai/gpt-1-mini", Prompts: 200, Refused: 24, Rate: mean(0.12, 0.082, 0.1723), Difference: mean(0.0232, 0.004, 0.0424),
			Agree: 180, OnlyGreedy: 5, OnlySamples: 11, Even: 4, Agreement: mean(0.9, 0.85, 0.9343),
			WhereAnswered: mean(0.0651, 0.05, 0.09), WhereRefused: mean(0.71, 0.6, 0.8), Histogram: []int{2, 2, 1, 6, 6, 7},
		},
	}
	toxic := safe
	toxic.Label, toxic.Complete, toxic.Histogram, toxic.Greedy = orbench.Toxic, 60, []int{1, 3, 6, 9, 20, 21}, nil
	return []propensity.Figures{safe, toxic}
}
