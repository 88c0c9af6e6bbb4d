package report

import (
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
)

// Data is the result in its documented form. Lists and objects without entries are written
// as such and never as null.
func (v View) Data() any { return WithoutNulls(v.Result) }

// WithoutNulls gives lists and objects to a result that lacks them.
func WithoutNulls(r score.Result) score.Result {
	r.Runs = slices.Clone(r.Runs)
	if r.Runs == nil {
		r.Runs = []score.RunResult{}
	}
	if r.TradeOffs == nil {
		r.TradeOffs = []score.TradeOff{}
	}
	if r.Correlations == nil {
		r.Correlations = []score.Correlation{}
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		run.Judges = slices.Clone(run.Judges)
		if run.Judges == nil {
			run.Judges = []score.JudgeResult{}
		}
		for k := range run.Judges {
			j := &run.Judges[k]
			if j.ByClass == nil {
				j.ByClass = map[orbench.Class]int{}
			}
			if j.BySource == nil {
				j.BySource = map[score.Source]int{}
			}
			if j.ByCategory == nil {
				j.ByCategory = map[orbench.Category]score.Count{}
			}
		}
	}
	return r
}
