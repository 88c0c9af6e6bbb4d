package telemetry

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlplog/otlploghttp"
	"go.opentelemetry.io/otel/log"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
)

// mostAnswers is how many spans of answers are remembered for the verdicts on them.
const mostAnswers = 1 << 18

// evaluations sends the verdicts on answers that were made since it started.
type evaluations struct {
	logger  log.Logger
	sender  *eventSender
	started time.Time

	mu sync.Mutex
	// spans are those of the calls that made the answers, by the ID of the response. A
	// server that gives one ID twice gets an invalid one: its calls cannot be told apart.
	spans map[string]trace.SpanContext
}

// newEvaluations makes evaluations. Its sender waits for a collector as long as a command
// waits at its end.
func (t *Telemetry) newEvaluations(ctx context.Context, about *resource.Resource) (*evaluations, error) {
	exporter, err := otlploghttp.New(ctx, otlploghttp.WithTimeout(flushTime), otlploghttp.WithRetry(otlploghttp.RetryConfig{}))
	if err != nil {
		return nil, err
	}
	sender := &eventSender{to: exporter, failed: t.failed}
	events := sdklog.NewLoggerProvider(sdklog.WithResource(about), sdklog.WithProcessor(sender), sdklog.WithAttributeCountLimit(-1))
	return &evaluations{
		logger: events.Logger(scopeName, log.WithInstrumentationVersion(t.Version), log.WithSchemaURL(schemaURL)),
		sender: sender, started: time.Now(), spans: map[string]trace.SpanContext{},
	}, nil
}

// answered remembers the span of the call that made a response.
func (e *evaluations) answered(r model.Response, span trace.SpanContext) {
	if e == nil || r.ID == "" || !span.IsSampled() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, twice := e.spans[r.ID]; twice {
		span = trace.SpanContext{}
	} else if len(e.spans) == mostAnswers {
		return
	}
	e.spans[r.ID] = span
}

// Evaluates reports whether Evaluated sends anything.
func (t *Telemetry) Evaluates() bool { return t != nil && t.evaluations != nil }

// Evaluated sends a judge's verdict on a response as the event gen_ai.evaluation.result of
// the conventions, on the span of the call that made the response. Only responses that were
// made since the Telemetry are told of, so that a run that is shown again says nothing
// twice. The explanation may quote the answer, so it is sent only where texts are.
func (t *Telemetry) Evaluated(ctx context.Context, r model.Response, judge string, v orbench.Verdict) {
	if !t.Evaluates() || r.Made.Before(t.evaluations.started.Truncate(time.Millisecond)) {
		return
	}
	t.evaluations.mu.Lock()
	span := t.evaluations.spans[r.ID]
	t.evaluations.mu.Unlock()
	if span.IsValid() {
		ctx = trace.ContextWithSpanContext(ctx, span)
	}
	about := []attribute.KeyValue{attribute.String("gen_ai.evaluation.name", judge)}
	if v.Class == orbench.Unjudged {
		about = append(about, attribute.String("error.type", "unjudged"))
	} else {
		about = append(about, attribute.String("gen_ai.evaluation.score.label", string(v.Class)), attribute.Float64("gen_ai.evaluation.score.value", v.Score))
	}
	if r.ID != "" {
		about = append(about, attribute.String("gen_ai.response.id", t.name(r.ID)))
	}
	if t.text && v.Rationale != "" {
		about = append(about, attribute.String("gen_ai.evaluation.explanation", t.Clean(v.Rationale)))
	}
	var record log.Record
	record.SetEventName("gen_ai.evaluation.result")
	record.SetTimestamp(time.Now())
	record.SetSeverity(log.SeverityInfo)
	record.AddAttributes(about...)
	t.evaluations.logger.Emit(ctx, record)
}

// eventSender is a processor that sends events many at a time and loses none silently. The
// SDK's own drops events when they come faster than they are sent, as a run's verdicts do.
type eventSender struct {
	to     sdklog.Exporter
	failed func(error)

	mu      sync.Mutex
	waiting []sdklog.Record
	// down is true after a failure: nothing more is sent.
	down         bool
	all, dropped int
}

// eventBatch is how many events are sent together.
const eventBatch = 512

// Enabled implements sdklog.Processor.
func (s *eventSender) Enabled(context.Context, sdklog.EnabledParameters) bool { return true }

// OnEmit implements sdklog.Processor.
func (s *eventSender) OnEmit(ctx context.Context, r *sdklog.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all++
	if s.waiting = append(s.waiting, r.Clone()); len(s.waiting) >= eventBatch {
		s.send(ctx)
	}
	return nil
}

// send sends what is waiting.
func (s *eventSender) send(ctx context.Context) {
	if len(s.waiting) == 0 {
		return
	}
	if !s.down {
		if err := s.to.Export(context.WithoutCancel(ctx), s.waiting); err != nil {
			s.down = true
			s.failed(fmt.Errorf("events: %w (set OTEL_LOGS_EXPORTER=none for a collector that takes no logs)", err))
		}
	}
	if s.down {
		s.dropped += len(s.waiting)
	}
	s.waiting = nil
}

// ForceFlush implements sdklog.Processor.
func (s *eventSender) ForceFlush(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send(ctx)
	return nil
}

// Shutdown implements sdklog.Processor.
func (s *eventSender) Shutdown(ctx context.Context) error {
	return errors.Join(s.ForceFlush(ctx), s.to.Shutdown(ctx))
}
