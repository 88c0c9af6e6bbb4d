package settings

import (
	"cmp"
	"regexp"
	"strings"

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
