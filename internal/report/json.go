package report

import (
	"github.com/orbench/orbench/internal/score"
)

// Data is the result in its documented form. Lists and objects without entries are written
// as such and never as null.
func (v View) Data() any {
	r := WithoutNulls(v.Result)
	r.Warnings = v.Warnings()
	return r
}

// Warnings says, a line each, what is to be known before figures of the result are used.
func (v View) Warnings() []string { return warningsOf(v.Aggregated()) }

// WithoutNulls gives lists and objects to a result that lacks them.
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

// list is a copy of a list, not nil.
func list[T any](all []T) []T { return append([]T{}, all...) }

// object is a map, not nil.
func object[K comparable, V any](all map[K]V) map[K]V {
	if all == nil {
		return map[K]V{}
	}
	return all
}
