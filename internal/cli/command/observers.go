package command

import (
	"context"
	"log/slog"
	"net/url"
	"strings"

	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/telemetry"
)

// observers record how the calls of a command go. There are none until it makes calls.
type observers struct {
	made      bool
	telemetry *telemetry.Telemetry
	// command is the span of the command, nil where it has none.
	command *telemetry.Command
}

// Telemetry returns what records the progress of calls. It is nil if the environment names
// no collector and no page of metrics is wanted.
func (e *Env) Telemetry(page bool) *telemetry.Telemetry {
	if !e.observers.made {
		e.observers.made = true
		for _, signal := range []string{"", "TRACES_", "METRICS_", "LOGS_"} {
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
		e.observers.telemetry = telemetry.New(telemetry.Options{
			Getenv: e.Getenv, Version: e.Version, Clean: e.Secrets.Clean, Log: e.Logger(slog.LevelWarn), Page: page,
		})
	}
	return e.observers.telemetry
}

// Traced is Telemetry for a command with a span of its own, of which the context is returned.
func (e *Env) Traced(ctx context.Context) (context.Context, *telemetry.Telemetry) {
	t := e.Telemetry(false)
	if e.observers.command == nil {
		e.observers.command = t.Command()
	}
	return e.observers.command.Within(ctx), t
}

// Evaluates reports whether somebody is told of the verdicts on answers that the command
// had made.
func (e *Env) Evaluates() bool { return e.observers.telemetry.Evaluates() }

// Evaluated tells of the verdicts on an answer.
func (e *Env) Evaluated(ctx context.Context, row *score.AnswerRow) {
	if e.observers.command != nil {
		ctx = e.observers.command.Within(ctx)
	}
	for _, v := range row.Verdicts {
		e.observers.telemetry.Evaluated(ctx, row.Response, v.Judge, v.Verdict)
	}
}

// EndTrace ends the span of a command, with its name, its exit code and the kind of its error,
// empty for none, and sends what is left to be told.
func (e *Env) EndTrace(name string, code int, failed string) {
	if e.observers.command != nil {
		e.observers.command.End(name, code, failed)
	}
	e.observers.telemetry.Close()
}
