package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/dialect/wire"
	"github.com/orbench/orbench/model"
)

// mostReply is the longest reply that is read whole.
const mostReply = 16 << 20

// api asks an account.
type api struct {
	wire.ClientConfig
	header http.Header
	client *http.Client
}

func newAPI(a wire.ClientConfig, header, value string) api {
	c := http.Client{}
	if a.HTTPClient != nil {
		c = *a.HTTPClient
	}
	// Where results are moved to another host, no key goes along.
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if req.Method != http.MethodGet || len(via) > 3 {
			return errors.New("the server redirects the call")
		}
		if req.URL.Host != via[0].URL.Host {
			req.Header = http.Header{}
		}
		return nil
	}
	h := http.Header{}
	if a.Key != "" {
		h.Set(header, value)
	}
	return api{ClientConfig: a, header: h, client: &c}
}

// call is one request to an account.
type call struct {
	method, url string
	// body is of so many bytes; nil sends none.
	body        io.Reader
	size        int64
	contentType string
	header      http.Header
}

// open makes a call and gives the reply, whose body is to be closed. An error is a
// *model.Error, also for a status that is not one of success.
func (a api) open(ctx context.Context, c call) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, c.method, c.url, c.body)
	if err != nil {
		return nil, a.failure(err)
	}
	if c.body != nil {
		req.ContentLength = c.size
		req.Header.Set("Content-Type", c.contentType)
	}
	for _, h := range []http.Header{a.header, c.header} {
		for name, values := range h {
			req.Header[name] = values
		}
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, a.failure(err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return nil, a.refused(resp, body)
}

// do makes a call and reads the JSON of the reply.
func (a api) do(ctx context.Context, c call, into any) error {
	resp, err := a.open(ctx, c)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostReply))
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		return a.failure(fmt.Errorf("reading the reply: %w", err))
	}
	return nil
}

// get is the call for what is at an address.
func get(url string) call { return call{method: http.MethodGet, url: url} }

// post is a call that sends JSON, which body can be written as.
func post(url string, body any) call {
	b, err := json.Marshal(body)
	if err != nil {
		panic(err) // a body that JSON cannot hold: a fault of the caller
	}
	return call{method: http.MethodPost, url: url, body: bytes.NewReader(b), size: int64(len(b)), contentType: "application/json"}
}

// cancel has a batch called off at an address.
func (a api) cancel(ctx context.Context, url string) error {
	var canceled json.RawMessage
	return a.do(ctx, post(url, struct{}{}), &canceled)
}

// batchReply is a batch as a service tells of it.
type batchReply interface {
	// remote is what it says, without an ID where it is no batch.
	remote() Remote
}

// batchOf makes a call whose reply tells of a batch.
func batchOf[T batchReply](ctx context.Context, a api, c call) (Remote, error) {
	var reply T
	if err := a.do(ctx, c, &reply); err != nil {
		return Remote{}, err
	}
	return a.batch(reply)
}

// batch is what a service tells of a batch; an error where it tells of none.
func (a api) batch(t batchReply) (Remote, error) {
	r := t.remote()
	if r.ID == "" {
		return Remote{}, a.failure(errors.New("the reply is no batch"))
	}
	return r, nil
}

// failure is the error of a call without a usable reply.
func (a api) failure(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return wire.Failure(a.Provider, "", err, a.Key)
}

// refused is the error of a call that was answered with another status.
func (a api) refused(resp *http.Response, body []byte) error {
	message, codes := wire.Said(body)
	e := &model.Error{
		Kind: model.KindOfStatus(resp.StatusCode), Provider: a.Provider, Status: resp.StatusCode,
		Message: model.Clip(message, a.Key), RetryAfter: wire.RetryAfter(resp.Header, time.Now()),
	}
	switch {
	case isQuota(string(body)):
		e.Kind = model.Quota
	case wire.Limited(message, codes...):
		e.Kind = model.Limited
	}
	return e
}

// isQuota reports whether a fault is of an allowance that is used up: of money, or of what
// may be enqueued at once.
func isQuota(text string) bool {
	text = strings.ToLower(text)
	words := []string{"insufficient_quota", "billing_hard_limit", "billing_not_active", "token_limit_exceeded", "credit balance is too low", "resource_exhausted", "enqueued"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// moment reads a time as providers write it: in seconds since 1970, or in RFC 3339. It is
// zero for anything else.
func moment(v any) time.Time {
	switch v := v.(type) {
	case float64:
		if v > 0 {
			return time.Unix(int64(v), 0).UTC()
		}
	case string:
		if t, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
