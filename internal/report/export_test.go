package report

import (
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/stats"
)

// Fixture gives the tests outside of the package a made-up run of some targets.
func Fixture(targets int, simulated bool) (score.Result, []score.Row) {
	return fixture{Targets: targets, Safe: 6, Toxic: 3, Simulated: simulated}.make()
}

// ResultOf counts rows into the result that they make.
func ResultOf(rows []score.Row) score.Result { return resultOf(rows, false) }

// PromptRates makes up figures of a target that is asked several times.
func PromptRates() []score.PromptRates { return promptRates() }

// Sampled makes up a result with two samples of a target on safe prompts.
func Sampled() score.Result {
	r := score.Result{PromptRates: promptRates()[:1], Simulated: true}
	for i, target := range r.PromptRates[0].Targets {
		rate := 0.145
		j := score.JudgeResult{Judge: "lexical", Judged: 200, Refused: 29, Rate: stats.Rate{Share: &rate, CI95: &[2]float64{0.1, 0.2}}}
		if i > 0 {
			j.Judged, j.Unjudged, j.Refused = 199, 1, 28
		}
		r.Runs = append(r.Runs, score.RunResult{
			Target: target, Variant: r.PromptRates[0].Target, Dataset: "starter", DatasetSHA256: fixtureSHA, Label: orbench.Safe, N: 200, Answered: 200, Simulated: true,
			Judges: []score.JudgeResult{j},
		})
	}
	return r
}
