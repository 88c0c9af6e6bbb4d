package telemetry

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	promexporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

const (
	// scopeName names the instrumentation that makes the spans and metrics.
	scopeName = "github.com/orbench/orbench"
	// schemaURL is the schema of the conventions.
	schemaURL = "https://opentelemetry.io/schemas/1.41.0"
	// flushTime is the longest time that a command waits for a collector when
	// it ends.
	flushTime = 2 * time.Second
)

// Options sets what is reported, and where.
type Options struct {
	// Getenv reads the environment. The SDK reads its own settings (headers,
	// samplers, batch sizes) from the environment of the process.
	Getenv func(string) string
	// Version is the version of the program.
	Version string
	// Clean removes secrets from a text; nil removes nothing.
	Clean func(string) string
	// Log receives the first error.
	Log *slog.Logger
	// Page makes the metrics available to Serve, with or without a collector.
	Page bool
}

// Telemetry reports how calls go. It is safe for concurrent use. A nil
// Telemetry reports nothing.
type Telemetry struct {
	Options
	// text is true if spans include the texts of prompts and answers.
	text bool

	// spans and tracer are nil if spans are not exported.
	spans  signal
	tracer trace.Tracer
	sender *countingExporter
	// ended counts the spans that were to be exported.
	ended atomic.Int64

	// evaluations is nil if events are not exported.
	evaluations *evaluations

	// metrics and instruments are nil if metrics are not exported.
	metrics signal
	*instruments
	page http.Handler

	tell sync.Once
}

// signal has the methods used of the SDK's provider of spans or of metrics.
// With the SDK's own types, every package that holds a Telemetry would compile
// the SDK's generic code again.
type signal interface {
	Shutdown(ctx context.Context) error
}

// New makes a Telemetry. It returns nil if the environment names no collector
// and no page is wanted. Wrong settings in the environment are logged; they do
// not stop a command.
func New(c Options) *Telemetry {
	toSpans, toFigures := sends(c.Getenv, "TRACES"), sends(c.Getenv, "METRICS")
	if !toSpans && !toFigures && !c.Page {
		return nil
	}
	if c.Clean == nil {
		c.Clean = func(s string) string { return s }
	}
	t := &Telemetry{Options: c}
	otel.SetLogger(logr.Discard())
	otel.SetErrorHandler(otel.ErrorHandlerFunc(t.failed))
	ctx := context.Background()
	about := t.resource(ctx)
	if toSpans {
		t.checkProtocol("TRACES")
		sender, err := otlptracehttp.New(ctx)
		t.wrong(err)
		if err == nil {
			t.text = t.wantsText()
			t.sender = &countingExporter{SpanExporter: sender}
			spans := sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithBatcher(t.sender))
			t.spans = spans
			t.tracer = spans.Tracer(scopeName, trace.WithInstrumentationVersion(c.Version), trace.WithSchemaURL(schemaURL))
		}
	}
	if t.spans != nil && sends(c.Getenv, "LOGS") { // events are about spans
		t.checkProtocol("LOGS")
		var err error
		t.evaluations, err = t.newEvaluations(ctx, about)
		t.wrong(err)
	}
	readers := []sdkmetric.Option{sdkmetric.WithResource(about), sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter)}
	if toFigures {
		t.checkProtocol("METRICS")
		sender, err := otlpmetrichttp.New(ctx)
		t.wrong(err)
		if err == nil {
			readers = append(readers, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(sender)))
		}
	}
	if c.Page {
		readers = append(readers, sdkmetric.WithReader(t.newPage()))
	}
	if toFigures || c.Page {
		metrics := sdkmetric.NewMeterProvider(readers...)
		t.metrics = metrics
		t.instruments = newInstruments(metrics.Meter(scopeName, metric.WithInstrumentationVersion(c.Version), metric.WithSchemaURL(schemaURL)))
	}
	return t
}

// sends reports whether the environment names a collector for a signal.
func sends(getenv func(string) string, signal string) bool {
	return collector(getenv, signal) != ""
}

// collector is the address that the environment names for a signal, empty for none.
func collector(getenv func(string) string, signal string) string {
	env := func(name string) string { return strings.TrimSpace(getenv(name)) }
	if strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") || strings.EqualFold(env("OTEL_"+signal+"_EXPORTER"), "none") {
		return ""
	}
	return cmp.Or(env("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT"), env("OTEL_EXPORTER_OTLP_ENDPOINT"))
}

// Collectors lists the addresses to which New has spans, metrics and events sent.
func Collectors(getenv func(string) string) (all []string) {
	for _, signal := range []string{"TRACES", "METRICS", "LOGS"} {
		if address := collector(getenv, signal); address != "" {
			all = append(all, address)
		}
	}
	return all
}

// checkProtocol logs a requested protocol that is not supported.
func (t *Telemetry) checkProtocol(signal string) {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_" + signal + "_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		switch protocol := strings.TrimSpace(t.Getenv(name)); protocol {
		case "":
			continue
		case "http/protobuf":
		default:
			t.wrong(fmt.Errorf("%s: %q is not supported; use http/protobuf, which collectors take on port 4318", name, protocol))
		}
		return
	}
}

// resource describes the reporting program: the service orbench, unless the
// environment sets another name.
func (t *Telemetry) resource(ctx context.Context) *resource.Resource {
	r, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(
			attribute.String("service.name", "orbench"),
			attribute.String("service.version", t.Version),
			attribute.String("service.instance.id", rand.Text()),
		),
		resource.WithFromEnv(),
	)
	t.wrong(err) // the parts that could be read are in it
	return r
}

// wantsText reads whether spans include the texts of prompts and answers. It
// accepts the values of OpenTelemetry's own instrumentations; events are not
// supported.
func (t *Telemetry) wantsText() bool {
	const name = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
	value := strings.ToLower(strings.TrimSpace(t.Getenv(name)))
	switch value {
	case "true", "span_only", "span_and_event":
		return true
	case "", "false", "no_content", "event_only":
		return false
	}
	t.wrong(fmt.Errorf("%s: %q is not known; set true or false", name, value))
	return false
}

// newPage makes the page and its reader. The page also shows metrics of the
// process.
func (t *Telemetry) newPage() sdkmetric.Reader {
	shown := prometheus.NewRegistry()
	shown.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	reader, err := promexporter.New(promexporter.WithRegisterer(shown), promexporter.WithoutScopeInfo())
	if err != nil {
		panic("telemetry: " + err.Error()) // its settings are fixed
	}
	t.page = promhttp.HandlerFor(shown, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
	return reader
}

// wrong logs a problem.
func (t *Telemetry) wrong(err error) {
	if err != nil {
		t.Log.Warn("telemetry cannot be set up as the environment says", "error", t.Clean(err.Error()))
	}
}

// failed receives the errors of the SDK and of exports, and logs the first.
func (t *Telemetry) failed(err error) {
	t.tell.Do(func() {
		t.Log.Warn("telemetry cannot be delivered; the work continues without it", "error", t.Clean(err.Error()))
	})
}

// countingExporter counts the spans that a collector accepted.
type countingExporter struct {
	sdktrace.SpanExporter
	sent atomic.Int64
}

// ExportSpans implements sdktrace.SpanExporter.
func (e *countingExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		e.sent.Add(int64(len(spans)))
	}
	return err
}

// Close exports what is left, for two seconds at most, and logs how many spans
// were dropped.
func (t *Telemetry) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	var both sync.WaitGroup
	var ofSpans, ofMetrics error
	if t.spans != nil {
		both.Go(func() { ofSpans = t.spans.Shutdown(ctx) })
	}
	if t.metrics != nil {
		both.Go(func() { ofMetrics = t.metrics.Shutdown(ctx) })
	}
	both.Wait()
	if e := t.evaluations; e != nil {
		ofSpans = errors.Join(ofSpans, e.sender.Shutdown(ctx))
		if e.sender.dropped > 0 {
			t.Log.Warn("evaluations were dropped", "dropped", e.sender.dropped, "of", e.sender.all)
		}
	}
	if err := errors.Join(ofSpans, ofMetrics); err != nil {
		t.failed(err)
	}
	if t.spans == nil {
		return
	}
	if all, sent := t.ended.Load(), t.sender.sent.Load(); sent < all {
		t.Log.Warn("spans were dropped", "dropped", all-sent, "of", all)
	}
}
