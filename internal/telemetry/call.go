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

// providerNames are the names that the conventions have for providers. Any other has the one
// of the provider table.
var providerNames = map[string]string{
	"google": "gcp.gemini", "azure": "azure.ai.openai", "mistral": "mistral_ai", "xai": "x_ai", "openai-moderation": "openai",
}

// Server is who answers calls.
type Server struct {
	// Ref has the provider's name.
	model.Ref
	// Endpoint is the zero one for what is in this process.
	Endpoint provider.Endpoint
	// Role says what a request is for, such as "target" or "judge", empty where that is not
	// known; nil knows it of none.
	Role func(model.Request) string
}

// Model is m with a span and figures for every call; m itself where nobody is told.
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

// port is that of an address of http or https.
func port(u *url.URL) int {
	if n, err := strconv.Atoi(u.Port()); err == nil {
		return n
	}
	if u.Scheme == "http" {
		return 80
	}
	return 443
}

// caller is a model of which calls are told.
type caller struct {
	*Telemetry
	next      model.Model
	role      func(model.Request) string
	operation string
	kind      trace.SpanKind
	// fixed are the attributes of every call.
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
	if span.IsRecording() {
		span.SetAttributes(c.answered(r, response, err)...)
		if err != nil {
			// The provider's message may repeat what it was asked.
			span.SetStatus(codes.Error, errorType(err))
		}
	}
	span.End()
	return response, err
}

// requested are the attributes of a request.
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

// answered are the attributes of what came of a call.
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

// name makes a name that a server gave fit to be an attribute.
func (t *Telemetry) name(s string) string {
	const most = 200
	return t.Clean(untrusted.Excerpt(s, most))
}

// errorType is the kind of an error of a call, or of what ended several.
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

// finishReason is the conventions' word.
func finishReason(f model.Finish) string {
	if f == model.Blocked {
		return "content_filter"
	}
	return string(f)
}

// A message is one of gen_ai.input.messages and gen_ai.output.messages, by the JSON schemas
// of the conventions.
type message struct {
	Role   string `json:"role"`
	Parts  []part `json:"parts"`
	Finish string `json:"finish_reason,omitempty"`
}

type part struct {
	Type    string `json:"type"`
	Content string `json:"content"`
}

// messages are those of a request, as JSON.
func messages(all []orbench.Message) string {
	list := make([]message, len(all))
	for i, m := range all {
		list[i] = message{Role: string(m.Role), Parts: []part{{"text", m.Content}}}
	}
	return asJSON(list)
}

// answer is what a model said, as JSON.
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

// measured makes a call, and notes its figures. A server may name another model in each of
// its answers: the SDK bounds how many of them it tells apart.
func (c *caller) measured(ctx context.Context, r model.Request) (model.Response, error) {
	if c.instruments == nil {
		return c.next.Ask(ctx, r)
	}
	c.active.Add(1)
	start := time.Now()
	response, err := c.next.Ask(ctx, r)
	took := time.Since(start)
	c.active.Add(-1)
	// What ends a command ends no figure.
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
