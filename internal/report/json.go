package report

import (
	"github.com/orbench/orbench/internal/score"
)

// Data returns the result in its documented form. Empty lists and objects are
// written as such, never as null.
func (v View) Data() any {
	r := WithoutNulls(v.Result)
	r.Warnings = v.Warnings()
	return r
}

// Warnings says, a line each, what a reader must know before using figures of
// the result.
func (v View) Warnings() []string { return warningsOf(v.Aggregated()) }

// WithoutNulls replaces nil lists and maps in a result by empty ones.
func WithoutNulls(r score.Result) score.Result {
	r.Runs, r.TradeOffs, r.Correlations = list(r.Runs), list(r.TradeOffs), list(r.Correlations)
	for i := range r.Runs {
		run := &r.Runs[i]
		run.Judges = list(run.Judges)
		for k := range run.Judges {
			j := &run.Judges[k]
			j.ByClass, j.BySource, j.ByCategory = object(j.ByClass), object(j.BySource), object(j.ByCategory)
		}
	}
	return r
}

// list returns a copy of a list that is not nil.
func list[T any](all []T) []T { return append([]T{}, all...) }

// object returns a map that is not nil.
func object[K comparable, V any](all map[K]V) map[K]V {
	if all == nil {
		return map[K]V{}
	}
	return all
}
