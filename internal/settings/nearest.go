package settings

import (
	"fmt"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/orbench/orbench"
)

// maxName is the length from which a text is no misspelled name.
const maxName = 64

// Nearest gives the known name within the fewest edits of name, the first of
// several, or "" when all are so far that a suggestion would be a guess: more than
// half of the known name's length away, and more than one edit. Case does not
// matter.
func Nearest(name string, known []string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "" || len(name) > maxName {
		return ""
	}
	best, fewest := "", 0
	for _, k := range known {
		d := levenshtein.Distance(name, strings.ToLower(k), nil)
		if d <= max(1, len(k)/2) && (best == "" || d < fewest) {
			best, fewest = k, d
		}
	}
	return best
}

// Names are the words of a type of its own, as texts.
func Names[T ~string](all []T) []string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = string(one)
	}
	return names
}

// Unknown is the error for a name in a setting that is not among the known ones, which are
// names of what.
func Unknown(setting, what, name string, known []string) error {
	hint := "known are " + strings.Join(known, ", ")
	if near := Nearest(name, known); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return &orbench.InputError{Setting: setting, Problem: fmt.Sprintf("unknown %s %q", what, name), Hint: hint}
}
