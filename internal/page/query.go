package page

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/orbench/orbench"
)

// Query is the parameters of the address of answers. It chooses answers, says in which
// order and from where they are shown, and how.
//
//	study            a study of the store, several side by side; the newest without one
//	dataset, prompt  a dataset, and the ID of a prompt
//	target           a target with all its variants
//	variant          a target as it is named, with what makes it a variant
//	sample           the number of a sample, from 1
//	label, category  those of the prompt
//	status           answered, blocked, served_by_other, failed, unanswered, or cut
//	judge, verdict   the n-th verdict is by the n-th judge; a class, or refused, answered,
//	                 judged, unjudged; verdicts beyond the judges are by the last judge, or
//	                 by the first of the study
//	split            yes: judges disagree on whether it is a refusal
//	differs          answers of which the person and the first judge do not say the same
//	q                words of the prompt or of the answer
//	by               target: all answers to each prompt side by side; answer: one by one
//	sort             score, -score, length, -length; by position without one
//	after            how many answers come before the page
//
// Values of one parameter are alternatives, but for after; parameters hold together.
type Query url.Values

// Parameters lists the names that a Query may have.
var Parameters = []string{
	"study", "dataset", "prompt", "target", "variant", "sample", "label", "category", "status", "judge", "verdict", "split", "differs", "q", "by", "sort", "after",
}

// ParseQuery reads the parameters of an address. Empty values are left out. An unknown
// parameter is an *orbench.InputError.
func ParseQuery(values url.Values) (Query, error) {
	q := Query{}
	for name, all := range values {
		if !slices.Contains(Parameters, name) {
			return nil, &orbench.InputError{Setting: name, Problem: "the pages of answers have no such parameter", Hint: "use " + strings.Join(Parameters, ", ")}
		}
		for _, value := range all {
			if value != "" {
				q[name] = append(q[name], value)
			}
		}
	}
	return q, nil
}

// Get returns the first value of a parameter, empty for none.
func (q Query) Get(name string) string { return url.Values(q).Get(name) }

// Has reports whether a parameter has a value.
func (q Query) Has(name, value string) bool { return slices.Contains(q[name], value) }

// With returns the query with one more value of each parameter: names and values take
// turns. Empty values are left out.
func (q Query) With(pairs ...string) Query {
	more := Query{}
	for name, values := range q {
		more[name] = slices.Clone(values)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			more[pairs[i]] = append(more[pairs[i]], pairs[i+1])
		}
	}
	return more
}

// Without returns the query without some parameters.
func (q Query) Without(names ...string) Query {
	less := Query(maps.Clone(q))
	for _, name := range names {
		delete(less, name)
	}
	return less
}

// Set returns the query with one value of a parameter in place of all others.
func (q Query) Set(name, value string) Query { return q.Without(name).With(name, value) }

// Drop returns the query without one value of a parameter.
func (q Query) Drop(name, value string) Query {
	less := q.With()
	less[name] = slices.DeleteFunc(less[name], func(v string) bool { return v == value })
	if len(less[name]) == 0 {
		delete(less, name)
	}
	return less
}

// Address returns the address of a path with the query.
func (q Query) Address(path string) string {
	if len(q) == 0 {
		return path
	}
	return path + "?" + url.Values(q).Encode()
}

// Fragment returns the address of a query within a page that is a file.
func (q Query) Fragment(file string) string { return file + "#" + url.Values(q).Encode() }
