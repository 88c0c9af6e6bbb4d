package google

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/model/wire"
)

// Config says where a Client sends its calls.
type Config struct {
	// Provider names the provider in errors.
	Provider string
	// BaseURL is the API's root, such as
	// "https://generativelanguage.googleapis.com"; without a version at its end
	// ("/v1beta" or "/v1") it gets "/v1beta".
	BaseURL string
	// Key is the secret of the account; empty sends none, for proxies that add
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
	root   string
	header http.Header
	http   *http.Client
	// secrets are the key, which no answer may bring back.
	secrets model.Secrets
}

// New makes a Client. It opens no connection.
func New(cfg Config) *Client {
	root := strings.TrimRight(cfg.BaseURL, "/")
	if !strings.HasSuffix(root, "/v1beta") && !strings.HasSuffix(root, "/v1") {
		root += "/v1beta"
	}
	h := http.Header{}
	if cfg.Key != "" {
		h.Set("X-Goog-Api-Key", cfg.Key)
	}
	for name, value := range cfg.Headers {
		h.Set(name, value)
	}
	return &Client{cfg: cfg, root: root, header: h, http: wire.Client(cfg.HTTPClient), secrets: model.NewSecrets(cfg.Key)}
}

// url is the route of a model, which the API names models/NAME, or tunedModels/NAME.
// The name cannot lead elsewhere.
func (c *Client) url(name string) (string, error) {
	if name == "" || strings.ContainsAny(name, "?&#%") || strings.Contains(name, "..") {
		return "", errors.New("this is no name of a model")
	}
	if !strings.HasPrefix(name, "models/") && !strings.HasPrefix(name, "tunedModels/") {
		name = "models/" + name
	}
	return c.root + "/" + name + ":generateContent", nil
}

// Ask sends one request for content and reads the reply.
func (c *Client) Ask(ctx context.Context, r model.Request) (model.Response, error) {
	body, err := encode(r)
	var url string
	if err == nil {
		url, err = c.url(r.Model)
	}
	if err != nil {
		return model.Response{}, &model.Error{Kind: model.Invalid, Provider: c.cfg.Provider, Model: r.Model, Err: err, Unsent: true}
	}
	reply, err := wire.Post(wire.ForTokens(ctx, r.Params.MaxTokens), c.http, url, c.header, body)
	if err != nil {
		return model.Response{}, wire.Failure(c.cfg.Provider, r.Model, err, c.cfg.Key)
	}
	return c.read(r, reply)
}

// Body is what Ask sends for a request. It fails for a token limit, a seed or an output
// schema that the API cannot take.
func (c *Client) Body(r model.Request) ([]byte, error) { return encode(r) }

// Read gives what Ask returns for a reply of that status, for one that came otherwise, as
// in a batch. No wait is known of one that was turned away.
func (c *Client) Read(r model.Request, status int, body []byte) (model.Response, error) {
	if err := wire.CheckValues(body); err != nil {
		return model.Response{}, wire.Failure(c.cfg.Provider, r.Model, err, c.cfg.Key)
	}
	return c.read(r, wire.Reply{Status: status, Body: body})
}

// read gives the meaning of a reply.
func (c *Client) read(r model.Request, reply wire.Reply) (model.Response, error) {
	if !reply.OK() {
		return model.Response{}, c.failed(r, reply)
	}
	resp, err := decode(reply.Body)
	if err != nil {
		return model.Response{}, &model.Error{
			Kind: model.Transient, Provider: c.cfg.Provider, Model: r.Model,
			Message: model.Clip(err.Error()+": "+string(reply.Body), c.cfg.Key),
		}
	}
	resp.Allowance = wire.Allowance(reply.Header, time.Now())
	return c.secrets.CleanResponse(resp), nil
}

// reply is the part of a reply that is read.
type reply struct {
	Candidates []*struct {
		Content      *content `json:"content"`
		FinishReason string   `json:"finishReason"`
	} `json:"candidates"`
	PromptFeedback *struct {
		BlockReason        string `json:"blockReason"`
		BlockReasonMessage string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage *struct {
		Prompt     int `json:"promptTokenCount"`
		Cached     int `json:"cachedContentTokenCount"`
		Candidates int `json:"candidatesTokenCount"`
		Thoughts   int `json:"thoughtsTokenCount"`
	} `json:"usageMetadata"`
	ModelVersion string `json:"modelVersion"`
	ResponseID   string `json:"responseId"`
}

var (
	// errUnreadable is a reply with status 200 that has another form.
	errUnreadable = errors.New("the reply cannot be read")
	// errNoReply is a reply with status 200 that says nothing at all. A real one
	// without candidates names at least the model, the usage or a number.
	errNoReply = errors.New("the reply holds neither a candidate nor a reason for having none")
)

// decode reads the body of a reply with status 2xx.
func decode(body []byte) (model.Response, error) {
	var g *reply
	if err := json.Unmarshal(body, &g); err != nil {
		return model.Response{}, errUnreadable
	}
	if g == nil {
		return model.Response{}, errNoReply
	}
	resp := model.Response{Model: g.ModelVersion, ID: g.ResponseID}
	if u := g.Usage; u != nil {
		resp.Usage = model.Usage{
			Input:  u.Prompt,
			Cached: u.Cached,
			// The API counts thoughts apart from the answer, and bills both as output.
			Output:    model.Tokens(u.Candidates) + model.Tokens(u.Thoughts),
			Reasoning: u.Thoughts,
		}.Bounded()
	}
	block := func(kind model.BlockKind, detail string) {
		resp.Finish, resp.Block = model.Blocked, &model.Block{Kind: kind, Detail: detail}
	}
	if f := g.PromptFeedback; f != nil && f.BlockReason != "" && len(g.Candidates) == 0 {
		block(model.PromptFilter, f.BlockReason)
		resp.Text = f.BlockReasonMessage
		return resp, nil
	}
	if len(g.Candidates) == 0 || g.Candidates[0] == nil {
		if g.Usage == nil && g.ModelVersion == "" && g.ResponseID == "" && g.PromptFeedback == nil {
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
	case "STOP":
		resp.Finish = model.Stop
	case "MAX_TOKENS", "CONTINUATION":
		resp.Finish = model.Length
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		block(model.OutputFilter, c.FinishReason)
	default:
		resp.Finish = model.OtherFinish
	}
	return resp, nil
}

// texts parts a candidate's text from its thoughts.
func texts(c *content) (answer, thinking string) {
	if c == nil {
		return "", ""
	}
	var a, t strings.Builder
	for _, p := range c.Parts {
		if p.Thought {
			t.WriteString(p.Text)
		} else {
			a.WriteString(p.Text)
		}
	}
	answer, thought := model.CutThinking(a.String())
	return answer, strings.TrimSpace(t.String() + "\n" + thought)
}
