package settings

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/orbench/orbench"
)

var named = regexp.MustCompile("`([a-z][a-z0-9-]*)(=[^`]*)?`")

// Rename gives a text with what name calls the settings that the text names in
// backquotes, in their place, and leaves what it calls nothing. A value may follow a name, as in `limit=5`: behind a flag it
// stands after a space.
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

// RenameError gives a copy of an error with the settings called what name calls
// them.
func RenameError(err *orbench.InputError, name func(setting string) string) *orbench.InputError {
	renamed := *err
	if err.Setting != "" {
		renamed.Setting = cmp.Or(name(err.Setting), err.Setting)
	}
	renamed.Hint = Rename(err.Hint, name)
	return &renamed
}
