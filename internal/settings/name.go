package settings

import (
	"regexp"

	"github.com/orbench/orbench"
)

var named = regexp.MustCompile("`([a-z][a-z0-9-]*)`")

// Rename gives a text with what name calls the settings that the text names in
// backquotes, in their place.
func Rename(text string, name func(setting string) string) string {
	return named.ReplaceAllStringFunc(text, func(s string) string { return name(s[1 : len(s)-1]) })
}

// RenameError gives a copy of an error with the settings called what name calls
// them.
func RenameError(err *orbench.InputError, name func(setting string) string) *orbench.InputError {
	renamed := *err
	if err.Setting != "" {
		renamed.Setting = name(err.Setting)
	}
	renamed.Hint = Rename(err.Hint, name)
	return &renamed
}
