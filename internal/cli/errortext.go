package cli

import (
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/settings"
)

// flagName is the flag of a setting.
func flagName(setting string) string { return "--" + setting }

// errorText is an error in one line, with settings called by their flags.
func errorText(err error) string {
	return strings.Join(strings.FieldsFunc(withFlags(err), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// withFlags renames the settings in the parts of an error that name some; the rest
// may be text of others.
func withFlags(err error) string {
	text := err.Error()
	var parts []error
	switch err := err.(type) {
	case *orbench.InputError:
		return settings.RenameError(err, flagName).Error()
	case *fill.BudgetError:
		return settings.Rename(text, flagName)
	case interface{ Unwrap() error }:
		if part := err.Unwrap(); part != nil {
			parts = []error{part}
		}
	case interface{ Unwrap() []error }:
		parts = err.Unwrap()
	}
	for _, part := range parts {
		text = strings.Replace(text, part.Error(), withFlags(part), 1)
	}
	return text
}
