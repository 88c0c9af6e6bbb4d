package score

import (
	"cmp"
	"slices"

	"github.com/orbench/orbench/model"
)

// ServedBy is the number of answers that came under a name other than the
// requested one.
type ServedBy struct {
	Model string `json:"model"`
	N     int    `json:"n"`
	// As is version if that is a name of the requested model, such as a dated
	// one; other if it is another model; and unclear if the names do not tell.
	// Answers that came as version or unclear count like any other.
	As model.Served `json:"as"`
}

// Together adds up the answers under the same names.
func Together(all, more []ServedBy) []ServedBy {
	for _, by := range more {
		all = addServed(all, by)
	}
	return all
}

// addServed counts n answers under a name. The names are kept in order.
func addServed(all []ServedBy, more ServedBy) []ServedBy {
	i, found := slices.BinarySearchFunc(all, more, func(a, b ServedBy) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.As, b.As))
	})
	if !found {
		return slices.Insert(all, i, more)
	}
	all[i].N += more.N
	return all
}
