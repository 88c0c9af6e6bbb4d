package telemetrytest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	logscollector "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	metricscollector "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracecollector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"
)

// Collector is a server that receives spans, metrics and events by OTLP over HTTP and
// keeps them.
type Collector struct {
	*httptest.Server

	mu       sync.Mutex
	requests int
	spans    map[string]Span
	events   []Event
	metrics  map[string]float64
	// received holds all request bodies as they came; keys holds the values of
	// their Authorization headers.
	received []byte
	keys     []string
}

// Span is a received span.
type Span struct {
	Name, Kind, Status string
	ID, Parent, Trace  string
	// Attributes are formatted by fmt. They include those of the span's
	// resource.
	Attributes map[string]string
}

// Event is a received event. Span is that which it is about.
type Event struct {
	Name, Span, Trace string
	Attributes        map[string]string
}

// New starts a collector. The caller closes it. Its Lines are served at /told.
func New() *Collector {
	c := &Collector{spans: map[string]Span{}, metrics: map[string]float64{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", func(w http.ResponseWriter, r *http.Request) {
		var m tracecollector.ExportTraceServiceRequest
		if c.read(w, r, &m) {
			c.addSpans(&m)
		}
	})
	mux.HandleFunc("POST /v1/metrics", func(w http.ResponseWriter, r *http.Request) {
		var m metricscollector.ExportMetricsServiceRequest
		if c.read(w, r, &m) {
			c.addMetrics(&m)
		}
	})
	mux.HandleFunc("POST /v1/logs", func(w http.ResponseWriter, r *http.Request) {
		var m logscollector.ExportLogsServiceRequest
		if c.read(w, r, &m) {
			c.addEvents(&m)
		}
	})
	mux.HandleFunc("GET /told", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.Lines()) })
	c.Server = httptest.NewServer(mux)
	return c
}

// read reads a request, or returns why it is not a valid one.
func (c *Collector) read(w http.ResponseWriter, r *http.Request, m proto.Message) bool {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = proto.Unmarshal(body, m)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	c.received = append(c.received, body...)
	c.keys = append(c.keys, r.Header.Get("Authorization"))
	w.Header().Set("Content-Type", "application/x-protobuf")
	return true
}

func (c *Collector) addSpans(m *tracecollector.ExportTraceServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range m.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				id := fmt.Sprintf("%x", s.SpanId)
				c.spans[id] = Span{
					Name: s.Name, Kind: strings.TrimPrefix(s.Kind.String(), "SPAN_KIND_"), Status: strings.TrimPrefix(s.Status.GetCode().String(), "STATUS_CODE_"),
					ID: id, Parent: fmt.Sprintf("%x", s.ParentSpanId), Trace: fmt.Sprintf("%x", s.TraceId),
					Attributes: attributes(of.Resource.GetAttributes(), s.Attributes),
				}
			}
		}
	}
}

func (c *Collector) addEvents(m *logscollector.ExportLogsServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range m.ResourceLogs {
		for _, scope := range of.ScopeLogs {
			for _, r := range scope.LogRecords {
				c.events = append(c.events, Event{
					Name: r.EventName, Span: fmt.Sprintf("%x", r.SpanId), Trace: fmt.Sprintf("%x", r.TraceId), Attributes: attributes(of.Resource.GetAttributes(), r.Attributes),
				})
			}
		}
	}
}

func (c *Collector) addMetrics(m *metricscollector.ExportMetricsServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	set := func(name string, of []*common.KeyValue, value float64) {
		c.metrics[series(name, attributes(of))] = value
	}
	points := func(name string, all []*metrics.NumberDataPoint) {
		for _, p := range all {
			set(name, p.Attributes, float64(p.GetAsInt())+p.GetAsDouble())
		}
	}
	for _, of := range m.ResourceMetrics {
		for _, scope := range of.ScopeMetrics {
			for _, one := range scope.Metrics {
				points(one.Name, one.GetSum().GetDataPoints())
				points(one.Name, one.GetGauge().GetDataPoints())
				for _, p := range one.GetHistogram().GetDataPoints() {
					set(one.Name+".count", p.Attributes, float64(p.Count))
					set(one.Name+".sum", p.Attributes, p.GetSum())
					set(one.Name+".bounds", p.Attributes, float64(len(p.ExplicitBounds)))
				}
			}
		}
	}
}

// attributes formats attributes by fmt.
func attributes(lists ...[]*common.KeyValue) map[string]string {
	all := map[string]string{}
	for _, list := range lists {
		for _, kv := range list {
			all[kv.Key] = text(kv.Value)
		}
	}
	return all
}

func text(v *common.AnyValue) string {
	switch v := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return v.StringValue
	case *common.AnyValue_BoolValue:
		return fmt.Sprint(v.BoolValue)
	case *common.AnyValue_IntValue:
		return fmt.Sprint(v.IntValue)
	case *common.AnyValue_DoubleValue:
		return fmt.Sprint(v.DoubleValue)
	case *common.AnyValue_ArrayValue:
		var all []string
		for _, one := range v.ArrayValue.Values {
			all = append(all, text(one))
		}
		return strings.Join(all, ",")
	}
	return ""
}

// series names a metric with its attributes, such as
// orbench.tokens{gen_ai.token.type=input}.
func series(name string, of map[string]string) string {
	var all []string
	for key, value := range of {
		all = append(all, key+"="+value)
	}
	slices.Sort(all)
	return name + "{" + strings.Join(all, " ") + "}"
}

// Spans returns the received spans, in no order.
func (c *Collector) Spans() (all []Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		all = append(all, s)
	}
	return all
}

// Metric sums the last values of a metric's series whose attributes contain a
// text.
func (c *Collector) Metric(name, with string) (sum float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for of, value := range c.metrics {
		if strings.HasPrefix(of, name+"{") && strings.Contains(of, with) {
			sum += value
		}
	}
	return sum
}

// Requests returns the number of received requests.
func (c *Collector) Requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests
}

// Received returns everything that was received, as it came.
func (c *Collector) Received() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.received)
}

// Keys returns the Authorization header of each request.
func (c *Collector) Keys() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.keys)
}

// Lines returns the spans, events and metrics as sorted lines of text. Each span
// has the name of its parent, each event that of its span.
func (c *Collector) Lines() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	for _, s := range c.spans {
		lines = append(lines, fmt.Sprintf("span %s in %q %s %s", series(s.Name, s.Attributes), c.spans[s.Parent].Name, s.Kind, s.Status))
	}
	for _, e := range c.events {
		lines = append(lines, fmt.Sprintf("event %s on %q", series(e.Name, e.Attributes), c.spans[e.Span].Name))
	}
	for of, value := range c.metrics {
		lines = append(lines, fmt.Sprintf("metric %s %g", of, value))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}
