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
			if err := r.WaitN(ctx, n); err != nil {
				t.Error(err)
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
		if err := third.WaitN(impatient, 1); err == nil || err.Error() != "too long" {
			t.Errorf("got %v", err)
		}
		use(t.Context(), third, 1, 3*time.Second)
		use(t.Context(), one, 1, 3*time.Second)
		// More than a second's worth at once.
		use(t.Context(), other, 10, 4*time.Second)
		use(t.Context(), one, 1, 9*time.Second)
		fault = gone
		if err := newRate().WaitN(t.Context(), 1); !errors.Is(err, gone) {
			t.Errorf("got %v", err)
		}
	})
}

// TestLeasedBudget has two processes spend 1,000 tokens and 10 requests: each takes what it
// needs, more of what was used up within a second, and never more than is left.
func TestLeasedBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var taken Budget
		gone := errors.New("the store is gone")
		var fault error
		newShared := func() *LeasedBudget {
			return NewLeasedBudget(Budget{Requests: 10, Tokens: 1000}, func(_ context.Context, change func(Budget) Budget) error {
				if fault != nil {
					return fault
				}
				taken = change(taken)
				return nil
			})
		}
		one, other := newShared(), newShared()
		take := func(p *LeasedBudget, least, want, all Budget) {
			t.Helper()
			got, err := p.Take(t.Context(), least)
			if err != nil || got != want || taken != all {
				t.Errorf("got %+v, %v, and %+v is taken; want %+v and %+v", got, err, taken, want, all)
			}
		}
		take(one, Budget{Requests: 1, Tokens: 10}, Budget{Requests: 1, Tokens: 10}, Budget{Requests: 1, Tokens: 10})
		take(one, Budget{Tokens: 5}, Budget{Tokens: 20}, Budget{Requests: 1, Tokens: 30})
		// A lease is a part of what is left at most.
		take(one, Budget{Tokens: 5}, Budget{Tokens: 30}, Budget{Requests: 1, Tokens: 60})
		time.Sleep(2 * leaseTime)
		take(one, Budget{Tokens: 5}, Budget{Tokens: 29}, Budget{Requests: 1, Tokens: 89})
		time.Sleep(5 * leaseTime)
		take(one, Budget{Tokens: 5}, Budget{Tokens: 14}, Budget{Requests: 1, Tokens: 103})
		take(other, Budget{Requests: 9, Tokens: 800}, Budget{Requests: 9, Tokens: 800}, Budget{Requests: 10, Tokens: 903})
		take(one, Budget{Requests: 1}, Budget{}, Budget{Requests: 10, Tokens: 903})
		take(one, Budget{Tokens: 98}, Budget{}, Budget{Requests: 10, Tokens: 903})
		if err := other.Give(t.Context(), Budget{Requests: 2, Tokens: 700}); err != nil || taken != (Budget{Requests: 8, Tokens: 203}) {
			t.Errorf("%v, and %+v is taken", err, taken)
		}
		fault = gone
		if got, err := one.Take(t.Context(), Budget{Tokens: 1}); !errors.Is(err, gone) || got != (Budget{}) {
			t.Errorf("got %+v, %v", got, err)
		}
		if err := one.Give(t.Context(), Budget{Tokens: 1}); !errors.Is(err, gone) {
			t.Errorf("got %v", err)
		}
	})
}
