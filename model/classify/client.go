package classify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/model/wire"
)

// Route is how a server is asked.
type Route string

// The routes.
const (
	// Predict is the route of text-embeddings-inference. Its server has one model,
	// and is not told which. What is too long for the model is cut at its end.
	Predict Route = "/predict"
	// Classify is the route of vLLM. What is too long for the model is an error.
	Classify Route = "/classify"
	// Moderations is the route of OpenAI's moderation endpoint.
	Moderations Route = "/moderations"
)

// Config says where a Client sends its calls.
type Config struct {
	// Provider names the provider in errors.
	Provider string
	// BaseURL is the server's root, such as "http://127.0.0.1:8080"; the route is
	// added to it.
	BaseURL string
	Route   Route
	// Description says how a classifier of another kind is asked, in place of Route; it
	// must pass its Check.
	Description *Description
	// Key is sent as "Authorization: Bearer KEY", or alone in AuthHeader where that is
	// set; empty sends none.
	Key        string
	AuthHeader string
	// HTTPClient makes the calls; nil stands for one tuned as wire.Client says.
	HTTPClient *http.Client
}

// Client is a model.Model that asks one server. It is safe for concurrent use.
type Client struct {
	cfg  Config
	url  string
	http *http.Client
	// secrets are the key, which no reply may bring back.
	secrets model.Secrets
}

// New makes a Client. It opens no connection.
func New(cfg Config) *Client {
	route := string(cfg.Route)
	if cfg.Description != nil {
		route = cfg.Description.Path
	}
	return &Client{cfg: cfg, url: strings.TrimRight(cfg.BaseURL, "/") + route, http: wire.Client(cfg.HTTPClient), secrets: model.NewSecrets(cfg.Key)}
}

// Label is what a classifier calls a text.
type Label struct {
	Label string `json:"label"`
	// Score is the server's own number, as it wrote it.
	Score json.Number `json:"score"`
	// Flagged is the server's own decision on the label; nil where it makes none.
	Flagged *bool `json:"flagged,omitempty"`
}

// Decision is the label of a server's decision on the whole text, which is Flagged; its
// score is 1 for harm and 0 for none, and no measure.
const Decision = "flagged"

// Ask sends one text and reads its labels. A request that is not one user message
// is Invalid.
func (c *Client) Ask(ctx context.Context, r model.Request) (model.Response, error) {
	body, err := c.encode(r)
	if err != nil {
		return model.Response{}, &model.Error{Kind: model.Invalid, Provider: c.cfg.Provider, Model: r.Model, Message: model.Clip(err.Error(), c.cfg.Key), Unsent: true}
	}
	header := http.Header{}
	switch {
	case c.cfg.Key != "" && c.cfg.AuthHeader != "":
		header.Set(c.cfg.AuthHeader, c.cfg.Key)
	case c.cfg.Key != "":
		header.Set("Authorization", "Bearer "+c.cfg.Key)
	}
	reply, err := wire.Post(ctx, c.http, c.url, header, body)
	if err != nil {
		return model.Response{}, wire.Failure(c.cfg.Provider, r.Model, err, c.cfg.Key)
	}
	if !reply.OK() {
		return model.Response{}, c.refused(r, reply)
	}
	response, err := c.decode(reply.Body)
	if err != nil {
		// A reply of another form comes from another server, or was cut.
		return model.Response{}, &model.Error{
			Kind: model.Transient, Provider: c.cfg.Provider, Model: r.Model,
			Message: model.Clip(err.Error()+": "+string(reply.Body), c.cfg.Key),
		}
	}
	response.Allowance = wire.Allowance(reply.Header, time.Now())
	return c.secrets.CleanResponse(response), nil
}

// encode writes the body of the call for r.
func (c *Client) encode(r model.Request) ([]byte, error) {
	if len(r.Messages) != 1 || r.Messages[0].Role != orbench.User {
		return nil, fmt.Errorf("a classifier is sent one text, and this request has %d messages; only judges (classify:) and guards (guard:classifier) ask it", len(r.Messages))
	}
	text := r.Messages[0].Content
	if c.cfg.Description != nil {
		return c.cfg.Description.encode(r.Model, text)
	}
	if c.cfg.Route == Predict {
		return json.Marshal(struct {
			Inputs    string `json:"inputs"`
			Truncate  bool   `json:"truncate"`
			RawScores bool   `json:"raw_scores"`
		}{text, true, false})
	}
	return json.Marshal(struct {
		Model string `json:"model"`
		Input string `json:"input"`
	}{r.Model, text})
}

// decode reads the body of a reply with status 2xx.
func (c *Client) decode(body []byte) (model.Response, error) {
	response := model.Response{Finish: model.Stop}
	var labels []Label
	var err error
	switch {
	case c.cfg.Description != nil:
		labels, err = c.cfg.Description.decode(body)
	case c.cfg.Route == Moderations:
		response, labels, err = decodeModeration(body)
	case c.cfg.Route == Predict:
		if json.Unmarshal(body, &labels) != nil {
			err = errors.New("the reply is no list of labels")
		}
	default:
		var reply struct {
			ID    string `json:"id"`
			Model string `json:"model"`
			Data  []struct {
				Label *string       `json:"label"`
				Probs []json.Number `json:"probs"`
			} `json:"data"`
			Usage struct {
				Prompt int `json:"prompt_tokens"`
			} `json:"usage"`
		}
		if err := json.Unmarshal(body, &reply); err != nil || len(reply.Data) != 1 {
			return response, errors.New("the reply is no classification of one text")
		}
		response.ID, response.Model, response.Usage.Input = reply.ID, reply.Model, model.Tokens(reply.Usage.Prompt)
		// The label is that of the highest probability. A model without names for
		// its labels has null there.
		if d := reply.Data[0]; d.Label != nil && len(d.Probs) > 0 {
			labels = []Label{{Label: *d.Label, Score: slices.MaxFunc(d.Probs, byValue)}}
		} else if len(d.Probs) > 0 {
			for i, p := range d.Probs {
				labels = append(labels, Label{Label: fmt.Sprintf("LABEL_%d", i), Score: p})
			}
		}
	}
	if err != nil {
		return response, err
	}
	if len(labels) == 0 {
		return response, errors.New("the reply holds no label")
	}
	slices.SortStableFunc(labels, func(a, b Label) int { return byValue(b.Score, a.Score) })
	text, err := json.Marshal(labels)
	response.Text = string(text)
	return response, err
}

// byValue compares two numbers as they were written.
func byValue(a, b json.Number) int {
	x, _ := a.Float64()
	y, _ := b.Float64()
	return cmp.Compare(x, y)
}

// refused is the error for a reply with another status. TEI writes
// {"error":"…","error_type":"…"}, OpenAI {"error":{"message":"…","code":"…"}}, vLLM
// {"error":{"message":"…"}} or, before 0.10, {"message":"…"}.
func (c *Client) refused(r model.Request, reply wire.Reply) error {
	var said struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	message := string(reply.Body)
	var inner struct {
		Message string `json:"message"`
		Code    any    `json:"code"`
	}
	if json.Unmarshal(reply.Body, &said) == nil {
		var text string
		_ = json.Unmarshal(said.Error, &text)
		_ = json.Unmarshal(said.Error, &inner)
		message = cmp.Or(text, inner.Message, said.Message, message)
	}
	e := &model.Error{
		Kind: model.KindOfStatus(reply.Status), Provider: c.cfg.Provider, Model: r.Model, Status: reply.Status,
		Message: model.Clip(message, c.cfg.Key), Allowance: wire.Allowance(reply.Header, time.Now()),
	}
	if reply.Status == http.StatusFailedDependency {
		// TEI's reply to every text where its model is no classifier.
		e.Kind = model.NotFound
	}
	if inner.Code == "insufficient_quota" {
		// OpenAI's account without credit has the status of one that asks too fast.
		e.Kind = model.Quota
	}
	if e.Retryable() {
		e.RetryAfter = wire.RetryAfter(reply.Header, time.Now())
	}
	return e
}
