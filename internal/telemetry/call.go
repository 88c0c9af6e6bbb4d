package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// providerNames maps providers to the names that the conventions give them.
// Every other provider keeps its name in the provider table.
var providerNames = map[string]string{
	"google": "gcp.gemini", "azure": "azure.ai.openai", "mistral": "mistral_ai", "xai": "x_ai", "openai-moderation": "openai",
}

// Server is the server that answers calls.
type Server struct {
	// Ref holds the provider's name.
	model.Ref
	// Endpoint is the zero value for a model in this process.
	Endpoint provider.Endpoint
	// Role returns what a request is for, such as "target" or "judge", and ""
	// if that is not known. A nil Role means that it is known for no request.
	Role func(model.Request) string
}

// Model wraps m so that every call gets a span and metrics. It returns m itself
// if telemetry is off.
func (t *Telemetry) Model(m model.Model, at Server) model.Model {
	if t == nil || m == nil {
		return m
	}
	name := providerNames[at.Provider]
	if name == "" {
		name = at.Provider
	}
	c := &caller{Telemetry: t, next: m, role: at.Role, operation: "chat", kind: trace.SpanKindInternal}
	switch dialect := at.Endpoint.Provider.Dialect; {
	case dialect == provider.Google:
		c.operation = "generate_content"
	case dialect.Classifies():
		c.operation = "classify"
	}
	c.fixed = []attribute.KeyValue{attribute.String("gen_ai.operation.name", c.operation), attribute.String("gen_ai.provider.name", name)}
	if u, err := url.Parse(at.Endpoint.BaseURL); err == nil && u.Hostname() != "" {
		c.kind = trace.SpanKindClient
		c.fixed = append(c.fixed, attribute.String("server.address", u.Hostname()), attribute.Int("server.port", port(u)))
	}
	return c
}

// port returns the port of an http or https address.
func port(u *url.URL) int {
	if n, err := strconv.Atoi(u.Port()); err == nil {
		return n
	}
	if u.Scheme == "http" {
		return 80
	}
	return 443
}

// caller is a model whose calls are reported.
type caller struct {
	*Telemetry
	next      model.Model
	role      func(model.Request) string
	operation string
	kind      trace.SpanKind
	// fixed holds the attributes that every call has.
	fixed []attribute.KeyValue
}

// Ask implements model.Model.
func (c *caller) Ask(ctx context.Context, r model.Request) (model.Response, error) {
	if c.tracer == nil {
		return c.measured(ctx, r)
	}
	ctx, span := c.tracer.Start(ctx, c.operation+" "+r.Model, trace.WithSpanKind(c.kind), trace.WithAttributes(c.requested(ctx, r)...))
	c.count(span)
	response, err := c.measured(ctx, r)
	if err == nil {
		c.evaluations.answered(response, span.SpanContext())
	}
	if span.IsRecording() {
		span.SetAttributes(c.answered(r, response, err)...)
		if err != nil {
			// The provider's message is left out: it may repeat the prompt.
			span.SetStatus(codes.Error, errorType(err))
		}
	}
	span.End()
	return response, err
}

// requested returns the attributes of a request.
func (c *caller) requested(ctx context.Context, r model.Request) []attribute.KeyValue {
	all := append(make([]attribute.KeyValue, 0, len(c.fixed)+8), c.fixed...)
	all = append(all, attribute.String("gen_ai.request.model", r.Model))
	if n := r.Params.MaxTokens; n > 0 {
		all = append(all, attribute.Int("gen_ai.request.max_tokens", n))
	}
	if x := r.Params.Temperature; x != nil {
		all = append(all, attribute.Float64("gen_ai.request.temperature", *x))
	}
	if n := r.Params.Seed; n != nil {
		all = append(all, attribute.Int64("gen_ai.request.seed", *n))
	}
	if len(r.Params.Schema) > 0 {
		all = append(all, attribute.String("gen_ai.output.type", "json"))
	}
	if c.role != nil {
		if role := c.role(r); role != "" {
			all = append(all, attribute.String("orbench.role", role))
		}
	}
	return append(all, attribute.Int("orbench.attempt", model.Attempt(ctx)))
}

// answered returns the attributes of a call's outcome.
func (c *caller) answered(r model.Request, a model.Response, err error) (all []attribute.KeyValue) {
	if c.text {
		all = append(all, attribute.String("gen_ai.input.messages", c.Clean(messages(r.Messages))))
	}
	if err != nil {
		all = append(all, attribute.String("error.type", errorType(err)))
		var failed *model.Error
		if errors.As(err, &failed) && failed.Status != 0 {
			all = append(all, attribute.Int("http.response.status_code", failed.Status))
		}
		return all
	}
	all = append(all,
		attribute.StringSlice("gen_ai.response.finish_reasons", []string{finishReason(a.Finish)}),
		attribute.Bool("orbench.blocked", a.Finish == model.Blocked),
	)
	if a.Block != nil {
		all = append(all, attribute.String("orbench.block.kind", string(a.Block.Kind)))
	}
	if a.Model != "" {
		all = append(all, attribute.String("gen_ai.response.model", c.name(a.Model)))
	}
	if a.ID != "" {
		all = append(all, attribute.String("gen_ai.response.id", c.name(a.ID)))
	}
	if u := a.Usage.Bounded(); u != (model.Usage{}) {
		all = append(all, attribute.Int("gen_ai.usage.input_tokens", u.Input), attribute.Int("gen_ai.usage.output_tokens", u.Output))
		if u.Cached > 0 {
			all = append(all, attribute.Int("gen_ai.usage.cache_read.input_tokens", u.Cached))
		}
		if u.Reasoning > 0 {
			all = append(all, attribute.Int("gen_ai.usage.reasoning.output_tokens", u.Reasoning))
		}
	}
	if c.text {
		all = append(all, attribute.String("gen_ai.output.messages", c.Clean(answer(a))))
	}
	return all
}

// name makes a name from a server safe to use as an attribute.
func (t *Telemetry) name(s string) string {
	const most = 200
	return t.Clean(untrusted.Excerpt(s, most))
}

// errorType returns the kind of error that failed one call or ended several.
func errorType(err error) string {
	var failed *model.Error
	var spent *fill.BudgetError
	switch {
	case errors.As(err, &spent):
		return "budget"
	case errors.As(err, &failed):
		return string(failed.Kind)
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		return string(model.Timeout)
	}
	return "_OTHER"
}

// finishReason returns the conventions' name for how an answer ended.
func finishReason(f model.Finish) string {
	if f == model.Blocked {
		return "content_filter"
	}
	return string(f)
}

// A message is an element of gen_ai.input.messages or gen_ai.output.messages,
// as the JSON schemas of the conventions define it.
type message struct {
	Role   string `json:"role"`
	Parts  []part `json:"parts"`
	Finish string `json:"finish_reason,omitempty"`
}

type part struct {
	Type    string `json:"type"`
	Content string `json:"content"`
}

// messages returns a request's messages as JSON.
func messages(all []orbench.Message) string {
	list := make([]message, len(all))
	for i, m := range all {
		list[i] = message{Role: string(m.Role), Parts: []part{{"text", m.Content}}}
	}
	return asJSON(list)
}

// answer returns a model's answer as JSON.
func answer(a model.Response) string {
	m := message{Role: "assistant", Finish: finishReason(a.Finish)}
	if a.Thinking != "" {
		m.Parts = append(m.Parts, part{"reasoning", a.Thinking})
	}
	m.Parts = append(m.Parts, part{"text", a.Text})
	return asJSON([]message{m})
}

func asJSON(list []message) string {
	b, err := json.Marshal(list)
	if err != nil {
		panic("telemetry: texts that are no JSON: " + err.Error()) // there are none
	}
	return string(b)
}

// measured makes a call and records its metrics. A server may name another
// model in every answer; the SDK limits how many it tells apart.
func (c *caller) measured(ctx context.Context, r model.Request) (model.Response, error) {
	if c.instruments == nil {
		return c.next.Ask(ctx, r)
	}
	c.active.Add(1)
	start := time.Now()
	response, err := c.next.Ask(ctx, r)
	took := time.Since(start)
	c.active.Add(-1)
	// Metrics are recorded even when the command has been canceled.
	ctx = context.WithoutCancel(ctx)
	about := append([]attribute.KeyValue{attribute.String("gen_ai.request.model", r.Model)}, c.fixed...)
	if err != nil {
		c.duration.Record(ctx, took.Seconds(), metric.WithAttributes(append(about, attribute.String("error.type", errorType(err)))...))
		return response, err
	}
	if response.Model != "" {
		about = append(about, attribute.String("gen_ai.response.model", c.name(response.Model)))
	}
	c.duration.Record(ctx, took.Seconds(), metric.WithAttributes(about...))
	if u := response.Usage.Bounded(); u != (model.Usage{}) {
		for kind, n := range map[string]int{"input": u.Input, "output": u.Output} {
			c.tokens.Record(ctx, int64(n), metric.WithAttributes(append(about, attribute.String("gen_ai.token.type", kind))...))
		}
	}
	return response, nil
}
