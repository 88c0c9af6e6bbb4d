package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/untrusted"
)

// What an error tells at most: so many of the errors that it joins, each in so many
// columns. Of a longer one the middle is left out, since its end says what to do.
const (
	mostErrors = 10
	mostWide   = 1000
)

// ErrorText is an error in one line, with settings called by their flags.
func (e *Env) ErrorText(err error) string { return e.errorText(err, mostWide) }

// errorText is ErrorText with so many columns for each of the errors that it joins.
func (e *Env) errorText(err error, wide int) string {
	parts := strings.FieldsFunc(e.WithFlags(err), func(r rune) bool { return r == '\n' || r == '\r' })
	parts = slices.Compact(parts)
	if more := len(parts) - mostErrors; more > 0 {
		parts = append(parts[:mostErrors], fmt.Sprintf("and %d more", more))
	}
	for i, part := range parts {
		parts[i] = untrusted.Shorten(part, wide)
	}
	return strings.Join(parts, "; ")
}

// WithFlags renames the settings in the parts of an error that name some; the rest
// may be text of others.
func (e *Env) WithFlags(err error) string {
	text := err.Error()
	var parts []error
	switch err := err.(type) {
	case *orbench.InputError:
		return settings.RenameError(err, e.FlagOf).Error()
	case *fill.BudgetError, *fill.UsageError:
		return settings.Rename(text, e.FlagOf)
	case interface{ Unwrap() error }:
		if part := err.Unwrap(); part != nil {
			parts = []error{part}
		}
	case interface{ Unwrap() []error }:
		parts = err.Unwrap()
	}
	for _, part := range parts {
		text = strings.Replace(text, part.Error(), e.WithFlags(part), 1)
	}
	return text
}
