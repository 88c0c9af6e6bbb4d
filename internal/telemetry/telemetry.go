package telemetry

import (
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
	// scopeName names who makes the spans and metrics.
	scopeName = "github.com/orbench/orbench"
	// schemaURL is that of the conventions.
	schemaURL = "https://opentelemetry.io/schemas/1.41.0"
	// flushTime bounds how long the end of a command waits for a collector.
	flushTime = 2 * time.Second
)

// Options says what is told, and to whom.
type Options struct {
	// Getenv reads the environment. What the SDK itself reads, such as headers, samplers and
	// the sizes of batches, is of the process.
	Getenv func(string) string
	// Version is that of the program.
	Version string
	// Clean takes secrets out of a text; nil takes nothing out.
	Clean func(string) string
	// Log is told what goes wrong, once.
	Log *slog.Logger
	// Page has the metrics for Serve, whether there is a collector or not.
	Page bool
}

// Telemetry tells how calls go. It is safe for concurrent use; nil tells nobody.
type Telemetry struct {
	Options
	// text is true where spans have what models are asked and answer.
	text bool

	// spans and tracer are nil where spans go nowhere.
	spans  signal
	tracer trace.Tracer
	sender *countingExporter
	// ended counts the spans that were to be sent.
	ended atomic.Int64

	// metrics is nil where figures go nowhere, and so are the instruments.
	metrics signal
	*instruments
	page http.Handler

	tell sync.Once
}

// signal is what is asked of the SDK's provider of spans or of metrics. Their own types would
// have every package that has a Telemetry compile the SDK's generic code again.
type signal interface {
	Shutdown(ctx context.Context) error
}

// New makes a Telemetry, nil where the environment names no collector, and there is to be no
// page. What is wrong in the environment is told, and no reason for a command not to run.
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
	env := func(name string) string { return strings.ToLower(strings.TrimSpace(getenv(name))) }
	return env("OTEL_SDK_DISABLED") != "true" && env("OTEL_"+signal+"_EXPORTER") != "none" &&
		(env("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || env("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != "")
}

// checkProtocol tells of a protocol that is asked for and not spoken.
func (t *Telemetry) checkProtocol(signal string) {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_" + signal + "_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		switch protocol := strings.TrimSpace(t.Getenv(name)); protocol {
		case "":
			continue
		case "http/protobuf":
		default:
			t.wrong(fmt.Errorf("%s: %q is not spoken, but http/protobuf, which collectors take on port 4318", name, protocol))
		}
		return
	}
}

// resource is who tells: the service orbench, unless the environment names another.
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
	t.wrong(err) // what could be read is there
	return r
}

// wantsText reads whether spans are to have what models are asked and answer. The values are
// those that OpenTelemetry's own instrumentations take; events are not made here.
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

// newPage makes the page, which shows the process as well, and its reader.
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

// wrong tells of something that is not as it should be.
func (t *Telemetry) wrong(err error) {
	if err != nil {
		t.Log.Warn("telemetry is not set up as the environment says", "error", t.Clean(err.Error()))
	}
}

// failed is told the errors of the SDK and of sending, and tells the first.
func (t *Telemetry) failed(err error) {
	t.tell.Do(func() {
		t.Log.Warn("telemetry is not delivered, and the work goes on without it", "error", t.Clean(err.Error()))
	})
}

// countingExporter counts the spans that a collector took.
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

// Close sends what is left, for two seconds at most, and tells how many spans were dropped.
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
