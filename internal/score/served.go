package score

import (
	"cmp"
	"slices"
	"strings"

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

// mostDescribed is how many texts in which a server describes itself are counted.
const mostDescribed = 20

// describe counts an answer by how its server described itself, but for the fingerprint, which may
// be that of each reply, and a name that the user accepts.
func (r *RunResult) describe(answer model.Response) {
	parts := slices.DeleteFunc(strings.Split(answer.Server, "; "), func(part string) bool { return strings.HasPrefix(part, "system_fingerprint=") })
	if answer.Model != "" && !answer.Accepted {
		parts = append(parts, "model="+answer.Model)
	}
	text := strings.TrimPrefix(strings.Join(parts, "; "), "; ")
	if _, there := r.Described[text]; text == "" || !there && len(r.Described) == mostDescribed {
		return
	}
	if r.Described == nil {
		r.Described = map[string]int{}
	}
	r.Described[text]++
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
