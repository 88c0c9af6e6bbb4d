package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	commonmodel "github.com/prometheus/common/model"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/sqlite"
	"github.com/orbench/orbench/internal/telemetry"
	"github.com/orbench/orbench/internal/telemetry/telemetrytest"
	"github.com/orbench/orbench/model"
)

const secret = "sk-hidden-0123456789abcdef"

// answers is a model: one request is rejected at first, one blocked, one fails.
func answers(ctx context.Context, r model.Request) (model.Response, error) {
	switch text := r.Messages[0].Content; {
	case strings.Contains(text, "busy") && model.Attempt(ctx) == 1:
		return model.Response{}, &model.Error{Kind: model.Transient, Provider: r.Provider, Model: r.Model, Status: 503, Message: "busy with " + text}
	case strings.Contains(text, "wrong"):
		return model.Response{}, &model.Error{Kind: model.Invalid, Provider: r.Provider, Model: r.Model, Status: 400, Message: "what is " + text}
	case strings.Contains(text, "bad"):
		return model.Response{Finish: model.Blocked, Block: &model.Block{Kind: model.PromptFilter}, Model: "m-1"}, nil
	}
	return model.Response{
		Text: "I say it with " + secret, Finish: model.Stop, Model: "m-1\xff", ID: "id-7",
		Usage: model.Usage{Input: 5, Output: 20, Reasoning: 3},
	}, nil
}

// filled fills requests with a Telemetry that the environment configures. It returns the
// counts, what was logged and how long the end took.
func filled(t *testing.T, ask model.Func) (s fill.Stats, log string, took time.Duration) {
	t.Helper()
	var logged bytes.Buffer
	told := telemetry.New(telemetry.Options{
		Getenv: os.Getenv, Version: "1.2.3", Clean: model.NewSecrets(secret).Clean, Log: slog.New(slog.NewTextHandler(&logged, nil)),
	})
	file, err := sqlite.Open(t.Context(), t.TempDir()+"/a.db")
	if err != nil {
		t.Fatal(err)
	}
	m := store.New(file)
	defer func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}()
	prices := price.Of([]price.Price{{Provider: "mistral", Model: "*", Input: 1e6, Output: 1e6, AsOf: "2026-01-01"}}) // a dollar a token
	live := fill.NewLive(m, fill.LiveConfig{Backoff: time.Microsecond, Prices: prices, Budget: fill.Budget{Requests: 100}})
	at := model.Ref{Provider: "mistral", Model: "m"}
	live.Lane(at, told.Model(ask, telemetry.Server{
		Ref: at, Endpoint: provider.Endpoint{BaseURL: "https://models.example/v1"}, Role: func(model.Request) string { return "target" },
	}), fill.Limits{Concurrency: 2, RequestsPerMinute: 60000})
	told.Watch(func() telemetry.Counts { return telemetry.Counts{Stats: live.Stats(), Load: live.Load()} })
	command := told.Command()
	temperature := 0.5
	work := fill.Work{Fixed: func(context.Context) iter.Seq2[model.Request, error] {
		return func(yield func(model.Request, error) bool) {
			for _, text := range []string{"a fine prompt", "a busy prompt", "a bad prompt", "a wrong prompt", "another prompt"} {
				r := model.Request{
					Provider: "mistral", Model: "m", Params: model.Params{MaxTokens: 64, Temperature: &temperature},
					Messages: []orbench.Message{{Role: orbench.User, Content: text}},
				}
				if !yield(r, nil) {
					return
				}
			}
		}
	}}
	if err := live.Fill(command.Within(t.Context()), work); err != nil {
		t.Error(err)
	}
	// What is remembered is no call.
	if err := live.Fill(command.Within(t.Context()), work); err != nil {
		t.Error(err)
	}
	command.End("orbench eval", 1, "failures")
	began := time.Now()
	told.Close()
	return live.Stats(), logged.String(), time.Since(began)
}

// TestTold has a collector told each call, and no text.
func TestTold(t *testing.T) {
	c := telemetrytest.New()
	defer c.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20own-key")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	s, log, _ := filled(t, answers)
	if log != "" {
		t.Errorf("logged: %s", log)
	}
	calls, command := map[string]telemetrytest.Span{}, telemetrytest.Span{}
	for _, span := range c.Spans() {
		if span.Name == "orbench eval" {
			command = span
			continue
		}
		if span.Name != "chat m" || span.Kind != "CLIENT" {
			t.Errorf("a call is %+v", span)
		}
		a := span.Attributes
		calls[a["orbench.attempt"]+" "+a["error.type"]+a["gen_ai.response.finish_reasons"]+" "+a["http.response.status_code"]+span.Status] = span
	}
	if command.Status != "ERROR" || command.Parent != "" || command.Attributes["process.exit.code"] != "1" || command.Attributes["error.type"] != "failures" {
		t.Errorf("the command is %+v", command)
	}
	if n := len(c.Spans()) - 1; n != s.Requests || n != 6 {
		t.Errorf("%d calls are told, %d were made, want 6", n, s.Requests)
	}
	for _, want := range []string{"1 stop UNSET", "2 stop UNSET", "1 content_filter UNSET", "1 transient 503ERROR", "1 invalid 400ERROR"} {
		if span, ok := calls[want]; !ok || span.Parent != command.ID || span.Trace != command.Trace {
			t.Errorf("no call is %q within the command: %v", want, calls)
		}
	}
	for key, want := range map[string]string{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "mistral_ai", "gen_ai.request.model": "m", "gen_ai.request.max_tokens": "64",
		"gen_ai.request.temperature": "0.5", "gen_ai.response.model": "m-1\uFFFD", "gen_ai.response.id": "id-7", "gen_ai.usage.input_tokens": "5",
		"gen_ai.usage.output_tokens": "20", "gen_ai.usage.reasoning.output_tokens": "3", "server.address": "models.example", "server.port": "443",
		"orbench.role": "target", "orbench.blocked": "false", "service.name": "orbench", "service.version": "1.2.3", "deployment.environment.name": "test",
	} {
		if got := calls["2 stop UNSET"].Attributes[key]; got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if got := calls["1 content_filter UNSET"].Attributes; got["orbench.blocked"] != "true" || got["orbench.block.kind"] != "prompt_filter" {
		t.Errorf("the blocked one is %v", got)
	}
	for name, want := range map[string]int{
		"orbench.calls.answered": s.Answered, "orbench.calls.failed": s.Failed, "orbench.calls.blocked": s.Blocked, "orbench.calls.retried": s.Retries,
		"orbench.calls.rejected": s.Rejected, "orbench.tokens": s.Usage.Input + s.Usage.Output, "orbench.cost.usd": int(s.USD),
		"orbench.calls.active": 0, "orbench.budget.left.requests": 100 - s.Requests,
		"gen_ai.client.operation.duration.count": s.Requests, "gen_ai.client.token.usage.sum": s.Usage.Input + s.Usage.Output,
	} {
		if got := c.Metric(name, ""); got != float64(want) {
			t.Errorf("%s is %v, want %d", name, got, want)
		}
	}
	if s.Answered != 4 || s.Failed != 1 || s.Blocked != 1 || s.Rejected != 1 || c.Metric("gen_ai.client.operation.duration.count", "error.type=transient") != 1 ||
		c.Metric("gen_ai.client.operation.duration.bounds", "error.type=invalid") != 14 {
		t.Errorf("%+v, %s", s, c.Lines())
	}
	if c.Metric("orbench.limiter.wait", "") <= 0 {
		t.Error("no call has waited for the rate")
	}
	for _, text := range []string{"prompt\"", "a fine prompt", "busy with", "what is", "I say it", secret, "own-key"} {
		if strings.Contains(c.Received(), text) {
			t.Errorf("%q was sent", text)
		}
	}
	if keys := c.Keys(); len(keys) == 0 || keys[0] != "Bearer own-key" {
		t.Errorf("the header is %q", keys)
	}
}

// TestText has texts told where they are asked for, without secrets.
func TestText(t *testing.T) {
	c := telemetrytest.New()
	defer c.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", c.URL+"/v1/traces")
	t.Setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
	_, log, _ := filled(t, answers)
	var asked, said string
	for _, span := range c.Spans() {
		if strings.Contains(span.Attributes["gen_ai.input.messages"], "fine") {
			asked, said = span.Attributes["gen_ai.input.messages"], span.Attributes["gen_ai.output.messages"]
		}
	}
	if want := `[{"role":"user","parts":[{"type":"text","content":"a fine prompt"}]}]`; asked != want {
		t.Errorf("%s, want %s", asked, want)
	}
	if want := `[{"role":"assistant","parts":[{"type":"text","content":"I say it with [key]"}],"finish_reason":"stop"}]`; said != want {
		t.Errorf("%s, want %s", said, want)
	}
	if log != "" || strings.Contains(c.Received(), secret) || c.Metric("orbench.calls.answered", "") != 0 {
		t.Errorf("logged %q, sent %s", log, c.Lines())
	}
}

// TestUnset has nobody told, and models asked as they are.
func TestUnset(t *testing.T) {
	c := telemetrytest.New()
	defer c.Close()
	for name, env := range map[string]map[string]string{
		"nothing":    {},
		"disabled":   {"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": c.URL},
		"turned off": {"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": c.URL},
	} {
		told := telemetry.New(telemetry.Options{Getenv: func(name string) string { return env[name] }})
		if told != nil {
			t.Errorf("%s: somebody is told", name)
		}
		own := &asIs{}
		if told.Model(own, telemetry.Server{}) != model.Model(own) {
			t.Errorf("%s: the model is another", name)
		}
	}
	if c.Requests() != 0 {
		t.Errorf("%d requests were sent", c.Requests())
	}
}

type asIs struct{ model.Model }

// TestUnreachable has a collector that is not there, one that does not answer and one that
// refuses, which cost two seconds at most, and one line.
func TestUnreachable(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	end := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }))
	defer refusing.Close()
	defer hanging.Close()
	defer close(end)
	for name, tt := range map[string]struct {
		url  string
		most time.Duration
	}{
		"not there": {"http://" + closed.Addr().String(), time.Second},
		"hanging":   {hanging.URL, 3 * time.Second},
		"refusing":  {refusing.URL, time.Second},
	} {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", strings.Replace(tt.url, "//", "//ana:pass-word-9@", 1))
		s, log, took := filled(t, answers)
		if s.Answered != 4 || took > tt.most {
			t.Errorf("%s: %d answered, and %v for the end", name, s.Answered, took)
		}
		if strings.Count(log, "\n") != 2 || !strings.Contains(log, "telemetry cannot be delivered; the work continues without it") ||
			!strings.Contains(log, `msg="spans were dropped" dropped=7 of=7`) || strings.Contains(log, "pass-word-9") {
			t.Errorf("%s: logged\n%s", name, log)
		}
	}
}

// TestPage has the metrics served as Prometheus reads them.
func TestPage(t *testing.T) {
	told := telemetry.New(telemetry.Options{Getenv: func(string) string { return "" }, Page: true})
	defer told.Close()
	var ill error
	page, err := told.Serve("127.0.0.1:0", func(context.Context) error { return ill })
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := page.Close(); err != nil {
			t.Error(err)
		}
	}()
	told.Watch(func() telemetry.Counts {
		return telemetry.Counts{Stats: fill.Stats{Answered: 3, Rejected: 2, USD: 0.25, Unpriced: []string{"p/m"}}, Load: fill.Load{Paced: 1500 * time.Millisecond}, Open: 7}
	})
	asked := told.Model(model.Func(answers), telemetry.Server{Ref: model.Ref{Provider: "p", Model: "m"}})
	for i, text := range []string{"fine", "wrong"} {
		_, err := asked.Ask(t.Context(), model.Request{Provider: "p", Model: "m\"\n", Messages: []orbench.Message{{Content: text}}})
		if (err == nil) != (i == 0) {
			t.Error(err)
		}
	}
	resp, err := http.Get("http://" + page.Address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	parser := expfmt.NewTextParser(commonmodel.UTF8Validation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"orbench_calls_answered_total": 3, "orbench_calls_rejected_total": 2, "orbench_cost_usd_total": 0.25, "orbench_limiter_wait_seconds_total": 1.5,
		"orbench_calls_active": 0, "orbench_calls_waiting": 7, "orbench_models_unpriced": 1,
	} {
		f := families[name]
		if f == nil || len(f.Metric) != 1 || f.Metric[0].GetCounter().GetValue()+f.Metric[0].GetGauge().GetValue() != want {
			t.Errorf("%s is %v, want %v", name, f, want)
		}
	}
	var calls uint64
	for _, m := range families["gen_ai_client_operation_duration_seconds"].GetMetric() {
		calls += m.GetHistogram().GetSampleCount()
	}
	if calls != 2 || families["gen_ai_client_token_usage"] == nil || families["go_goroutines"] == nil {
		t.Errorf("%d calls in %v", calls, families)
	}
	for _, want := range []int{http.StatusOK, http.StatusServiceUnavailable} {
		resp, err := http.Get("http://" + page.Address + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("health is %s, want %d", resp.Status, want)
		}
		ill = errors.New("the database is away")
	}
}
