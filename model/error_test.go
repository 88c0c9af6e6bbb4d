package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/orbench/orbench/model"
)

func TestClip(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text    string
		secrets []string
		want    string
	}{
		"short":             {"bad request", nil, "bad request"},
		"lines":             {"  bad\r\n\trequest\n", nil, "bad request"},
		"invalid UTF-8":     {"caf\xe9", nil, "caf"},
		"a secret, twice":   {"key sk-12345 is not sk-12345", []string{"sk-12345"}, "key [key] is not [key]"},
		"two secrets":       {"abcd efgh", []string{"abcd", "efgh"}, "[key] [key]"},
		"no secret":         {"a b c", []string{""}, "a b c"},
		"a part of a word":  {"the latest test", []string{"test"}, "the latest [key]"},
		"too short to hide": {"a b c", []string{"b"}, "a b c"},
		"just fits":         {strings.Repeat("x", 400), nil, strings.Repeat("x", 400)},
		"long":              {strings.Repeat("x", 401), nil, strings.Repeat("x", 400) + "…"},
		"cut within a rune": {strings.Repeat("x", 399) + "é!", nil, strings.Repeat("x", 399) + "…"},
		"a secret at the cut": {
			strings.Repeat("x", 395) + "sk-12345", []string{"sk-12345"}, strings.Repeat("x", 395) + "[key]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := model.Clip(tt.text, tt.secrets...)
			if got != tt.want || !utf8.ValidString(got) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]*model.Error{
		"the call failed":                {Kind: model.Transient},
		"openai: denied (HTTP 401)":      {Kind: model.Denied, Provider: "openai", Status: 401},
		"openai/m: rate limited: slowly": {Kind: model.RateLimited, Provider: "openai", Model: "m", Message: "slowly", Err: io.EOF},
		"p/m: timeout: EOF":              {Kind: model.Timeout, Provider: "p", Model: "m", Err: io.EOF},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Every kind is tried again, or gives up the model, or fails this call alone.
func TestKinds(t *testing.T) {
	t.Parallel()
	for kind, want := range map[model.Kind]struct{ retryable, fatal bool }{
		model.Invalid: {}, model.Denied: {fatal: true}, model.NotFound: {fatal: true}, model.Quota: {fatal: true}, model.Limited: {fatal: true},
		model.RateLimited: {retryable: true}, model.Transient: {retryable: true}, model.Timeout: {retryable: true},
	} {
		e := &model.Error{Kind: kind}
		if e.Retryable() != want.retryable || e.Fatal() != want.fatal {
			t.Errorf("%s: retryable %v, fatal %v; want %+v", kind, e.Retryable(), e.Fatal(), want)
		}
	}
}

func TestFromTransport(t *testing.T) {
	t.Parallel()
	canceled := fmt.Errorf("get: %w", context.Canceled)
	if err := model.FromTransport("p", "m", canceled); err != canceled {
		t.Errorf("a canceled context became %v", err)
	}
	for kind, cause := range map[model.Kind]error{
		model.Timeout:   fmt.Errorf("get: %w", context.DeadlineExceeded),
		model.Transient: io.ErrUnexpectedEOF,
	} {
		var e *model.Error
		if err := model.FromTransport("p", "m", cause); !errors.As(err, &e) || e.Kind != kind || e.Provider != "p" || e.Model != "m" || !errors.Is(err, cause) {
			t.Errorf("%v became %v", cause, err)
		}
	}
}

func TestKindOfStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]model.Kind{
		400: model.Invalid, 401: model.Denied, 402: model.Quota, 403: model.Denied, 404: model.NotFound, 405: model.Invalid,
		408: model.Timeout, 409: model.Transient, 422: model.Invalid, 425: model.Transient, 429: model.RateLimited,
		500: model.Transient, 503: model.Transient, 504: model.Timeout, 529: model.Transient,
	} {
		if got := model.KindOfStatus(status); got != want {
			t.Errorf("%d is %s, want %s", status, got, want)
		}
	}
}

func TestMayCost(t *testing.T) {
	t.Parallel()
	most := model.Usage{Input: 20, Output: 100}
	input := model.Usage{Input: 20}
	for _, c := range []struct {
		name string
		err  model.Error
		want model.Usage
	}{
		{"never left", model.Error{Kind: model.Timeout, Unsent: true}, model.Usage{}},
		{"too late", model.Error{Kind: model.Timeout}, most},
		{"a gateway's time", model.Error{Kind: model.Timeout, Status: 504}, most},
		{"cut", model.Error{Kind: model.Transient}, most},
		{"fault", model.Error{Kind: model.Transient, Status: 500}, most},
		{"unavailable", model.Error{Kind: model.Transient, Status: 503}, model.Usage{}},
		{"overloaded", model.Error{Kind: model.Transient, Status: 529}, model.Usage{}},
		{"conflict", model.Error{Kind: model.Transient, Status: 409}, model.Usage{}},
		{"too early", model.Error{Kind: model.Transient, Status: 425}, model.Usage{}},
		{"too fast", model.Error{Kind: model.RateLimited, Status: 429}, model.Usage{}},
		{"denied", model.Error{Kind: model.Denied, Status: 401}, model.Usage{}},
		{"no credit", model.Error{Kind: model.Quota, Status: 402}, model.Usage{}},
		{"no such model", model.Error{Kind: model.NotFound, Status: 404}, model.Usage{}},
		{"wrong", model.Error{Kind: model.Invalid, Status: 400}, input},
		{"a reply that is too long", model.Error{Kind: model.Invalid}, most},
		{"an answer that is too long", model.Error{Kind: model.Invalid, Used: model.Usage{Input: 7, Output: 5000}}, model.Usage{Input: 20, Output: 5000}},
	} {
		if got := c.err.MayCost(most); got != c.want {
			t.Errorf("%s may cost %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestBoundedUsage(t *testing.T) {
	t.Parallel()
	got := model.Usage{Input: math.MaxInt, Output: -1, Reasoning: 7, Cached: 10_000_001}.Bounded()
	if want := (model.Usage{Input: 10_000_000, Reasoning: 7, Cached: 10_000_000}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
