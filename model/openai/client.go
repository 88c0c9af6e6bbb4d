package openai

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/model/wire"
)

// Config says where a Client sends its calls and how the server there differs
// from OpenAI's own.
type Config struct {
	// Provider names the provider in errors.
	Provider string
	// BaseURL is the API's root with its version, such as
	// "https://api.openai.com/v1"; "/chat/completions" is added to it.
	BaseURL string
	// Key is the secret of the account; empty sends none.
	Key string
	// AuthHeader is the header that carries the key alone, such as "api-key"
	// for Azure; empty stands for "Authorization: Bearer KEY".
	AuthHeader string
	// MaxTokensField is the name of the field that bounds the output:
	// MaxTokens, the default, or MaxCompletionTokens.
	MaxTokensField string
	// SeedField is the name of the field with the seed: Seed, the default, or
	// RandomSeed.
	SeedField string
	// Headers are sent with each call, besides those that the format needs.
	Headers map[string]string
	// HTTPClient makes the calls; nil stands for one tuned as wire.Client says.
	HTTPClient *http.Client
}

// The names that fields of a request go by on different servers.
const (
	MaxTokens           = "max_tokens"
	MaxCompletionTokens = "max_completion_tokens" // OpenAI's newer models take no other
	Seed                = "seed"
	RandomSeed          = "random_seed" // Mistral
)

// Client is a model.Model that asks one server. It is safe for concurrent use.
type Client struct {
	cfg    Config
	url    string
	header http.Header
	http   *http.Client
	// secrets are the key, which no answer may bring back.
	secrets model.Secrets
}

// New makes a Client. It opens no connection.
func New(cfg Config) *Client {
	h := http.Header{}
	for name, value := range cfg.Headers {
		h.Set(name, value)
	}
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json")
	h.Set("Accept-Encoding", "identity")
	switch {
	case cfg.Key == "":
	case cfg.AuthHeader != "":
		h.Set(cfg.AuthHeader, cfg.Key)
	default:
		h.Set("Authorization", "Bearer "+cfg.Key)
	}
	return &Client{
		cfg:    cfg,
		url:    strings.TrimRight(cfg.BaseURL, "/") + "/chat/completions",
		header: h,
		http:   wire.Client(cfg.HTTPClient),

		secrets: model.NewSecrets(cfg.Key),
	}
}

// bodies holds buffers for replies. A reply's strings are copied out of it
// before its buffer goes back.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled keeps one huge reply from holding its memory for good.
const maxPooled = 1 << 20

// Ask sends one chat completion and reads the reply.
func (c *Client) Ask(ctx context.Context, r model.Request) (model.Response, error) {
	body, err := c.encode(r)
	if err != nil {
		return model.Response{}, &model.Error{Kind: model.Invalid, Provider: c.cfg.Provider, Model: r.Model, Err: err, Unsent: true}
	}
	req, err := http.NewRequestWithContext(wire.ForTokens(ctx, r.Params.MaxTokens), http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return model.Response{}, &model.Error{Kind: model.Invalid, Provider: c.cfg.Provider, Model: r.Model, Message: model.Clip(err.Error(), c.cfg.Key), Unsent: true}
	}
	req.Header = c.header.Clone()

	resp, err := c.http.Do(req)
	if err != nil {
		return model.Response{}, wire.Failure(c.cfg.Provider, r.Model, err, c.cfg.Key)
	}
	defer resp.Body.Close()
	buf := bodies.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= maxPooled {
			buf.Reset()
			bodies.Put(buf)
		}
	}()
	_, err = buf.ReadFrom(resp.Body)
	if resp.StatusCode/100 != 2 {
		o := failed(resp.StatusCode, resp.Header, buf.Bytes())
		if err == nil || o.err == nil || o.err.Kind != model.Invalid {
			return c.result(r, o)
		}
		// What broke off may have said that a filter withheld the prompt, so
		// the status alone does not make the request a wrong one.
	}
	if err == nil {
		err = wire.CheckValues(buf.Bytes())
	}
	if err != nil {
		return model.Response{}, wire.Failure(c.cfg.Provider, r.Model, fmt.Errorf("reading the reply: %w", err), c.cfg.Key)
	}
	o := decode(resp.Header, buf.Bytes())
	o.resp.Allowance = wire.Allowance(resp.Header, time.Now())
	return c.result(r, o)
}

// Body is what Ask sends for a request. It fails only for a temperature or a schema that
// JSON cannot hold.
func (c *Client) Body(r model.Request) ([]byte, error) { return c.encode(r) }

// Read gives what Ask returns for a reply of that status, for one that came otherwise, as
// in a batch. No wait is known of one that was turned away.
func (c *Client) Read(r model.Request, status int, body []byte) (model.Response, error) {
	if status/100 != 2 {
		return c.result(r, failed(status, nil, body))
	}
	if err := wire.CheckValues(body); err != nil {
		return model.Response{}, wire.Failure(c.cfg.Provider, r.Model, err, c.cfg.Key)
	}
	return c.result(r, decode(nil, body))
}

// result turns an outcome into what Ask returns.
func (c *Client) result(r model.Request, o outcome) (model.Response, error) {
	if o.err != nil {
		o.err.Provider, o.err.Model = c.cfg.Provider, r.Model
		o.err.Message = model.Clip(o.err.Message, c.cfg.Key)
		return model.Response{}, o.err
	}
	if o.said {
		o.resp.Text = model.Clip(o.resp.Text, c.cfg.Key)
	}
	if o.resp.Block != nil {
		o.resp.Block.Detail = model.Clip(o.resp.Block.Detail, c.cfg.Key)
	}
	return c.secrets.CleanResponse(o.resp), nil
}
