package dialecttest

import (
	"bytes"
	gocmp "cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dialect/wire"
	"github.com/orbench/orbench/model"
)

// Dialect tells the suite how to build a client and how to speak to it.
type Dialect struct {
	// New makes the client under test with its own HTTP client.
	New func(baseURL, key string) model.Model
	// Answer gives the body of a reply with status 200, as what is written as JSON. The answer
	// ends by Stop or Length.
	Answer func(model.Response) any
	// Error gives the body of a reply with another status.
	Error func(status int, message string) any
	// Call reads what a client sent.
	Call func(r *http.Request, body []byte) (Call, error)
	// NoSeed is true where the provider takes no seed, and none may be sent.
	NoSeed bool
	// Blocks are replies with which the provider withholds something.
	Blocks []Blocked
	// Label gives the Response.Text for a text's only label. It is set for servers of
	// classifiers: Answer then writes Text as a label, and what concerns answers in
	// words, and withholding them, is passed over.
	Label func(label string) string
}

// Call is what a request asks for, in no dialect.
type Call struct {
	Key   string
	Model string
	// System is the text of the system messages, Messages are the others.
	System      string
	Messages    []orbench.Message
	Temperature *float64
	MaxTokens   int
	Seed        *int64
	// Schema is the JSON Schema asked for, nil for free text.
	Schema json.RawMessage
}

// Blocked is a reply that withholds something, in a dialect.
type Blocked struct {
	Name   string
	Status int // 0 stands for 200
	Body   string
	Want   model.Block
	// Text is what Response.Text must be.
	Text string
}

// key is the secret that must not turn up anywhere.
const key = "sk-orbench-test-0123456789abcdef"

// Run runs the whole suite.
func Run(t *testing.T, d Dialect) {
	if d.Label == nil {
		t.Run("answer", d.testAnswer)
		t.Run("request", d.testRequest)
		t.Run("blocked", d.testBlocked)
	}
	t.Run("status", d.testStatus)
	t.Run("retry-after", d.testRetryAfter)
	t.Run("allowance", d.testAllowance)
	t.Run("fault", d.testFault)
	t.Run("redirect", d.testRedirect)
	t.Run("too-large", d.testTooLarge)
	t.Run("echo", d.testEcho)
	t.Run("context", d.testContext)
	t.Run("parallel", d.testParallel)
}

// server serves a handler and counts its calls.
type server struct {
	*httptest.Server
	calls atomic.Int64
}

// serve starts a server that reads each body before it hands the call on.
func serve(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, body []byte)) *server {
	t.Helper()
	s := new(server)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("the server could not read the call: %v", err)
		}
		if got := r.Header.Get("Accept-Encoding"); got != "identity" {
			t.Errorf("the reply may be encoded as %q", got)
		}
		handle(w, r, body)
	}))
	t.Cleanup(s.Close)
	return s
}

// JSON writes a value of a test, all of which are JSON.
func JSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Decode reads what a client sent, all of whose fields must be known.
func Decode(body []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// Reply starts a server with one fixed reply, and gives its address.
func Reply(t *testing.T, status int, body string) string { return reply(t, status, nil, body).URL }

// reply serves one fixed reply.
func reply(t *testing.T, status int, header http.Header, body string) *server {
	return serve(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "application/json")
		maps.Copy(w.Header(), header)
		w.WriteHeader(status)
		io.WriteString(w, body)
	})
}

// question is the request of most cases.
func question() model.Request {
	return model.Request{
		Provider: "test", Model: "model-1",
		Messages: []orbench.Message{{Role: orbench.User, Content: "How do I kill a process?"}},
		Params:   model.Params{MaxTokens: 1000},
	}
}

// ask asks the question once.
func (d Dialect) ask(t *testing.T, s *server) (model.Response, error) {
	t.Helper()
	return d.New(s.URL, key).Ask(t.Context(), question())
}

// fails asks the question once, and checks that it fails so at the first attempt.
func (d Dialect) fails(t *testing.T, s *server, kind model.Kind) *model.Error {
	t.Helper()
	_, err := d.ask(t, s)
	s.wantCalls(t, 1)
	return wantError(t, err, kind)
}

// wantCalls checks how often the server was asked: a Model makes one attempt.
func (s *server) wantCalls(t *testing.T, want int64) {
	t.Helper()
	if n := s.calls.Load(); n != want {
		t.Errorf("asked %d times, want %d", n, want)
	}
}

// wantError checks an error's kind, and that neither it nor a cause holds the key.
func wantError(t *testing.T, err error, kind model.Kind) *model.Error {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want one of kind %q", kind)
	}
	checkSecret(t, err)
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		t.Fatalf("got %T %v, want a *model.Error", err, err)
	}
	if e.Kind != kind {
		t.Errorf("got kind %q, want %q: %v", e.Kind, kind, err)
	}
	if e.Provider == "" || e.Model != "model-1" {
		t.Errorf("the error names provider %q and model %q", e.Provider, e.Model)
	}
	return e
}

func checkSecret(t *testing.T, err error) {
	t.Helper()
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		asJSON, _ := json.Marshal(cause)
		for _, text := range []string{cause.Error(), fmt.Sprintf("%+v", cause), fmt.Sprintf("%#v", cause), string(asJSON)} {
			if strings.Contains(text, key) {
				t.Errorf("the key is in the text of %T: %s", cause, text)
			}
		}
	}
}

func (d Dialect) testAnswer(t *testing.T) {
	usage := model.Usage{Input: 31, Output: 52}
	const odd = "a\u0000b\u001b[31m \"q\" </script> 日本 🙂 \u2028"
	const tagged = "thinking in the answer"
	for name, want := range map[string]model.Response{
		"plain":               {Text: "Use kill -9.", Finish: model.Stop, Usage: usage, Model: "model-1-2026", ID: "id-7"},
		"cut by the limit":    {Text: "Use", Finish: model.Length, Usage: usage, Model: "m", ID: "i"},
		"thinking kept apart": {Text: "Use kill.", Thinking: "Is it safe? Yes.", Finish: model.Stop, Usage: usage, Model: "m", ID: "i"},
		tagged:                {Text: "Use kill.", Thinking: "Hm.", Finish: model.Stop, Usage: usage, Model: "m", ID: "i"},
		"empty":               {Text: "", Finish: model.Stop, Usage: usage, Model: "m", ID: "i"},
		"odd characters":      {Text: odd, Finish: model.Stop, Usage: usage, Model: "m", ID: "i"},
		"cached and reasoning tokens": {
			Text: "Yes.", Finish: model.Stop, Usage: model.Usage{Input: 900, Cached: 800, Output: 70, Reasoning: 60}, Model: "m", ID: "i",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := want
			if name == tagged {
				sent.Text, sent.Thinking = "<think>\nHm.\n</think>\n\nUse kill.", ""
			}
			got, err := d.ask(t, reply(t, http.StatusOK, nil, JSON(d.Answer(sent))))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func (d Dialect) testRequest(t *testing.T) {
	temperature, seed := 0.0, int64(7)
	schema := json.RawMessage(`{"type":"object","properties":{"verdict":{"type":"string"}},"required":["verdict"],"additionalProperties":false}`)
	turns := []orbench.Message{
		{Role: orbench.User, Content: "Hello."},
		{Role: orbench.Assistant, Content: "Hello to you."},
		{Role: orbench.User, Content: "How do I kill a process?"},
	}
	for _, tt := range []struct {
		name string
		in   model.Request
		want Call
	}{
		{
			"as little as can be",
			model.Request{Model: "model-1", Messages: turns[:1], Params: model.Params{MaxTokens: 10}},
			Call{Model: "model-1", Messages: turns[:1], MaxTokens: 10},
		},
		{
			"all of it",
			model.Request{
				Model:    "model-1",
				Messages: append([]orbench.Message{{Role: orbench.System, Content: "Be brief."}}, turns...),
				Params:   model.Params{Temperature: &temperature, MaxTokens: 1000, Seed: &seed, Schema: schema},
			},
			Call{Model: "model-1", System: "Be brief.", Messages: turns, Temperature: &temperature, MaxTokens: 1000, Seed: &seed, Schema: schema},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			calls := make(chan Call, 1)
			s := serve(t, func(w http.ResponseWriter, r *http.Request, body []byte) {
				c, err := d.Call(r, body)
				if err != nil {
					t.Errorf("the server could not understand the call: %v\n%s", err, body)
				}
				calls <- c
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, JSON(d.Answer(model.Response{Text: "Yes.", Finish: model.Stop})))
			})
			if _, err := d.New(s.URL, key).Ask(t.Context(), tt.in); err != nil {
				t.Fatal(err)
			}
			want := tt.want
			want.Key = key
			if d.NoSeed {
				want.Seed = nil
			}
			got := <-calls
			// Members of a schema may come in another order.
			if diff := cmp.Diff(want, got, cmp.Transformer("JSON", func(raw json.RawMessage) (v any) {
				_ = json.Unmarshal(raw, &v) // nil stays nil
				return v
			})); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func (d Dialect) testBlocked(t *testing.T) {
	if len(d.Blocks) == 0 {
		t.Fatal("the dialect names no reply that withholds something")
	}
	for _, b := range d.Blocks {
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			s := reply(t, gocmp.Or(b.Status, http.StatusOK), nil, b.Body)
			got, err := d.ask(t, s)
			if err != nil {
				t.Fatalf("a block is a result, but got the error %v", err)
			}
			if got.Finish != model.Blocked || got.Block == nil {
				t.Fatalf("got %+v, want a blocked response", got)
			}
			if diff := cmp.Diff(b.Want, *got.Block); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			if got.Text != b.Text {
				t.Errorf("got the text %q, want %q", got.Text, b.Text)
			}
			s.wantCalls(t, 1)
		})
	}
}

func (d Dialect) testStatus(t *testing.T) {
	for status, kind := range map[int]model.Kind{
		400: model.Invalid, 401: model.Denied, 403: model.Denied, 402: model.Quota, 404: model.NotFound,
		408: model.Timeout, 413: model.Invalid, 429: model.RateLimited, 500: model.Transient, 502: model.Transient,
		503: model.Transient, 504: model.Timeout, 529: model.Transient,
	} {
		for form, body := range map[string]string{
			// Servers quote the key that they refuse, some of them in full.
			"own error": JSON(d.Error(status, "what is wrong with "+key)),
			"page":      "<html><body>what is wrong with " + key + "</body></html>",
			"no body":   "",
		} {
			t.Run(fmt.Sprintf("%d %s", status, form), func(t *testing.T) {
				t.Parallel()
				e := d.fails(t, reply(t, status, nil, body), kind)
				if e.Status != status {
					t.Errorf("got status %d, want %d", e.Status, status)
				}
				if body != "" && !strings.Contains(e.Message, "what is wrong") {
					t.Errorf("the provider's text is lost: %q", e.Message)
				}
				if e.RetryAfter != 0 {
					t.Errorf("got RetryAfter %v, want none", e.RetryAfter)
				}
			})
		}
	}
}

func (d Dialect) testRetryAfter(t *testing.T) {
	for _, tt := range []struct {
		name, header, value string
		atLeast, atMost     time.Duration
	}{
		{"seconds", "Retry-After", "7", 7 * time.Second, 7 * time.Second},
		{"milliseconds", "Retry-After-Ms", "250", 250 * time.Millisecond, 250 * time.Millisecond},
		{"date", "Retry-After", time.Now().Add(30 * time.Minute).UTC().Format(http.TimeFormat), time.Minute, 31 * time.Minute},
		{"nonsense", "Retry-After", "soon", 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := d.fails(t, reply(t, http.StatusTooManyRequests, http.Header{tt.header: {tt.value}}, JSON(d.Error(429, "slow down"))), model.RateLimited)
			if e.RetryAfter < tt.atLeast || e.RetryAfter > tt.atMost {
				t.Errorf("got RetryAfter %v, want %v to %v", e.RetryAfter, tt.atLeast, tt.atMost)
			}
		})
	}
}

// testAllowance has a server say what it will take, in an answer and in a reject.
func (d Dialect) testAllowance(t *testing.T) {
	want := &model.Allowance{Requests: model.Window{Remaining: 14, Reset: 30 * time.Second}}
	header := http.Header{"Ratelimit-Remaining": {"14"}, "Ratelimit-Reset": {"30"}}
	resp, err := d.ask(t, reply(t, http.StatusOK, header, JSON(d.Answer(model.Response{Text: "Yes.", Finish: model.Stop}))))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, resp.Allowance); diff != "" {
		t.Errorf("an answer: want -, got +:\n%s", diff)
	}
	reject := d.fails(t, reply(t, http.StatusTooManyRequests, header, JSON(d.Error(429, "slow down"))), model.RateLimited)
	if diff := cmp.Diff(want, reject.Allowance); diff != "" {
		t.Errorf("a reject: want -, got +:\n%s", diff)
	}
}

// testFault has a server send what is no whole reply, and close the connection.
func (d Dialect) testFault(t *testing.T) {
	body := JSON(d.Answer(model.Response{Text: strings.Repeat("Use kill. ", 50), Finish: model.Stop}))
	half := body[:len(body)/2]
	http200 := func(kind string, length int, body string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", kind, length, body)
	}
	page := "<html>Sign in to continue, " + key + "</html>"
	for name, sent := range map[string]string{
		"reset":                       "",
		"reset in the body":           http200("application/json", len(body), half),
		"body shorter than announced": http200("application/json", len(body), half),
		"cut JSON":                    http200("application/json", len(half), half),
		"no body":                     http200("application/json", 0, ""),
		"empty object":                http200("application/json", 2, "{}"),
		"null":                        http200("application/json", 4, "null"),
		"page":                        http200("text/html", len(page), page),
		"no HTTP":                     "what is " + key + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				io.WriteString(conn, sent)
				if strings.HasPrefix(name, "reset") {
					conn.(*net.TCPConn).SetLinger(0)
				}
			})
			d.fails(t, s, model.Transient)
		})
	}
	t.Run("no server", func(t *testing.T) {
		t.Parallel()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		_, err = d.New("http://"+l.Addr().String(), key).Ask(t.Context(), question())
		wantError(t, err, model.Transient)
	})
}

func (d Dialect) testRedirect(t *testing.T) {
	for _, status := range []int{301, 302, 307, 308} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			other := reply(t, http.StatusOK, nil, JSON(d.Answer(model.Response{Text: "I have your key.", Finish: model.Stop})))
			d.fails(t, reply(t, status, http.Header{"Location": {other.URL + "/" + key}}, ""), model.NotFound)
			other.wantCalls(t, 0) // else the redirect was followed, with the key
		})
	}
}

// testEcho has a server send the key back in an answer; package model has the forms in
// which that is noticed.
func (d Dialect) testEcho(t *testing.T) {
	t.Parallel()
	body := JSON(d.Answer(model.Response{Text: "Your key is " + hex.EncodeToString([]byte(key)), Thinking: key, Finish: model.Stop, Model: key, ID: key}))
	got, err := d.ask(t, reply(t, http.StatusOK, nil, body))
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v", got); !strings.Contains(text, "Your key is [key]") || model.NewSecrets(key).Clean(text) != text {
		t.Errorf("the key is in the answer: %s", text)
	}
	for i, b := range d.Blocks {
		if b.Status != 0 && b.Status != http.StatusOK {
			continue
		}
		got, err := d.ask(t, reply(t, http.StatusOK, nil, strings.ReplaceAll(b.Body, b.Want.Detail, key)))
		if err == nil && got.Block != nil && strings.Contains(got.Block.Detail+got.Text, key) {
			t.Errorf("the key is in block %d: %+v", i, *got.Block)
		}
	}
}

func (d Dialect) testTooLarge(t *testing.T) {
	t.Parallel()
	d.fails(t, reply(t, http.StatusOK, nil, JSON(d.Answer(model.Response{Text: strings.Repeat("x", wire.MaxReply), Finish: model.Stop}))), model.Invalid)
}

func (d Dialect) testContext(t *testing.T) {
	// started tells that the call is under way; the server never answers.
	hang := func(t *testing.T) (*server, chan struct{}) {
		started := make(chan struct{}, 1)
		return serve(t, func(_ http.ResponseWriter, r *http.Request, _ []byte) {
			started <- struct{}{}
			<-r.Context().Done()
		}), started
	}
	t.Run("canceled", func(t *testing.T) {
		t.Parallel()
		s, started := hang(t)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-started
			cancel()
		}()
		_, err := d.New(s.URL, key).Ask(ctx, question())
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		if _, ok := errors.AsType[*model.Error](err); ok {
			t.Errorf("got %v, but a canceled call is no provider's fault", err)
		}
		s.wantCalls(t, 1)
	})
	t.Run("canceled before", func(t *testing.T) {
		t.Parallel()
		s, _ := hang(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := d.New(s.URL, key).Ask(ctx, question())
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		s.wantCalls(t, 0)
	})
	t.Run("timeout", func(t *testing.T) {
		t.Parallel()
		s, _ := hang(t)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := d.New(s.URL, key).Ask(ctx, question())
		wantError(t, err, model.Timeout)
	})
}

// testParallel checks that answers do not mix when many calls share a client.
func (d Dialect) testParallel(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body []byte) {
		c, err := d.Call(r, body)
		if err != nil || len(c.Messages) != 1 {
			t.Errorf("the server could not understand the call: %v\n%s", err, body)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, JSON(d.Answer(model.Response{Text: c.Messages[0].Content, Finish: model.Stop})))
	})
	m := d.New(s.URL, key)
	var wg sync.WaitGroup
	for worker := range 16 {
		wg.Go(func() {
			for n := range 20 {
				r := question()
				r.Messages = []orbench.Message{{Role: orbench.User, Content: strings.Repeat(fmt.Sprintf("%d of %d. ", n, worker), 1+n*7)}}
				got, err := m.Ask(t.Context(), r)
				if err != nil {
					t.Error(err)
					return
				}
				want := r.Messages[0].Content
				if d.Label != nil {
					want = d.Label(want)
				}
				if got.Text != want {
					t.Errorf("got the answer to another question: %q for %q", got.Text, r.Messages[0].Content)
					return
				}
			}
		})
	}
	wg.Wait()
}
