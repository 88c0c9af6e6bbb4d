package fill

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/model/openai"
	"github.com/orbench/orbench/model/sim"
)

// TestServersOverHTTP asks real servers: the simulated one with faults on 30% of calls, ten
// times, and two that take 16 calls at once. No call may fail. It takes a minute, so
// ORBENCH_LONG asks for it; with 2, also two that take 600 and 800 calls a minute.
func TestServersOverHTTP(t *testing.T) {
	t.Parallel()
	if os.Getenv("ORBENCH_LONG") == "" {
		t.Skip("ORBENCH_LONG is not set")
	}
	fill := func(t *testing.T, address string, concurrency, calls int) {
		t.Helper()
		m := newStore(t)
		defer closeMemo(t, m)
		f, began := NewLive(m, LiveConfig{}), time.Now()
		lane := f.Lane(model.Ref{}, openai.New(openai.ClientConfig{Provider: "test", BaseURL: address}), Limits{Concurrency: concurrency})
		_, err := lane.fill(t.Context(), requests(sim.Instant, 0, calls), nil)
		s := f.Stats()
		t.Logf("%d calls in %v, %d rejects, %d retries", calls, time.Since(began).Round(time.Millisecond), s.Rejected, s.Retries)
		if err != nil || s.Answered != calls || s.Failed > 0 {
			t.Errorf("%d of %d answered: %v %v", s.Answered, calls, err, s.Reasons)
		}
	}
	for seed := range int64(10) {
		t.Run(fmt.Sprint("faults, seed ", seed), func(t *testing.T) {
			t.Parallel()
			faults, err := sim.ParseFaults(fmt.Sprintf("429=0.06,500=0.06,reset=0.06,truncate=0.06,slow=0.06,filter=0.02,retry-after=1s,seed=%d", seed))
			if err != nil {
				t.Fatal(err)
			}
			s, err := sim.Serve(t.Context(), "127.0.0.1:0", sim.ServerConfig{Faults: faults})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			fill(t, s.BaseURL(), 64, 1319)
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
				fill(t, s.URL, concurrency, 600)
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
			fill(t, s.URL, 64, 3*perMinute)
		})
	}
}
