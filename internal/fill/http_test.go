package fill

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/dialect/openai"
	"github.com/orbench/orbench/internal/sim"
	"github.com/orbench/orbench/model"
)

// What cannot succeed ends at once, and says what is wrong and what to do. A 403 ends nothing
// unless each of the first twenty calls gets one: a guard gives it for single prompts.
func TestWhatCannotSucceed(t *testing.T) {
	t.Parallel()
	answer := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"choices":[{"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]}`))
	}
	status := func(status int, on func(n int64) bool) http.HandlerFunc {
		var n atomic.Int64
		return func(w http.ResponseWriter, r *http.Request) {
			if on(n.Add(1)) {
				http.Error(w, `{"error":{"message":"no, says the house guard"}}`, status)
				return
			}
			answer(w, r)
		}
	}
	always := func(int64) bool { return true }
	secured := func(c *tls.Config) func(http.HandlerFunc) *httptest.Server {
		return func(h http.HandlerFunc) *httptest.Server {
			s := httptest.NewUnstartedServer(h)
			s.Config.ErrorLog, s.TLS = log.New(io.Discard, "", 0), c
			s.StartTLS()
			return s
		}
	}
	open := func(h http.HandlerFunc) *httptest.Server { return httptest.NewServer(h) }
	const calls = 60
	// A lane begins with 32 calls; a few more may begin while the first fails.
	const soon = 40
	for name, tt := range map[string]struct {
		serve   func(http.HandlerFunc) *httptest.Server
		answers http.HandlerFunc
		// from and to change the address, and trusts has its certificate be known.
		from, to string
		trusts   bool
		want     string
		// failed are the calls that fail at most, and answered those that do not.
		failed, answered int
		// concurrency is 1 where answers must come before failures.
		concurrency int
	}{
		"another host":       {secured(nil), answer, "127.0.0.1", "localhost", true, "no usable connection: the certificate is for another host: it is not for localhost; correct the address", soon, 0, 64},
		"unknown authority":  {secured(nil), answer, "", "", false, "the certificate is of an unknown authority: name a file with the authority's in SSL_CERT_FILE", soon, 0, 64},
		"old version":        {secured(&tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS10}), answer, "", "", true, "the server's version of TLS is too old: it must speak TLS 1.2 or newer", soon, 0, 64},
		"client certificate": {secured(&tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12}), answer, "", "", true, "the server refuses the TLS connection: ", soon, 0, 64},
		"no TLS":             {open, answer, "http:", "https:", false, "the server does not speak TLS: give the address with http://", soon, 0, 64},
		"TLS":                {secured(nil), answer, "https:", "http:", false, "sent an HTTP request to an HTTPS server", soon, 0, 64},
		"no scheme":          {open, answer, "http:", "ftp:", false, "the address must begin with https:// or http://", soon, 0, 64},
		"401":                {open, status(401, always), "", "", false, "denied (HTTP 401): no, says", soon, 0, 64},
		"403":                {open, status(403, always), "", "", false, " after 20 failed calls in a row, the last: p/instant: denied (HTTP 403): no, says", 51, 0, 64},
		"one 403":            {open, status(403, func(n int64) bool { return n == 1 }), "", "", false, "", 1, calls - 1, 64},
		"400 of a guard":     {open, status(400, func(n int64) bool { return n > 20 }), "", "", false, "", calls - 20, 20, 1},
		"403 of a guard":     {open, status(403, func(n int64) bool { return n > 20 }), "", "", false, "", calls - 20, 20, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tt.serve(tt.answers)
			defer s.Close()
			c := openai.ClientConfig{Provider: "p", BaseURL: strings.Replace(s.URL, tt.from, tt.to, 1)}
			if tt.trusts {
				c.HTTPClient = s.Client()
			}
			m := newStore(t)
			defer closeMemo(t, m)
			f, began := NewLive(m, LiveConfig{}), time.Now()
			lane := f.Lane(model.Ref{Provider: "p"}, openai.New(c, openai.Fields{}), Limits{Concurrency: tt.concurrency})
			_, err := lane.fill(t.Context(), requests(sim.Instant, 0, calls), nil)
			stats := f.Stats()
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			if err == nil != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if stats.Answered != tt.answered || stats.Failed > tt.failed || stats.Failed+stats.Answered == 0 || stats.Retries > 0 {
				t.Errorf("%d answered, %d failed, %d tried again; want %d and %d at most", stats.Answered, stats.Failed, stats.Retries, tt.answered, tt.failed)
			}
		})
	}
}

// TestServersOverHTTP asks real servers: the simulated one with faults on 30% of calls, ten
// times, and two that take 16 calls at once. No call may fail. It takes a minute, so
// ORBENCH_LONG asks for it; with 2, also two that take 600 and 800 calls a minute.
func TestServersOverHTTP(t *testing.T) {
	t.Parallel()
	if os.Getenv("ORBENCH_LONG") == "" {
		t.Skip("ORBENCH_LONG is not set")
	}
	fill := func(t *testing.T, address string, concurrency, first, calls int) {
		t.Helper()
		m := newStore(t)
		defer closeMemo(t, m)
		f, began := NewLive(m, LiveConfig{}), time.Now()
		lane := f.Lane(model.Ref{}, openai.New(openai.ClientConfig{Provider: "test", BaseURL: address}, openai.Fields{}), Limits{Concurrency: concurrency})
		_, err := lane.fill(t.Context(), requests(sim.Instant, first, first+calls), nil)
		s := f.Stats()
		t.Logf("%d calls in %v, %d rejects, %d retries", calls, time.Since(began).Round(time.Millisecond), s.Rejected, s.Retries)
		if err != nil || s.Answered != calls || s.Failed > 0 {
			t.Errorf("%d of %d answered: %v %v", s.Answered, calls, err, s.Reasons)
		}
	}
	faults, err := sim.ParseFaults("429=0.06,500=0.06,reset=0.06,truncate=0.06,slow=0.06,filter=0.02")
	if err != nil {
		t.Fatal(err)
	}
	// A request's text decides its faults, so each round asks other requests.
	for round := range 10 {
		t.Run(fmt.Sprint("faults, round ", round), func(t *testing.T) {
			t.Parallel()
			s, err := sim.Serve(t.Context(), "127.0.0.1:0", 0, faults)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			fill(t, s.BaseURL(), 64, round*1319, 1319)
		})
	}
	for _, status := range []int{503, 529} {
		for _, concurrency := range []int{64, 128} {
			t.Run(fmt.Sprintf("%d, %d at once", status, concurrency), func(t *testing.T) {
				t.Parallel()
				var busy atomic.Int64
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					defer busy.Add(-1)
					if busy.Add(1) > 16 {
						w.WriteHeader(status)
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					time.Sleep(500 * time.Millisecond)
					_, _ = w.Write([]byte(`{"choices":[{"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]}`))
				}))
				defer s.Close()
				fill(t, s.URL, concurrency, 0, 600)
			})
		}
	}
	if os.Getenv("ORBENCH_LONG") != "2" {
		return
	}
	for _, perMinute := range []int{600, 800} {
		t.Run(fmt.Sprintf("%d a minute", perMinute), func(t *testing.T) {
			t.Parallel()
			limit := &windowed{limit: perMinute, window: time.Minute, slides: true}
			var mu sync.Mutex
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				ok, _, _ := limit.take(time.Now())
				mu.Unlock()
				if !ok {
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				time.Sleep(300 * time.Millisecond)
				_, _ = w.Write([]byte(`{"choices":[{"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}]}`))
			}))
			defer s.Close()
			fill(t, s.URL, 64, 0, 3*perMinute)
		})
	}
}
