package wire_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench/internal/dialect/wire"
	"github.com/orbench/orbench/model"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name   string
		header map[string]string
		want   time.Duration
	}{
		{"nothing", nil, 0},
		{"seconds", map[string]string{"Retry-After": "20"}, 20 * time.Second},
		{"part of a second", map[string]string{"Retry-After": "0.5"}, 500 * time.Millisecond},
		{"date", map[string]string{"Retry-After": "Sun, 01 Mar 2026 12:01:30 GMT"}, 90 * time.Second},
		{"date by a clock that is ahead", map[string]string{"Retry-After": "Sun, 01 Mar 2026 13:01:30 GMT", "Date": "Sun, 01 Mar 2026 13:01:00 GMT"}, 30 * time.Second},
		{"reset by a clock that is ahead", map[string]string{"X-RateLimit-Reset": fmt.Sprint(now.Add(time.Hour + time.Minute).Unix()), "Date": now.Add(time.Hour).Format(http.TimeFormat)}, time.Minute},
		{"date in the past", map[string]string{"Retry-After": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0},
		{"milliseconds first", map[string]string{"Retry-After-Ms": "1500", "Retry-After": "20"}, 1500 * time.Millisecond},
		{"negative", map[string]string{"Retry-After": "-5"}, 0},
		{"not a number", map[string]string{"Retry-After": "NaN"}, 0},
		{"endless", map[string]string{"Retry-After": "1e300"}, 24 * time.Hour},
		{"words", map[string]string{"Retry-After": "in a while"}, 0},
		{"requests used up", map[string]string{
			"X-RateLimit-Remaining-Requests": "0", "X-RateLimit-Reset-Requests": "1m30s",
			"X-RateLimit-Remaining-Tokens": "50", "X-RateLimit-Reset-Tokens": "1h",
		}, 90 * time.Second},
		{"both used up", map[string]string{
			"X-RateLimit-Remaining-Requests": "0", "X-RateLimit-Reset-Requests": "20ms",
			"X-RateLimit-Remaining-Tokens": "0", "X-RateLimit-Reset-Tokens": "6s",
		}, 6 * time.Second},
		{"reset as milliseconds of an epoch", map[string]string{"X-RateLimit-Reset": fmt.Sprint(now.Add(time.Minute).UnixMilli())}, time.Minute},
		{"reset as seconds of an epoch", map[string]string{"X-RateLimit-Reset": fmt.Sprint(now.Add(time.Minute).Unix())}, time.Minute},
		{"reset as a wait", map[string]string{"X-RateLimit-Reset": "12"}, 12 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			for name, value := range tt.header {
				h.Set(name, value)
			}
			if got := wire.RetryAfter(h, now); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestAllowance(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	left := func(n int, reset time.Duration) model.Window { return model.Window{Remaining: n, Reset: reset} }
	for _, tt := range []struct {
		name   string
		header map[string]string
		want   *model.Allowance
	}{
		{"nothing", map[string]string{"Date": "Sun, 01 Mar 2026 12:00:00 GMT"}, nil},
		{"OpenAI", map[string]string{
			"X-RateLimit-Remaining-Requests": "14", "X-RateLimit-Reset-Requests": "4s",
			"X-RateLimit-Remaining-Tokens": "1999", "X-RateLimit-Reset-Tokens": "6m0s",
		}, &model.Allowance{Requests: left(14, 4*time.Second), Tokens: left(1999, 6*time.Minute)}},
		{"Anthropic by its own clock", map[string]string{
			"Anthropic-RateLimit-Requests-Remaining": "49", "Anthropic-RateLimit-Requests-Reset": "2026-03-01T13:00:30Z",
			"Anthropic-RateLimit-Tokens-Remaining": "0", "Anthropic-RateLimit-Tokens-Reset": "2026-03-01T13:01:00Z",
			"Date": "Sun, 01 Mar 2026 13:00:00 GMT",
		}, &model.Allowance{Requests: left(49, 30*time.Second), Tokens: left(0, time.Minute)}},
		{"one field", map[string]string{"RateLimit": `"default";r=50;t=30`}, &model.Allowance{Requests: left(50, 30*time.Second)}},
		{"one field, before", map[string]string{"RateLimit": "limit=100, Remaining=50, reset=30"}, &model.Allowance{Requests: left(50, 30*time.Second)}},
		{"three fields", map[string]string{"RateLimit-Remaining": "5", "RateLimit-Reset": "30"}, &model.Allowance{Requests: left(5, 30*time.Second)}},
		{"a Unix time", map[string]string{"X-RateLimit-Remaining": "5", "X-RateLimit-Reset": fmt.Sprint(now.Add(time.Minute).UnixMilli())}, &model.Allowance{Requests: left(5, time.Minute)}},
		{"the first that is whole", map[string]string{"X-RateLimit-Remaining-Requests": "14", "RateLimit-Remaining": "5", "RateLimit-Reset": "30"}, &model.Allowance{Requests: left(5, 30*time.Second)}},
		{"negative", map[string]string{"RateLimit-Remaining": "-5", "RateLimit-Reset": "30"}, &model.Allowance{Requests: left(0, 30*time.Second)}},
		{"endless", map[string]string{"RateLimit-Remaining": "1e300", "RateLimit-Reset": "1e300"}, &model.Allowance{Requests: left(1e9, 24*time.Hour)}},
		{"words", map[string]string{"RateLimit-Remaining": "many", "RateLimit-Reset": "30", "X-RateLimit-Remaining": "3", "X-RateLimit-Reset": "soon"}, nil},
		{"a reset that is over", map[string]string{"RateLimit-Remaining": "3", "RateLimit-Reset": "0"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			for name, value := range tt.header {
				h.Set(name, value)
			}
			if d := cmp.Diff(tt.want, wire.Allowance(h, now)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("Retry-After", "7")
	f.Add("Retry-After", "Sun, 01 Mar 2026 12:01:30 GMT")
	f.Add("X-RateLimit-Reset", "1.7e12")
	f.Fuzz(func(t *testing.T, name, value string) {
		h := http.Header{http.CanonicalHeaderKey(name): {value}}
		if got := wire.RetryAfter(h, time.Unix(1_800_000_000, 0)); got < 0 || got > 24*time.Hour {
			t.Errorf("%q %q gives %v", name, value, got)
		}
		if got := wire.Allowance(h, time.Unix(1_800_000_000, 0)); got != nil && (got.Requests.Remaining < 0 || got.Requests.Reset <= 0) {
			t.Errorf("%q %q gives %+v", name, value, got)
		}
	})
}

func TestCap(t *testing.T) {
	t.Parallel()
	const of100 = 1<<20 + 100*256
	for _, tt := range []struct {
		size, tokens int
		want         string
	}{
		{0, 0, ""},
		{wire.MaxReply - 1, 0, ""},
		{wire.MaxReply, 0, ""},
		{wire.MaxReply + 1, 0, "the reply is longer than 4194304 bytes"},
		{wire.MaxReply + 5000, 1 << 62, "the reply is longer than 4194304 bytes, too long for the limit"},
		{of100, 100, ""},
		{of100 + 1, 100, "the reply is longer than 1074176 bytes, too long for the limit of 100 tokens"},
	} {
		t.Run(fmt.Sprint(tt.size), func(t *testing.T) {
			t.Parallel()
			body := bytes.Repeat([]byte("x"), tt.size)
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(body) }))
			t.Cleanup(srv.Close)
			reply, err := wire.Post(wire.ForTokens(t.Context(), tt.tokens), wire.Client(nil), srv.URL, nil)
			if tt.want != "" {
				if _, ok := errors.AsType[wire.TooLargeError](err); !ok || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got the error %v, want %s", err, tt.want)
				}
				return
			}
			if err != nil || len(reply.Body) != tt.size || !reply.OK() {
				t.Errorf("read %d bytes of %d with the status %d, %v", len(reply.Body), tt.size, reply.Status, err)
			}
		})
	}
}

// Headers past their bound end the call.
func TestHeaderCap(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 2*wire.MaxHeader))
	}))
	t.Cleanup(srv.Close)
	if _, err := wire.Post(t.Context(), wire.Client(nil), srv.URL, nil); err == nil || !strings.Contains(err.Error(), "headers exceeded 65536 bytes") {
		t.Errorf("got %v", err)
	}
}

// Long replies that are read and not yet stored wait for each other, and short ones do
// not wait for them.
func TestLongRepliesInFlight(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			w.Write(make([]byte, 1<<20))
		}
	}))
	t.Cleanup(srv.Close)
	c := wire.Client(nil)
	const fit = model.MaxInFlight / (8 * wire.MaxReply)
	var stored []func()
	for range fit {
		ctx, release := model.Hold(t.Context())
		defer release()
		stored = append(stored, release)
		if _, err := wire.Post(ctx, c, srv.URL+"/long", nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := wire.Post(t.Context(), c, srv.URL+"/short", nil); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := wire.Post(ctx, c, srv.URL+"/long", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one too many ends with %v", err)
	}
	stored[0]()
	for range 3 {
		if _, err := wire.Post(t.Context(), c, srv.URL+"/long", nil); err != nil {
			t.Error(err)
		}
	}
}

func TestClientLeavesBaseAlone(t *testing.T) {
	t.Parallel()
	base := &http.Client{Timeout: time.Minute}
	c := wire.Client(base)
	if base.Transport != nil || base.CheckRedirect != nil {
		t.Error("the given client was changed")
	}
	if c.Timeout != base.Timeout {
		t.Error("the given client's timeout was lost")
	}
}

func TestFailure(t *testing.T) {
	t.Parallel()
	const secret = "sk-12345"
	for _, tt := range []struct {
		name string
		err  error
		kind model.Kind
	}{
		{"deadline", fmt.Errorf("asking with %s: %w", secret, context.DeadlineExceeded), model.Timeout},
		{"broken", fmt.Errorf("malformed reply %q", secret), model.Transient},
		{"no address", &url.Error{Op: "parse", URL: secret, Err: errors.New("invalid port")}, model.Invalid},
		{"too large", fmt.Errorf("%s: %w", secret, wire.TooLargeError("the reply is longer than 5 bytes")), model.Invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := wire.Failure("p", "m", tt.err, "", secret)
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != tt.kind || e.Provider != "p" || e.Model != "m" {
				t.Fatalf("got %#v, want kind %s", err, tt.kind)
			}
			for cause := error(e); cause != nil; cause = errors.Unwrap(cause) {
				if strings.Contains(cause.Error(), secret) {
					t.Errorf("the secret is in %q", cause)
				}
			}
		})
	}
	t.Run("canceled", func(t *testing.T) {
		t.Parallel()
		err := wire.Failure("p", "m", fmt.Errorf("with %s: %w", secret, context.Canceled), secret)
		if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), secret) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("endless text", func(t *testing.T) {
		t.Parallel()
		err := wire.Failure("p", "m", errors.New(strings.Repeat("x", 1<<20)), secret)
		if n := len(err.Error()); n > 2000 {
			t.Errorf("the error is %d bytes long", n)
		}
	})
	t.Run("without a secret", func(t *testing.T) {
		t.Parallel()
		cause := errors.New("connection refused")
		if err := wire.Failure("p", "m", cause, secret); !errors.Is(err, cause) {
			t.Errorf("got %v, want its cause kept", err)
		}
	})
}

// A long reply of values that take many times their length once they are read is
// refused; texts may hold as many brackets and commas as they like.
func TestCheckValues(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reply string
		fails bool
	}{
		"objects": {"[{}" + strings.Repeat(",{}", 150_000) + "]", true},
		"numbers": {"[0" + strings.Repeat(",0", 150_000) + "]", false},
		"text":    {`{"text": "\"` + strings.Repeat(`{,[\\`, 150_000) + `"}`, false},
		"short":   {strings.Repeat("{", 60_000), false},
	} {
		err := wire.CheckValues([]byte(tt.reply))
		if _, ok := errors.AsType[wire.TooLargeError](err); ok != tt.fails {
			t.Errorf("%s: %v", name, err)
		}
	}
}
