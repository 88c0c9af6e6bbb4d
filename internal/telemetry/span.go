package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Command is the span of a command, which is that of all its calls.
type Command struct{ span trace.Span }

// Command begins the span of a command.
func (t *Telemetry) Command() *Command {
	_, span := t.start(context.Background(), "orbench")
	return &Command{span}
}

// Within is the context of what the command does.
func (c *Command) Within(ctx context.Context) context.Context {
	return trace.ContextWithSpan(ctx, c.span)
}

// End ends the span, with the command's name, its exit code, and the kind of error that it
// ended with, empty for none.
func (c *Command) End(name string, code int, failed string) {
	c.span.SetName(name)
	c.span.SetAttributes(attribute.Int("process.exit.code", code))
	finish(c.span, failed)
}

// Shard begins the span of a shard of calls that a worker makes, and returns the context for
// these calls. A worker has no span of its own, because a span is visible only after it has
// ended.
func (t *Telemetry) Shard(ctx context.Context, fill, shard int64) (spanning context.Context, end func(calls int, err error)) {
	ctx, span := t.start(ctx, "shard", attribute.Int64("orbench.fill", fill), attribute.Int64("orbench.shard", shard))
	return ctx, func(calls int, err error) {
		span.SetAttributes(attribute.Int("orbench.calls", calls))
		failed := ""
		if err != nil {
			failed = errorType(err)
		}
		finish(span, failed)
	}
}

// start begins a span, one that goes nowhere where nobody is told.
func (t *Telemetry) start(ctx context.Context, name string, about ...attribute.KeyValue) (context.Context, trace.Span) {
	if t == nil || t.tracer == nil {
		return ctx, trace.SpanFromContext(context.Background())
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithAttributes(about...))
	t.count(span)
	return ctx, span
}

// count counts a span that is to be sent.
func (t *Telemetry) count(span trace.Span) {
	if span.SpanContext().IsSampled() {
		t.ended.Add(1)
	}
}

func finish(span trace.Span, failed string) {
	if failed != "" {
		span.SetAttributes(attribute.String("error.type", failed))
		span.SetStatus(codes.Error, failed)
	}
	span.End()
}
