package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

const (
	// MaxReply is the most bytes of one reply that a Client reads. The longest
	// answers of present models are near 1 MB.
	MaxReply = 4 << 20
	// MaxHeader is the most bytes of a reply's headers.
	MaxHeader = 64 << 10

	// A reply to a request that limits its tokens has so many bytes at most for each,
	// and spare ones for all that is around the text. A token of an alphabet that JSON
	// may escape takes some forty.
	bytesPerToken = 256
	spareBytes    = 1 << 20

	// shortReply is what a reply may take without being counted among those in flight.
	shortReply = 64 << 10
	// copies is the memory that a reply may take until it is stored, as a multiple of its
	// length: the reply as it was sent, its text, what is written, and garbage in between.
	copies = 8
	// maxValues is how many values a long reply may have: an object of two bytes takes
	// a hundred once it is read.
	maxValues = 200_000
)

// TooLargeError is what reading a reply of more than its bound ends with.
type TooLargeError string

func (e TooLargeError) Error() string { return string(e) }

// CheckValues fails with a TooLargeError for a reply that would take many times its
// length once it is read. Short ones are not looked at.
func CheckValues(reply []byte) error {
	if len(reply) >= shortReply && untrusted.Marks(reply, ",{[") > maxValues {
		return TooLargeError(fmt.Sprintf("the reply has more than %d values of JSON", maxValues))
	}
	return nil
}

type tokensKey struct{}

// ForTokens gives the context for a call that asks for so many tokens at most, by which
// the bytes of its reply are bounded; 0 is no limit but MaxReply.
func ForTokens(ctx context.Context, tokens int) context.Context {
	if tokens <= 0 {
		return ctx
	}
	return context.WithValue(ctx, tokensKey{}, tokens)
}

// Client makes an HTTP client for calls to models out of base, which is not
// changed; nil stands for a client with a transport of its own, tuned for
// hundreds of calls at once to one host.
//
// It refuses redirects: following one would turn a POST into a GET, and would
// hand a key in a header of the provider's own to whatever host was named. A
// reply of more bytes than ForTokens allows fails with a TooLargeError. A long reply
// waits until model.Take has what it may need.
func Client(base *http.Client) *http.Client {
	c := http.Client{}
	if base != nil {
		c = *base
	} else {
		c.Transport = newTransport()
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	c.Transport = guard{c.Transport}
	c.CheckRedirect = func(req *http.Request, _ []*http.Request) error {
		return &redirectError{to: req.URL.Redacted()}
	}
	return &c
}

// newTransport makes the transport of a client that was given none.
//
// It speaks HTTP/1.1 alone: over HTTP/2 a provider's stream limit would pace the
// calls unseen, and one broken connection would fail all of them at once.
// Replies are asked for uncompressed, since they are short.
func newTransport() *http.Transport {
	t := &http.Transport{
		Proxy:               proxy,
		DialContext:         dial,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 1024,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true,
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, reply *http.Response) error {
			if reply.StatusCode != http.StatusOK {
				return &proxyError{reply.StatusCode}
			}
			return nil
		},
		Protocols: new(http.Protocols),

		MaxResponseHeaderBytes: MaxHeader,
	}
	t.Protocols.SetHTTP1(true)
	return t
}

// redirectError is a redirect that was not followed.
type redirectError struct{ to string }

func (e *redirectError) Error() string {
	return fmt.Sprintf("the server redirects to %s; give that as the base URL if it is right", e.to)
}

// guard decompresses and caps replies.
type guard struct{ next http.RoundTripper }

func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := g.next.RoundTrip(r)
	if err != nil || resp.Body == nil {
		return resp, err
	}
	if err := decompress(resp); err != nil {
		return nil, err
	}
	tokens, _ := r.Context().Value(tokensKey{}).(int)
	limit := int64(MaxReply)
	if tokens > 0 && tokens < MaxReply/bytesPerToken {
		limit = min(limit, spareBytes+int64(tokens)*bytesPerToken)
	}
	resp.Body = &cappedBody{ctx: r.Context(), body: resp.Body, limit: limit, tokens: tokens}
	return resp, nil
}

// cappedBody reads at most limit bytes of body and fails when there are more.
type cappedBody struct {
	ctx    context.Context
	body   io.ReadCloser
	limit  int64
	tokens int
	read   int64
	// release returns the memory that a long reply reserved.
	release func()
}

func (b *cappedBody) Read(p []byte) (int, error) {
	if b.read > b.limit {
		return 0, b.fault()
	}
	if b.release == nil && b.read >= shortReply {
		var err error
		if b.release, err = model.Take(b.ctx, copies*b.limit); err != nil {
			return 0, err
		}
	}
	most := b.limit + 1
	if b.release == nil {
		most = min(most, shortReply)
	}
	// One byte past the cap is asked for, to tell a reply of just the cap from
	// a longer one.
	if int64(len(p)) > most-b.read {
		p = p[:most-b.read]
	}
	n, err := b.body.Read(p)
	b.read += int64(n)
	if b.read > b.limit {
		return n - 1, b.fault()
	}
	return n, err
}

func (b *cappedBody) fault() error {
	text := fmt.Sprintf("the reply is longer than %d bytes", b.limit)
	if b.tokens > 0 {
		text += fmt.Sprintf(", too long for the limit of %d tokens; a higher token limit allows longer replies", b.tokens)
	}
	return TooLargeError(text)
}

func (b *cappedBody) Close() error {
	if b.release != nil {
		b.release()
	}
	return b.body.Close()
}

// Reply is what a server answered.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
	// key is what no text of it may show.
	key string
}

// OK reports whether the status is one of success.
func (r Reply) OK() bool { return r.Status/100 == 2 }

// Clip makes a text of the reply that is not an answer safe to show; see model.Clip.
func (r Reply) Clip(text string) string { return model.Clip(text, r.key) }

// post sends a body, once, and reads the reply into a buffer, whatever its status. An
// error, of the call or of a reply that broke off, is for Failure to read.
func post(ctx context.Context, c *http.Client, url string, header http.Header, body []byte, into *bytes.Buffer) (Reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return Reply{}, err
	}
	req.Header = header.Clone()
	resp, err := c.Do(req)
	if err != nil {
		return Reply{}, err
	}
	defer resp.Body.Close()
	if _, err = into.ReadFrom(resp.Body); err == nil {
		err = CheckValues(into.Bytes())
	}
	if err != nil {
		err = fmt.Errorf("reading the reply: %w", err)
	}
	return Reply{Status: resp.StatusCode, Header: resp.Header, Body: into.Bytes()}, err
}
