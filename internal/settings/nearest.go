package settings

import (
	"strings"

	"github.com/agext/levenshtein"
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
