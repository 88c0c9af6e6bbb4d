package settings

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/orbench/orbench"
)

var named = regexp.MustCompile("`([a-z][a-z0-9-]*)(=[^`]*)?`")

// Rename replaces the settings that a text names in backquotes by their names from the
// function name, and leaves those for which it gives nothing. A value may follow a name,
// as in `limit=5`; after a flag it follows a space.
func Rename(text string, name func(setting string) string) string {
	return named.ReplaceAllStringFunc(text, func(s string) string {
		setting, value, valued := strings.Cut(s[1:len(s)-1], "=")
		switch called := name(setting); {
		case called == "":
			return s
		case !valued:
			return called
		case strings.HasPrefix(called, "--") && !strings.Contains(called, " "):
			return called + " " + value
		default:
			return called + "=" + value
		}
	})
}

// RenameError gives a copy of an error with its settings renamed by name.
func RenameError(err *orbench.InputError, name func(setting string) string) *orbench.InputError {
	renamed := *err
	if err.Setting != "" {
		renamed.Setting = cmp.Or(name(err.Setting), err.Setting)
	}
	renamed.Hint = Rename(err.Hint, name)
	return &renamed
}

// maxName is the length from which a text is not taken for a misspelled name.
const maxName = 64

// Nearest gives the known name with the fewest edits from name, the first among equals.
// It gives "" if a suggestion would be a guess: the distance is more than one edit and
// more than half the known name's length. Case does not matter.
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

// Names gives the values of a string type as strings.
func Names[T ~string](all []T) []string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = string(one)
	}
	return names
}

// Unknown is the error for a setting with an unknown name. known are the known names;
// what says what they are names of.
func Unknown(setting, what, name string, known []string) error {
	hint := "known are " + strings.Join(known, ", ")
	if near := Nearest(name, known); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return &orbench.InputError{Setting: setting, Problem: fmt.Sprintf("unknown %s %q", what, name), Hint: hint}
}
