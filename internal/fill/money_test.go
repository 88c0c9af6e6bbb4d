package fill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orbench/orbench/internal/dialect/openai"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/model"
)

// dear prices the models of these tests at a tenth of a cent a token.
func dear(t *testing.T) price.Table {
	t.Helper()
	prices, err := price.Default().With(strings.NewReader(`[{"provider":"test","model":"*","input":1000,"output":1000,"as_of":"2026-01-01"}]`), "test")
	if err != nil {
		t.Fatal(err)
	}
	return prices
}

// meter is a server that counts the requests that it took, as one that charges does.
type meter struct {
	*httptest.Server
	served atomic.Int64
}

// metered starts a server whose n-th reply, from 1, is written by reply.
func metered(t *testing.T, reply func(w http.ResponseWriter, r *http.Request, n int)) *meter {
	m := &meter{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A server notices that a client has gone only when it has read the body.
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		reply(w, r, int(m.served.Add(1)))
	}))
	t.Cleanup(m.Close)
	return m
}

// lane is a lane to the server.
func (m *meter) lane(f *Live, concurrency int) *Lane {
	return f.Lane(model.Ref{}, openai.New(openai.ClientConfig{Provider: "test", BaseURL: m.URL, HTTPClient: m.Client()}, openai.Fields{}), Limits{Concurrency: concurrency})
}

// says is a chat completion with a usage, as JSON.
func says(usage string) string {
	return `{"id":"1","model":"m","choices":[{"message":{"content":"yes"},"finish_reason":"stop"}],"usage":` + usage + `}`
}

// What a request of these tests can cost at most: 25 bytes of input (with the message's
// marks) and 10 tokens of output.
const mostOfOne = 0.034

func TestFailedAttemptsCount(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]func(w http.ResponseWriter, r *http.Request, n int){
		// Not all in the same form, which would end it.
		"unreadable": func(w http.ResponseWriter, _ *http.Request, n int) {
			fmt.Fprint(w, []string{"<html>", "{}", `{"choices": [{}]}`}[n%3])
		},
		"cut": func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Content-Length", "900")
			fmt.Fprint(w, "{")
		},
		"server fault": func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusInternalServerError) },
		"too late":     func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newStore(t)
			defer closeMemo(t, m)
			server := metered(t, reply)
			// A busy machine may take longer than the time limit of "too late" to hand a
			// request over: it is charged for though the server never saw it.
			late := name == "too late"
			timeout := time.Minute
			if late {
				timeout = 300 * time.Millisecond
			}
			f := NewLive(m, LiveConfig{Budget: Budget{USD: 0.5}, Prices: dear(t), Timeout: timeout, Backoff: time.Microsecond})
			_, err := server.lane(f, 4).fill(t.Context(), requests("m", 0, 500), nil)
			if _, ok := errors.AsType[*BudgetError](err); !ok || !strings.Contains(err.Error(), "for 14 failed attempts") {
				t.Errorf("got %v, want a budget that 14 attempts used up", err)
			}
			served := server.served.Load()
			if s := f.Stats(); served > 14 || served < 14 && !late || s.Charged != 14 || s.USD != 0 || math.Abs(s.FailedUSD-14*mostOfOne) > 1e-9 {
				t.Errorf("%d requests were served, %+v; want as many as $0.50 pays for", served, s)
			}
		})
	}
}

// always replies with a status.
type always int

func (a always) RoundTrip(r *http.Request) (*http.Response, error) {
	reply := httptest.NewRecorder()
	reply.WriteHeader(int(a))
	return reply.Result(), r.Body.Close()
}

// What the provider refused before the model ran is free, and so is what never left.
func TestRefusedAttemptsAreFree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		usd    float64
	}{
		"too fast": {429, 0}, "unavailable": {503, 0}, "overloaded": {529, 0}, "denied": {401, 0},
		"wrong": {400, 0.024}, // its input may be charged
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// In virtual time: a call that is rejected is tried for more than a minute.
			synctest.Test(t, func(t *testing.T) {
				m := newStore(t)
				defer closeMemo(t, m)
				f := NewLive(m, LiveConfig{Budget: Budget{USD: 0.5}, Prices: dear(t), Attempts: 2, Backoff: time.Microsecond})
				lane := f.Lane(model.Ref{}, openai.New(openai.ClientConfig{
					Provider: "test", BaseURL: "http://localhost", HTTPClient: &http.Client{Transport: always(c.status)},
				}, openai.Fields{}), Limits{Concurrency: 1})
				if _, err := lane.fill(t.Context(), requests("m", 0, 1), nil); !onlyGivenUp(err) {
					t.Error(err)
				}
				if s := f.Stats(); math.Abs(s.FailedUSD-c.usd) > 1e-9 || (s.Charged > 0) != (c.usd > 0) {
					t.Errorf("stats %+v, want failures of $%g", s, c.usd)
				}
			})
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		m := newStore(t)
		defer closeMemo(t, m)
		server := metered(t, nil)
		server.Close()
		f := NewLive(m, LiveConfig{Budget: Budget{USD: 0.5}, Prices: dear(t), Backoff: time.Microsecond})
		if _, err := server.lane(f, 4).fill(t.Context(), requests("m", 0, 100), nil); !onlyGivenUp(err) {
			t.Error(err)
		}
		if s := f.Stats(); s.Charged != 0 || s.FailedUSD != 0 {
			t.Errorf("stats %+v, want nothing charged", s)
		}
	})
}

// A model that is charged for more than it may use is stopped after its first reply,
// which is kept. (What it spent may end the budget too.)
func TestUsageThatContradictsItsLimit(t *testing.T) {
	t.Parallel()
	for name, usage := range map[string]string{
		"more output": `{"prompt_tokens":5,"completion_tokens":5000}`,
		"absurd":      `{"prompt_tokens":9223372036854775807,"completion_tokens":9223372036854775807}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newStore(t)
			defer closeMemo(t, m)
			server := metered(t, func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, says(usage)) })
			f := NewLive(m, LiveConfig{Budget: Budget{USD: 5}, Prices: dear(t)})
			_, err := server.lane(f, 64).fill(t.Context(), requests("m", 0, 500), nil)
			if _, ok := errors.AsType[*UsageError](err); !ok || !strings.Contains(err.Error(), "and 10 were expected") {
				t.Errorf("got %v, want the model given up for its usage", err)
			}
			s := f.Stats()
			if server.served.Load() != 1 || rememberedIn(t, m) != 1 || s.Answered != 1 || s.Requests != 1 || s.Failed != 0 {
				t.Errorf("%d requests were served, %+v; want one, remembered", server.served.Load(), s)
			}
			if s.Usage.Input < 0 || s.Usage.Output < 0 || s.USD <= 5 || s.USD > 20_000 {
				t.Errorf("usage %+v, $%g", s.Usage, s.USD)
			}
		})
	}
}

// Usage somewhat above the bound, as where a server adds words of its own to a prompt,
// raises what later calls reserve.
func TestReservationsFollowUsage(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	defer closeMemo(t, m)
	// An answer costs $0.05 where $0.034 was reserved at first.
	server := metered(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		fmt.Fprint(w, says(`{"prompt_tokens":38,"completion_tokens":12}`))
	})
	f := NewLive(m, LiveConfig{Budget: Budget{USD: 1.01}, Prices: dear(t)})
	_, err := server.lane(f, 16).fill(t.Context(), requests("m", 0, 500), nil)
	if _, ok := errors.AsType[*BudgetError](err); !ok {
		t.Errorf("got %v, want a budget error", err)
	}
	if s := f.Stats(); math.Abs(s.USD-1) > 1e-9 || server.served.Load() != 20 {
		t.Errorf("spent $%g on %d, want $1.00 on 20", s.USD, server.served.Load())
	}
}

// A call that times out is tried three times, however many attempts others have.
func TestTimeoutsHaveALimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newStore(t)
		defer closeMemo(t, m)
		var calls int
		f := NewLive(m, LiveConfig{Timeout: time.Minute, Attempts: 10})
		lane := f.Lane(model.Ref{}, model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
			if calls++; calls == 1 {
				return model.Response{}, &model.Error{Kind: model.Transient, Status: 500}
			}
			<-ctx.Done()
			return model.Response{}, model.FromTransport(r.Provider, r.Model, ctx.Err())
		}), Limits{Concurrency: 1})
		if _, err := lane.fill(t.Context(), requests("m", 0, 1), nil); err != nil {
			t.Error(err)
		}
		if s := f.Stats(); calls != 4 || s.Failed != 1 || s.Charged != 4 || s.Retries != 3 {
			t.Errorf("%d calls, %+v; want a fault and three timeouts", calls, s)
		}
	})
}

// Calls that a second interrupt abandons may have been charged.
func TestAbandonedCallsCount(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	defer closeMemo(t, m)
	ctx, stop := context.WithCancelCause(t.Context())
	abort := make(chan struct{})
	server := metered(t, func(_ http.ResponseWriter, r *http.Request, n int) {
		if n == 3 {
			stop(errors.New("interrupted"))
			close(abort)
		}
		<-r.Context().Done()
	})
	f := NewLive(m, LiveConfig{Prices: dear(t), Abort: abort})
	_, err := server.lane(f, 3).fill(ctx, requests("m", 0, 100), nil)
	if err == nil || err.Error() != "interrupted" {
		t.Errorf("got %v, want the cause", err)
	}
	if s := f.Stats(); s.Charged != 3 || math.Abs(s.FailedUSD-3*mostOfOne) > 1e-9 || s.Failed != 0 {
		t.Errorf("stats %+v, want 3 attempts that may have been charged", s)
	}
}
