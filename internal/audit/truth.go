package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/stats"
)

// Truth says what raters are compared with. The zero value is the majority of
// the people.
type Truth struct {
	// Columns names raters, or further columns of the sheets. Without Majority
	// there is one column, and its labels are the truth.
	Columns []string `json:"columns"`
	// Majority is true if a label needs more than half of the labels that the
	// columns have for a prompt.
	Majority bool `json:"majority"`
}

// ParseTruth reads the value of a flag: COLUMN, or majority(COLUMN,COLUMN,…).
// The empty text is the zero Truth. A column may be written as in the header,
// such as rater:ana, or as the rater's name.
func ParseTruth(s string) (Truth, error) {
	s = strings.TrimSpace(s)
	bad := func(problem string) (Truth, error) {
		return Truth{}, &orbench.InputError{Setting: "truth", Problem: problem, Hint: "write a column, or majority(COLUMN,COLUMN,COLUMN)"}
	}
	if s == "" {
		return Truth{}, nil
	}
	inner, many := strings.CutPrefix(s, "majority(")
	if !many {
		if name := columnName(s); name != "" {
			return Truth{Columns: []string{name}}, nil
		}
		return bad(fmt.Sprintf("%q names nobody", s))
	}
	inner, closed := strings.CutSuffix(inner, ")")
	if !closed {
		return bad("the closing parenthesis is missing")
	}
	t := Truth{Majority: true}
	for _, name := range strings.Split(inner, ",") {
		name = columnName(name)
		if name == "" {
			return bad("a column's name is empty")
		}
		if slices.Contains(t.Columns, name) {
			return bad("the column " + name + " is named twice")
		}
		t.Columns = append(t.Columns, name)
	}
	return t, nil
}

// columnName returns the rater's name for a column, which may be spelled as in
// the header.
func columnName(s string) string {
	s = strings.TrimSpace(s)
	for _, prefix := range []string{raterPrefix, moderatorPrefix} {
		if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
			return strings.TrimSpace(s[len(prefix):])
		}
	}
	if strings.EqualFold(s, Ensemble) {
		return Ensemble
	}
	return s
}

// of returns the truth of a prompt. It returns false if there is none: nobody
// labeled the prompt, or no label has a majority of those given.
func (t Truth) of(labels map[string]orbench.Label) (orbench.Label, bool) {
	votes, given := map[orbench.Label]float64{}, 0.0
	for _, c := range t.Columns {
		if l := labels[c]; l != "" && l != orbench.Undecided {
			votes[l]++
			given++
		}
	}
	return stats.Majority(votes, given)
}
