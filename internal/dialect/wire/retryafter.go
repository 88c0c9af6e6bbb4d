package wire

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxWait bounds what a provider may ask for, so that a nonsense value cannot
// overflow or stop a run for good.
const maxWait = 24 * time.Hour

// RetryAfter reads how long a provider asked to wait before the next call; 0
// when it did not say. It knows, in this order:
//
//   - Retry-After-Ms in milliseconds (OpenAI, Azure);
//   - Retry-After in seconds or as a date (RFC 9110, section 10.2.3);
//   - X-RateLimit-Reset-Requests and -Tokens as durations such as "6m0s", each
//     where X-RateLimit-Remaining of the same name is 0 (OpenAI, Groq);
//   - X-RateLimit-Reset as a Unix time in milliseconds or seconds, or in seconds
//     from now (OpenRouter and others).
//
// A time of day is by the clock of the reply's own Date, which may differ from ours; now
// stands for it where there is none.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	now = clock(h, now)
	if ms, ok := number(h.Get("Retry-After-Ms")); ok {
		return clampWait(ms / 1e3)
	}
	if v := h.Get("Retry-After"); v != "" {
		if s, ok := number(v); ok {
			return clampWait(s)
		}
		if at, err := http.ParseTime(v); err == nil {
			return clampWait(at.Sub(now).Seconds())
		}
	}
	var wait time.Duration
	for _, what := range []string{"Requests", "Tokens"} {
		left, ok := number(h.Get("X-RateLimit-Remaining-" + what))
		if !ok || left > 0 {
			continue
		}
		if d, err := time.ParseDuration(h.Get("X-RateLimit-Reset-" + what)); err == nil {
			wait = max(wait, clampWait(d.Seconds()))
		}
	}
	if wait > 0 {
		return wait
	}
	at, ok := number(h.Get("X-RateLimit-Reset"))
	if !ok {
		return 0
	}
	return reset(at, now)
}

// reset reads a number that is a Unix time in milliseconds or seconds, or seconds from
// now.
func reset(at float64, now time.Time) time.Duration {
	switch {
	case at > 1e11: // later than 1973 in milliseconds, than 5138 in seconds
		return clampWait(at/1e3 - float64(now.UnixMilli())/1e3)
	case at > 1e8: // more than three years cannot be meant as a wait
		return clampWait(at - float64(now.UnixMilli())/1e3)
	}
	return clampWait(at)
}

// clock is the time of a reply by its sender's clock, or now where it does not say.
func clock(h http.Header, now time.Time) time.Time {
	if at, err := http.ParseTime(h.Get("Date")); err == nil {
		return at
	}
	return now
}

func number(s string) (float64, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return f, err == nil && f == f
}

// clampWait turns seconds into a duration from 0 to maxWait.
func clampWait(seconds float64) time.Duration {
	return time.Duration(min(max(seconds, 0), maxWait.Seconds()) * float64(time.Second))
}
