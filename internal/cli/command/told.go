package command

import (
	"context"
	"log/slog"
	"net/url"
	"strings"

	"github.com/orbench/orbench/internal/telemetry"
)

// told is who is told how the calls of a command go: nobody, until it makes calls.
type told struct {
	made      bool
	telemetry *telemetry.Telemetry
	// command is the span of the command, nil where it has none.
	command *telemetry.Command
}

// Telemetry gives who is told how calls go, nil where the environment names no collector and
// the metrics are not wanted for a page.
func (e *Env) Telemetry(page bool) *telemetry.Telemetry {
	if !e.told.made {
		e.told.made = true
		for _, signal := range []string{"", "TRACES_", "METRICS_"} {
			for pair := range strings.SplitSeq(e.Getenv("OTEL_EXPORTER_OTLP_"+signal+"HEADERS"), ",") {
				_, value, _ := strings.Cut(pair, "=")
				e.Secrets.add(value)
				if value, err := url.PathUnescape(value); err == nil {
					_, key, _ := strings.Cut(strings.TrimSpace(value), " ") // as in "Bearer KEY"
					e.Secrets.add(value)
					e.Secrets.add(key)
				}
			}
		}
		e.told.telemetry = telemetry.New(telemetry.Config{
			Getenv: e.Getenv, Version: e.Version, Clean: e.Secrets.Clean, Log: e.Logger(slog.LevelWarn), Page: page,
		})
	}
	return e.told.telemetry
}

// Told is Telemetry for a command with a span of its own, of which the context is returned.
func (e *Env) Told(ctx context.Context) (context.Context, *telemetry.Telemetry) {
	t := e.Telemetry(false)
	if e.told.command == nil {
		e.told.command = t.Command()
	}
	return e.told.command.Within(ctx), t
}

// EndTold ends the span of a command, with its name, its exit code and the kind of its error,
// empty for none, and sends what is left to be told.
func (e *Env) EndTold(name string, code int, failed string) {
	if e.told.command != nil {
		e.told.command.End(name, code, failed)
	}
	e.told.telemetry.Close()
}
