package command

import (
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"
)

// logFormats are the values of --log-format.
var logFormats = []string{"text", "json"}

// LogFlag registers --log-format.
func LogFlag(c *cobra.Command, format *string) {
	ChoiceFlag(c, format, "log-format", logFormats, "there is no format", "`FORMAT` of the log on standard error: "+either(logFormats)+", one line for each event")
}

// LogFormat has what is said on standard error from now on logged in a format of LogFlag.
func (e *Env) LogFormat(format string) { e.logged = format == logFormats[1] }

// Logger logs what is of a level or above to standard error, without secrets.
func (e *Env) Logger(level slog.Level) *slog.Logger {
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: e.cleanAttr}
	if e.logged {
		return slog.New(slog.NewJSONHandler(e.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(e.Stderr, o))
}

// cleanAttr takes secrets out of what is logged.
func (e *Env) cleanAttr(_ []string, a slog.Attr) slog.Attr {
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(e.Secrets.Clean(a.Value.String()))
	case slog.KindAny:
		if level, ok := a.Value.Any().(slog.Level); ok {
			a.Value = slog.StringValue(level.String())
			break
		}
		// What is no plain value is shown as fmt shows it, so that nothing is left in it.
		a.Value = slog.StringValue(e.Secrets.Clean(fmt.Sprint(a.Value.Any())))
	}
	return a
}

// Fault tells of an error with which a command ends.
func (e *Env) Fault(text string) { e.tell(slog.LevelError, "orbench: ", text) }

// Note tells of what a package of Go logs.
func (e *Env) Note(line string) { e.tell(slog.LevelWarn, "orbench: ", line) }
