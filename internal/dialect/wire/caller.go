package wire

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/orbench/orbench/model"
)

// ClientConfig says where calls are sent.
type ClientConfig struct {
	// Provider names the provider in errors.
	Provider string
	// BaseURL is the API's root; what a dialect adds to it, its package says.
	BaseURL string
	// Key is the secret of the account; empty sends none.
	Key string
	// AuthHeader is the header that carries the key alone, such as "api-key" for Azure;
	// empty stands for the dialect's own.
	AuthHeader string
	// HTTPClient makes the calls; nil stands for one tuned as Client says.
	HTTPClient *http.Client
}

// Dialect is how servers of a kind are asked, and what their replies mean.
type Dialect struct {
	// Header is sent with each call, besides what says that it is JSON.
	Header http.Header
	// Address is the URL to which a request goes.
	Address func(r *model.Request) (string, error)
	// Encode writes the body of the call for a request.
	Encode func(r model.Request) ([]byte, error)
	// Read gives the meaning of a reply, whatever its status. A *model.Error needs a Kind
	// and a Message alone; any other error is that of a reply that cannot be read.
	Read func(reply Reply) (model.Response, error)
}

// Caller is a model.Model that asks one server in a dialect. It is safe for concurrent use.
type Caller struct {
	dialect       Dialect
	provider, key string
	http          *http.Client
	// secrets are the key, which no answer may bring back.
	secrets model.Secrets
}

// ofJSON are the headers of every call. Replies are asked for as they are, being short.
var ofJSON = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}, "Accept-Encoding": {"identity"}}

// NewCaller makes a Caller. It opens no connection.
func NewCaller(c ClientConfig, d Dialect) *Caller {
	header := ofJSON.Clone()
	maps.Copy(header, d.Header)
	switch {
	case c.Key == "":
	case c.AuthHeader != "":
		header.Set(c.AuthHeader, c.Key)
	default:
		header.Set("Authorization", "Bearer "+c.Key)
	}
	d.Header = header
	return &Caller{dialect: d, provider: c.Provider, key: c.Key, http: Client(c.HTTPClient), secrets: model.NewSecrets(c.Key)}
}

// bodies holds buffers for replies. What is kept of a reply is copied out of it before its
// buffer goes back.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled keeps one huge reply from holding its memory for good.
const maxPooled = 1 << 20

// Ask makes one call and reads the reply.
func (c *Caller) Ask(ctx context.Context, r model.Request) (model.Response, error) {
	body, err := c.dialect.Encode(r)
	address := ""
	if err == nil {
		address, err = c.dialect.Address(&r)
	}
	if err != nil {
		return model.Response{}, &model.Error{
			Kind: model.Invalid, Provider: c.provider, Model: r.Model, Message: model.Clip(err.Error(), c.key), Err: err, Unsent: true,
		}
	}
	buf := bodies.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= maxPooled {
			buf.Reset()
			bodies.Put(buf)
		}
	}()
	reply, err := post(ForTokens(ctx, r.Params.MaxTokens), c.http, address, c.dialect.Header, body, buf)
	if err == nil {
		return c.read(r, reply)
	}
	if reply.Status != 0 && !reply.OK() {
		// What broke off may have said that a filter withheld the prompt, so
		// the status alone does not make the request a wrong one.
		response, refused := c.read(r, reply)
		if e, ok := errors.AsType[*model.Error](refused); !ok || e.Kind != model.Invalid {
			return response, refused
		}
	}
	return model.Response{}, Failure(c.provider, r.Model, err, c.key)
}

// longWait is a wait that a run does not wait for.
const longWait = time.Hour

// ofDay is in the message of a fault that is about the allowance of a day or a month, or comes
// back in hours: Groq's (https://console.groq.com/docs/rate-limits), OpenRouter's
// (https://openrouter.ai/docs/api-reference/limits), Google's
// (https://ai.google.dev/gemini-api/docs/rate-limits), GitHub Models', Z.ai's
// (https://docs.z.ai/api-reference/api-code), Cohere's
// (https://docs.cohere.com/docs/rate-limits).
var ofDay = regexp.MustCompile(`(?i)\b(?:per[ -_]?(?:day|month)|daily|monthly|[tr]pd|24 ?h(?:ours)?|in \d+ ?h(?:ours?|\d+m\S*)?|quota of a day)\b|-per-day|/ ?(?:day|month)\b|\b(?:for today|today's|tomorrow)\b|\bper 86400 ?s|byday\b|当日|今日|本月|明日`)

// dayQuota is in the body of a fault of Google's that is about the allowance of a day.
var dayQuota = regexp.MustCompile(`"quotaId"\s*:\s*"\w*PerDay`)

// Body is what Ask sends for a request. It fails for one that the dialect cannot hold.
func (c *Caller) Body(r model.Request) ([]byte, error) { return c.dialect.Encode(r) }

// Read gives what Ask would return for a reply of that status. It is for replies that came
// in another way, such as in a batch. For a rejected call it knows no time to wait.
func (c *Caller) Read(r model.Request, status int, body []byte) (model.Response, error) {
	if err := CheckValues(body); err != nil {
		return model.Response{}, Failure(c.provider, r.Model, err, c.key)
	}
	return c.read(r, Reply{Status: status, Body: body})
}

// read gives the meaning of a reply, without the key, and with what its headers say.
func (c *Caller) read(r model.Request, reply Reply) (model.Response, error) {
	reply.key = c.key
	response, err := c.dialect.Read(reply)
	allowance := Allowance(reply.Header, time.Now())
	if err == nil {
		err = checkLength(r, response)
	}
	if err == nil {
		response.Allowance = allowance
		if response.Block != nil {
			response.Block.Detail = reply.Clip(response.Block.Detail)
			for i, c := range response.Block.Categories {
				response.Block.Categories[i] = reply.Clip(c)
			}
		}
		return c.secrets.CleanResponse(response), nil
	}
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		e = &model.Error{Kind: model.Transient, Message: err.Error() + ": " + string(reply.Body), Unread: err.Error()}
	}
	e.Provider, e.Model, e.Message, e.Allowance = c.provider, r.Model, reply.Clip(e.Message), allowance
	if !reply.OK() {
		e.Status = reply.Status
	}
	if dayQuota.Match(reply.Body) {
		e.Message += " (the quota of a day)"
	}
	if wait := RetryAfter(reply.Header, time.Now()); e.Kind == model.RateLimited && (wait >= longWait || ofDay.MatchString(e.Message)) {
		e.Kind = model.Quota // a day's allowance does not come back within a run
		if wait > 0 {
			e.Message += " (comes back in " + wait.Round(time.Minute).String() + ")"
		}
	}
	if e.Retryable() {
		e.RetryAfter = max(e.RetryAfter, RetryAfter(reply.Header, time.Now()))
	} else {
		e.RetryAfter = 0
	}
	return model.Response{}, e
}
