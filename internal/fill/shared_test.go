package fill

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestSharedRate has three processes use what a rate of 120 a minute allows: leases of two
// a second, at once, one after the other, and not sooner where a wait for one was cut short.
func TestSharedRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		began := time.Now()
		next := began
		gone := errors.New("the store is gone")
		var fault error
		newRate := func() *SharedRate {
			return NewSharedRate(120, func(_ context.Context, by time.Duration) (time.Duration, error) {
				mu.Lock()
				defer mu.Unlock()
				if fault != nil {
					return 0, fault
				}
				from := time.Now()
				if next.After(from) {
					from = next
				}
				next = from.Add(by)
				return time.Until(from), nil
			})
		}
		one, other, third := newRate(), newRate(), newRate()
		use := func(ctx context.Context, r *SharedRate, n int, at time.Duration) {
			t.Helper()
			for range n {
				if err := r.Wait(ctx); err != nil {
					t.Error(err)
				}
			}
			if got := time.Since(began); got != at {
				t.Errorf("used at %v, want %v", got, at)
			}
		}
		use(t.Context(), one, 1, 0)
		use(t.Context(), one, 1, 0)
		use(t.Context(), other, 2, time.Second)
		use(t.Context(), one, 1, 2*time.Second)
		impatient, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, errors.New("too long"))
		defer cancel()
		if err := third.Wait(impatient); err == nil || err.Error() != "too long" {
			t.Errorf("got %v", err)
		}
		use(t.Context(), third, 1, 3*time.Second)
		use(t.Context(), one, 1, 3*time.Second)
		fault = gone
		if err := newRate().Wait(t.Context()); !errors.Is(err, gone) {
			t.Errorf("got %v", err)
		}
	})
}
