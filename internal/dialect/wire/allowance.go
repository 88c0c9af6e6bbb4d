package wire

import (
	"net/http"
	"strings"
	"time"

	"github.com/orbench/orbench/model"
)

// Allowance reads how much a provider says that it will take from now on, and until
// when; nil where it does not say. It knows
//
//   - X-RateLimit-Remaining-Requests and -Tokens, with X-RateLimit-Reset-Requests and
//     -Tokens as durations such as "6m0s" (OpenAI, Groq, Azure);
//   - Anthropic-RateLimit-Requests-Remaining and -Tokens-Remaining, with -Reset in their
//     place as a time of RFC 3339;
//   - RateLimit, as of the IETF's draft-ietf-httpapi-ratelimit-headers, such as
//     "default";r=50;t=30 or limit=100, remaining=50, reset=30;
//   - RateLimit-Remaining and X-RateLimit-Remaining, of requests, with -Reset in their
//     place in seconds, or as a Unix time in seconds or milliseconds.
//
// Times of day are by the clock of the reply's own Date, as in RetryAfter.
func Allowance(h http.Header, now time.Time) *model.Allowance {
	var a model.Allowance
	window := func(into *model.Window, remaining, reset string) {
		if remaining == "" || into.Reset > 0 {
			return
		}
		left, ok := number(remaining)
		if wait := until(reset, clock(h, now)); ok && wait > 0 {
			*into = model.Window{Remaining: int(min(max(left, 0), 1e9)), Reset: wait}
		}
	}
	window(&a.Requests, h.Get("X-Ratelimit-Remaining-Requests"), h.Get("X-Ratelimit-Reset-Requests"))
	window(&a.Tokens, h.Get("X-Ratelimit-Remaining-Tokens"), h.Get("X-Ratelimit-Reset-Tokens"))
	window(&a.Requests, h.Get("Anthropic-Ratelimit-Requests-Remaining"), h.Get("Anthropic-Ratelimit-Requests-Reset"))
	window(&a.Tokens, h.Get("Anthropic-Ratelimit-Tokens-Remaining"), h.Get("Anthropic-Ratelimit-Tokens-Reset"))
	if both := h.Get("Ratelimit"); both != "" {
		window(&a.Requests, parameter(both, "r", "remaining"), parameter(both, "t", "reset"))
	}
	window(&a.Requests, h.Get("Ratelimit-Remaining"), h.Get("Ratelimit-Reset"))
	window(&a.Requests, h.Get("X-Ratelimit-Remaining"), h.Get("X-Ratelimit-Reset"))
	if a == (model.Allowance{}) {
		return nil
	}
	return &a
}

// until reads a time from now on: a duration, a time of RFC 3339, or a number as
// X-RateLimit-Reset has it; 0 for any other text.
func until(s string, now time.Time) time.Duration {
	if n, ok := number(s); ok {
		return reset(n, now)
	}
	if d, err := time.ParseDuration(s); err == nil {
		return clampWait(d.Seconds())
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return clampWait(at.Sub(now).Seconds())
	}
	return 0
}

// parameter is the value of the first parameter of a field that has one of the names.
func parameter(field string, names ...string) string {
	for part := range strings.FieldsFuncSeq(field, func(r rune) bool { return r == ';' || r == ',' }) {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		for _, n := range names {
			if strings.EqualFold(name, n) {
				return value
			}
		}
	}
	return ""
}
