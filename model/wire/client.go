package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// MaxReply is the most bytes of one reply that a Client reads. The longest
// answers of present models are near 1 MB.
const MaxReply = 16 << 20

// ErrTooLarge is what reading a reply of more than MaxReply bytes ends with.
var ErrTooLarge = errors.New("the reply is longer than 16 MB")

// Client makes an HTTP client for calls to models out of base, which is not
// changed; nil stands for a client with a transport of its own, tuned for
// hundreds of calls at once to one host.
//
// It refuses redirects: following one would turn a POST into a GET, and would
// hand a key in a header of the provider's own to whatever host was named. A
// reply of more than MaxReply bytes fails with ErrTooLarge.
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
	c.Transport = guard{decoder{c.Transport}}
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
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 1024,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true,
		Protocols:           new(http.Protocols),
	}
	t.Protocols.SetHTTP1(true)
	return t
}

// redirectError is a redirect that was not followed.
type redirectError struct{ to string }

func (e *redirectError) Error() string {
	return fmt.Sprintf("the server redirects to %s; give that as the base URL if it is right", e.to)
}

// guard caps replies.
type guard struct{ next http.RoundTripper }

func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := g.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.Body != nil {
		resp.Body = &cappedBody{body: resp.Body, left: MaxReply}
	}
	return resp, nil
}

// cappedBody reads at most left bytes of body and fails when there are more.
type cappedBody struct {
	body io.ReadCloser
	left int64
}

func (b *cappedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, ErrTooLarge
	}
	// One byte past the cap is asked for, to tell a reply of just the cap from
	// a longer one.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return n - 1, ErrTooLarge
	}
	return n, err
}

func (b *cappedBody) Close() error { return b.body.Close() }

// Reply is what a server answered.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// OK reports whether the status is one of success.
func (r Reply) OK() bool { return r.Status/100 == 2 }

// Post sends a body of JSON, once, and reads the whole reply, whatever its status.
// An error, of the call or of a reply that broke off, is for Failure to read.
func Post(ctx context.Context, c *http.Client, url string, header http.Header, body []byte) (Reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return Reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "identity")
	for name, values := range header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	resp, err := c.Do(req)
	if err != nil {
		return Reply{}, err
	}
	defer resp.Body.Close()
	reply := Reply{Status: resp.StatusCode, Header: resp.Header}
	if reply.Body, err = io.ReadAll(resp.Body); err != nil {
		return Reply{}, fmt.Errorf("reading the reply: %w", err)
	}
	return reply, nil
}
