package google

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"google.golang.org/genai"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/model/wire"
)

// Config says where a Client sends its calls.
type Config struct {
	// Provider names the provider in errors.
	Provider string
	// BaseURL is the API's root, such as
	// "https://generativelanguage.googleapis.com"; a version at its end is used
	// in place of the SDK's own, "v1beta".
	BaseURL string
	// Key is the secret of the account. Empty sends "none", for proxies that add
	// the key themselves.
	Key string
	// Headers are sent with each call, besides those that the format needs.
	Headers map[string]string
	// HTTPClient makes the calls; nil stands for one tuned as wire.Client says.
	HTTPClient *http.Client
}

// Client is a model.Model that asks Gemini. It is safe for concurrent use.
type Client struct {
	cfg    Config
	models *genai.Models
}

// noKey is sent where there is no key. The SDK would take an empty key for leave
// to send one from the environment, to whatever server was configured.
const noKey = "none"

// New makes a Client. It opens no connection; the error is the SDK's view of the
// configuration.
func New(cfg Config) (*Client, error) {
	base := strings.TrimRight(cfg.BaseURL, "/")
	version := ""
	for _, v := range []string{"v1beta", "v1"} {
		if root, ok := strings.CutSuffix(base, "/"+v); ok {
			base, version = root, v
			break
		}
	}
	key := cfg.Key
	if key == "" {
		key = noKey
	}
	headers := http.Header{}
	for name, value := range cfg.Headers {
		headers.Set(name, value)
	}
	c, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		Backend:     genai.BackendGeminiAPI,
		APIKey:      key,
		HTTPClient:  wire.Client(cfg.HTTPClient),
		HTTPOptions: genai.HTTPOptions{BaseURL: base, APIVersion: version, Headers: headers},
	})
	if err != nil {
		return nil, fmt.Errorf("setting up the client of %s: %w", cfg.Provider, wire.Redact(err, cfg.Key))
	}
	return &Client{cfg: cfg, models: c.Models}, nil
}

// Ask sends one request for content and reads the reply.
func (c *Client) Ask(ctx context.Context, r model.Request) (model.Response, error) {
	contents, config, err := encode(r)
	if err != nil {
		return model.Response{}, &model.Error{Kind: model.Invalid, Provider: c.cfg.Provider, Model: r.Model, Err: err}
	}
	ctx, seen := wire.WithReply(ctx)
	reply, err := c.generate(ctx, r.Model, contents, config)
	var resp model.Response
	if err == nil {
		resp, err = decode(reply)
	}
	if err != nil {
		return model.Response{}, c.failed(r, seen, err)
	}
	return resp, nil
}

// generate calls the SDK. The SDK panics on replies whose fields have other
// types than it expects; for us that is a reply that cannot be read.
func (c *Client) generate(ctx context.Context, name string, contents []*genai.Content, config *genai.GenerateContentConfig) (reply *genai.GenerateContentResponse, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the reply cannot be read: %v", p)
		}
	}()
	return c.models.GenerateContent(ctx, name, contents, config)
}

// adjustable are the harm categories with a filter that a caller can set.
var adjustable = []genai.HarmCategory{
	genai.HarmCategoryHarassment, genai.HarmCategoryHateSpeech,
	genai.HarmCategorySexuallyExplicit, genai.HarmCategoryDangerousContent,
}

// encode turns a request into the SDK's parameters.
func encode(r model.Request) ([]*genai.Content, *genai.GenerateContentConfig, error) {
	config := &genai.GenerateContentConfig{
		// The SDK would go on asking, and paying, for a reply that was cut.
		AutomaticContinuation: genai.Ptr(false),
	}
	for _, category := range adjustable {
		config.SafetySettings = append(config.SafetySettings, &genai.SafetySetting{
			Category: category, Threshold: genai.HarmBlockThresholdBlockNone,
		})
	}
	if t := r.Params.Temperature; t != nil {
		config.Temperature = genai.Ptr(float32(*t))
	}
	if r.Params.MaxTokens > math.MaxInt32 {
		return nil, nil, fmt.Errorf("the token limit %d is past what this API can take", r.Params.MaxTokens)
	}
	config.MaxOutputTokens = int32(r.Params.MaxTokens)
	if s := r.Params.Seed; s != nil {
		if int64(int32(*s)) != *s {
			return nil, nil, fmt.Errorf("the seed %d is past the 32 bits that this API takes", *s)
		}
		config.Seed = genai.Ptr(int32(*s))
	}
	if r.Params.Schema != nil {
		if err := json.Unmarshal(r.Params.Schema, &config.ResponseJsonSchema); err != nil {
			return nil, nil, fmt.Errorf("the output schema is not JSON: %w", err)
		}
		config.ResponseMIMEType = "application/json"
	}
	var contents []*genai.Content
	for _, m := range r.Messages {
		part := &genai.Part{Text: m.Content}
		switch m.Role {
		case orbench.System:
			if config.SystemInstruction == nil {
				config.SystemInstruction = &genai.Content{}
			}
			config.SystemInstruction.Parts = append(config.SystemInstruction.Parts, part)
		case orbench.Assistant:
			contents = append(contents, &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{part}})
		default:
			contents = append(contents, &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{part}})
		}
	}
	return contents, config, nil
}

// errNoReply is a reply with status 200 that says nothing at all. A real one
// without candidates names at least the model, the usage or a number.
var errNoReply = errors.New("the reply holds neither a candidate nor a reason for having none")

// decode reads a reply.
func decode(g *genai.GenerateContentResponse) (model.Response, error) {
	if g == nil {
		return model.Response{}, errNoReply
	}
	resp := model.Response{Model: g.ModelVersion, ID: g.ResponseID}
	if u := g.UsageMetadata; u != nil {
		resp.Usage = model.Usage{
			Input:  int(max(u.PromptTokenCount, 0)),
			Cached: int(max(u.CachedContentTokenCount, 0)),
			// The API counts thoughts apart from the answer, and bills both as output.
			Output:    int(max(u.CandidatesTokenCount, 0)) + int(max(u.ThoughtsTokenCount, 0)),
			Reasoning: int(max(u.ThoughtsTokenCount, 0)),
		}
	}
	block := func(kind model.BlockKind, detail string) {
		resp.Finish, resp.Block = model.Blocked, &model.Block{Kind: kind, Detail: detail}
	}
	if f := g.PromptFeedback; f != nil && f.BlockReason != "" && len(g.Candidates) == 0 {
		block(model.PromptFilter, string(f.BlockReason))
		resp.Text = f.BlockReasonMessage
		return resp, nil
	}
	if len(g.Candidates) == 0 || g.Candidates[0] == nil {
		if g.UsageMetadata == nil && g.ModelVersion == "" && g.ResponseID == "" && g.PromptFeedback == nil {
			return model.Response{}, errNoReply
		}
		block(model.NoCandidate, "no candidates")
		return resp, nil
	}
	c := g.Candidates[0]
	if c.Content == nil && c.FinishReason == "" {
		return model.Response{}, errNoReply
	}
	resp.Text, resp.Thinking = texts(c.Content)
	switch c.FinishReason {
	case genai.FinishReasonStop:
		resp.Finish = model.Stop
	case genai.FinishReasonMaxTokens, genai.FinishReasonContinuation:
		resp.Finish = model.Length
	case genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonBlocklist,
		genai.FinishReasonProhibitedContent, genai.FinishReasonSPII, genai.FinishReasonImageSafety,
		genai.FinishReasonImageProhibitedContent, genai.FinishReasonImageRecitation:
		block(model.OutputFilter, string(c.FinishReason))
	default:
		resp.Finish = model.OtherFinish
	}
	return resp, nil
}

// texts parts a candidate's text from its thoughts.
func texts(content *genai.Content) (answer, thinking string) {
	if content == nil {
		return "", ""
	}
	var a, t strings.Builder
	for _, part := range content.Parts {
		switch {
		case part == nil:
		case part.Thought:
			t.WriteString(part.Text)
		default:
			a.WriteString(part.Text)
		}
	}
	answer, thought := model.CutThinking(a.String())
	return answer, strings.TrimSpace(t.String() + "\n" + thought)
}

// failed turns the error of a call that did not end in a reply into what Ask
// returns.
func (c *Client) failed(r model.Request, seen *wire.Reply, err error) error {
	if seen.Status < 400 || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return wire.Failure(c.cfg.Provider, r.Model, err, c.cfg.Key)
	}
	e := &model.Error{Kind: model.KindOfStatus(seen.Status), Provider: c.cfg.Provider, Model: r.Model, Status: seen.Status}
	var wait time.Duration
	if fault, ok := errors.AsType[genai.APIError](err); ok {
		e.Message = model.Clip(fault.Message, c.cfg.Key)
		e.Kind, wait = read(e.Kind, fault)
	} else {
		e.Message = model.Clip(err.Error(), c.cfg.Key)
	}
	if e.Retryable() {
		e.RetryAfter = max(wait, wire.RetryAfter(seen.Header, time.Now()))
	}
	return e
}

// read refines the kind of a fault, and finds the wait that it asks for, by the
// details that come with it (google.rpc.ErrorInfo, QuotaFailure and RetryInfo,
// https://cloud.google.com/apis/design/errors).
func read(kind model.Kind, fault genai.APIError) (model.Kind, time.Duration) {
	var wait time.Duration
	if fault.Status == "FAILED_PRECONDITION" && kind == model.Invalid {
		kind = model.Denied // no billing, or not offered in the user's country
	}
	for _, detail := range fault.Details {
		if detail["reason"] == "API_KEY_INVALID" {
			kind = model.Denied // comes with status 400
		}
		if text, ok := detail["retryDelay"].(string); ok {
			if d, err := time.ParseDuration(text); err == nil {
				wait = min(max(wait, d, 0), 24*time.Hour)
			}
		}
		violations, _ := detail["violations"].([]any)
		for _, v := range violations {
			violation, _ := v.(map[string]any)
			// A day's allowance does not come back within a run.
			if id, _ := violation["quotaId"].(string); strings.Contains(id, "PerDay") {
				kind = model.Quota
			}
		}
	}
	return kind, wait
}
