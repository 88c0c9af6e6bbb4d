package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/model/wire"
)

// Config says where a Client sends its calls.
type Config struct {
	// Provider names the provider in errors.
	Provider string
	// BaseURL is the API's root, such as "https://api.anthropic.com"; a "/v1" at
	// its end is left out, since the SDK adds it.
	BaseURL string
	// Key is the secret of the account; empty sends none.
	Key string
	// Headers are sent with each call, besides those that the format needs.
	Headers map[string]string
	// HTTPClient makes the calls; nil stands for one tuned as wire.Client says.
	HTTPClient *http.Client
}

// DefaultMaxTokens bounds the output of a request that sets no bound, since
// this API demands one. Every model takes it.
const DefaultMaxTokens = 4096

// Client is a model.Model that asks Anthropic. It is safe for concurrent use.
type Client struct {
	cfg      Config
	messages sdk.MessageService
}

// New makes a Client. It opens no connection.
func New(cfg Config) *Client {
	options := []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(strings.TrimRight(cfg.BaseURL, "/"), "/v1")),
		option.WithHTTPClient(wire.Client(cfg.HTTPClient)),
		option.WithMaxRetries(0),
		// With a bound of its own the SDK does not guess one from MaxTokens and
		// refuse long answers; the context's deadline is what counts.
		option.WithRequestTimeout(24 * time.Hour),
	}
	if cfg.Key != "" {
		options = append(options, option.WithAPIKey(cfg.Key))
	}
	for name, value := range cfg.Headers {
		options = append(options, option.WithHeader(name, value))
	}
	// sdk.NewClient would look for keys and addresses in the environment.
	return &Client{cfg: cfg, messages: sdk.NewMessageService(options...)}
}

// Ask sends one message and reads the reply.
func (c *Client) Ask(ctx context.Context, r model.Request) (model.Response, error) {
	params, err := encode(r)
	if err != nil {
		return model.Response{}, &model.Error{Kind: model.Invalid, Provider: c.cfg.Provider, Model: r.Model, Err: err}
	}
	ctx, seen := wire.WithReply(ctx)
	m, err := c.messages.New(ctx, params)
	var resp model.Response
	if err == nil {
		resp, err = decode(m)
	}
	if err != nil {
		return c.failed(r, seen, err)
	}
	return resp, nil
}

// encode turns a request into the SDK's parameters.
func encode(r model.Request) (sdk.MessageNewParams, error) {
	p := sdk.MessageNewParams{Model: r.Model, MaxTokens: DefaultMaxTokens}
	if r.Params.MaxTokens > 0 {
		p.MaxTokens = int64(r.Params.MaxTokens)
	}
	if r.Params.Temperature != nil {
		p.Temperature = sdk.Float(*r.Params.Temperature)
	}
	if r.Params.Schema != nil {
		if err := json.Unmarshal(r.Params.Schema, &p.OutputConfig.Format.Schema); err != nil {
			return p, fmt.Errorf("the output schema is no JSON object: %w", err)
		}
	}
	for _, m := range r.Messages {
		switch m.Role {
		case orbench.System:
			p.System = append(p.System, sdk.TextBlockParam{Text: m.Content})
		case orbench.Assistant:
			p.Messages = append(p.Messages, sdk.NewAssistantMessage(sdk.NewTextBlock(m.Content)))
		default:
			p.Messages = append(p.Messages, sdk.NewUserMessage(sdk.NewTextBlock(m.Content)))
		}
	}
	return p, nil
}

// errNoMessage is a reply with status 200 that is no message. The SDK reads such
// replies as messages without content, which would pass for empty answers.
var errNoMessage = errors.New("the reply is no message with content")

// decode reads a message.
func decode(m *sdk.Message) (model.Response, error) {
	if m == nil || !m.JSON.Content.Valid() {
		return model.Response{}, errNoMessage
	}
	var text, thinking strings.Builder
	for _, block := range m.Content {
		switch block.Type {
		case "text":
			text.WriteString(block.Text)
		case "thinking":
			thinking.WriteString(block.Thinking)
		case "":
			return model.Response{}, errNoMessage
		}
	}
	u := m.Usage
	resp := model.Response{
		Text: text.String(), Thinking: thinking.String(), Model: m.Model, ID: m.ID,
		Usage: model.Usage{
			// The API counts the cached part of the input separately.
			Input:     int(max(u.InputTokens, 0) + max(u.CacheReadInputTokens, 0) + max(u.CacheCreationInputTokens, 0)),
			Cached:    int(max(u.CacheReadInputTokens, 0)),
			Output:    int(max(u.OutputTokens, 0)),
			Reasoning: int(max(u.OutputTokensDetails.ThinkingTokens, 0)),
		},
	}
	switch m.StopReason {
	case sdk.StopReasonEndTurn, sdk.StopReasonStopSequence:
		resp.Finish = model.Stop
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		resp.Finish = model.Length
	case sdk.StopReasonRefusal:
		resp.Finish, resp.Block = model.Blocked, &model.Block{Kind: model.RefusalField, Detail: "refusal"}
		if category := m.StopDetails.Category; category != "" {
			resp.Block.Detail += ": " + string(category)
		}
		if resp.Text == "" {
			resp.Text = m.StopDetails.Explanation
		}
	default:
		resp.Finish = model.OtherFinish
	}
	answer, thought := model.CutThinking(resp.Text)
	resp.Text, resp.Thinking = answer, strings.TrimSpace(resp.Thinking+"\n"+thought)
	return resp, nil
}

// failed gives the meaning of a call that did not end in a message: a block, or
// an error.
func (c *Client) failed(r model.Request, seen *wire.Reply, err error) (model.Response, error) {
	if seen.Status < 400 || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return model.Response{}, wire.Failure(c.cfg.Provider, r.Model, err, c.cfg.Key)
	}
	text := err.Error()
	if fault, ok := errors.AsType[*sdk.Error](err); ok {
		text = message(fault.RawJSON())
	}
	e := &model.Error{
		Kind: model.KindOfStatus(seen.Status), Provider: c.cfg.Provider, Model: r.Model,
		Status: seen.Status, Message: model.Clip(text, c.cfg.Key),
	}
	// Both of these come as status 400 and type invalid_request_error, so that
	// the text alone tells them from a wrong request.
	lower := strings.ToLower(text)
	switch {
	case e.Kind != model.Invalid:
	case strings.Contains(lower, "blocked by content filtering policy"):
		return model.Response{
			Text: e.Message, Finish: model.Blocked,
			Block: &model.Block{Kind: model.OutputFilter, Detail: "content_filtering_policy"},
		}, nil
	case strings.Contains(lower, "credit balance is too low"):
		e.Kind = model.Quota
	}
	if e.Retryable() {
		e.RetryAfter = wire.RetryAfter(seen.Header, time.Now())
	}
	return model.Response{}, e
}

// message is the text of an error body, or the body where it has another shape.
func message(body string) string {
	var fault struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(body), &fault) == nil && fault.Error.Message != "" {
		return fault.Error.Message
	}
	return body
}
