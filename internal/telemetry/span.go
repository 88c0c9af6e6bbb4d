package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Command is the span of a command. It is the parent of the spans of its calls.
type Command struct{ span trace.Span }

// Command starts the span of a command.
func (t *Telemetry) Command() *Command {
	_, span := t.start(context.Background(), "orbench")
	return &Command{span}
}

// Within returns a context for the work of the command.
func (c *Command) Within(ctx context.Context) context.Context {
	return trace.ContextWithSpan(ctx, c.span)
}

// End ends the span. It takes the command's name, its exit code, and the kind
// of error that ended it ("" for none).
func (c *Command) End(name string, code int, failed string) {
	c.span.SetName(name)
	c.span.SetAttributes(attribute.Int("process.exit.code", code))
	finish(c.span, failed)
}

// Shard starts the span of a shard of calls that a worker makes. It returns the
// context for these calls. A worker has no span of its own, because a span is
// visible only after it has ended.
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

// start starts a span. If spans are not exported, the span is discarded.
func (t *Telemetry) start(ctx context.Context, name string, about ...attribute.KeyValue) (context.Context, trace.Span) {
	if t == nil || t.tracer == nil {
		return ctx, trace.SpanFromContext(context.Background())
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithAttributes(about...))
	t.count(span)
	return ctx, span
}

// count counts a span that is to be exported.
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
