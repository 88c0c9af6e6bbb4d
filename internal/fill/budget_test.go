package fill

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// TestBudget takes and gives back, a dollar for each token.
func TestBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tariff := price.Price{Input: 1e6, Output: 1e6}
		a, other := model.Ref{Provider: "p", Model: "a"}, model.Ref{Provider: "p", Model: "b"}
		most := model.Usage{Input: 1, Output: 2}
		b := newBudget(Budget{USD: 12, Requests: 6}, nil)
		take := func(of model.Ref) (r reservation, err error) {
			err = errors.New("waits")
			ctx, stop := context.WithCancelCause(t.Context())
			go func() { r, err = b.reserve(ctx, of, tariff, most, true) }()
			synctest.Wait()
			stop(errors.New("stopped"))
			synctest.Wait()
			return r, err
		}
		want := func(what string, err error, text string) {
			t.Helper()
			if got := ""; err != nil && err.Error() != text || err == nil && text != got {
				t.Errorf("%s: got %v, want %q", what, err, text)
			}
		}
		first, err := take(a)
		want("the first call", err, "")
		b.cancel(first)
		first, err = take(a)
		want("another in its place", err, "")
		_, err = take(a)
		want("a second before the first has ended", err, "stopped")
		_, err = take(other)
		want("the first of another model", err, "")
		want("twice the reservation is not beyond belief", b.answer(first, model.Usage{Input: 4, Output: 2}), "")
		// $6 are spent and $3 reserved, and what the model took beyond its bound is reckoned with.
		_, err = take(a)
		want("$6 more, of which 3 may come back", err, "stopped")
		second := reservation{of: other, tariff: tariff, most: most, usage: most, cost: Budget{Requests: 1, Tokens: 3, USD: 3}}
		b.fail(second, &model.Error{Kind: model.Timeout})
		_, err = take(a)
		want("too dear", err, "stopped by `max-cost=12`: $9.0000 spent (of it up to $3.0000 for 1 failed attempt), and the next call could cost up to $6.0000")
		third, err := take(other)
		want("as much as is left", err, "")
		b.cancel(third)
		var s Stats
		if b.into(&s); s.Requests != 2 || s.USD != 6 || s.FailedUSD != 3 || s.Charged != 1 || b.reserved != (Budget{}) {
			t.Errorf("%+v, %+v reserved", s, b.reserved)
		}
		fourth, err := take(other)
		want("what was given back", err, "")
		b.fail(fourth, &model.Error{Kind: model.RateLimited})
		if b.into(&s); s.FailedUSD != 3 || s.Charged != 1 {
			t.Errorf("a reject is charged: %+v", s)
		}
		fifth, err := take(other)
		want("what a reject left", err, "")
		err = b.answer(fifth, model.Usage{Input: 1, Output: 6})
		want("more than twice", err, "a reply used 1 input and 6 output tokens, but at most 1 and 2 were expected ($7.0000 instead of $3.0000), so `max-cost` cannot be kept; raise `max-tokens`, or leave `max-cost` out")
		if got := b.models[other].excess; got != (model.Usage{Output: 4}) {
			t.Errorf("the excess is %+v", got)
		}
		_, err = take(other)
		want("after that", err, "stopped by `max-cost=12`: $16.0000 spent (of it up to $3.0000 for 1 failed attempt), and the next call could cost up to $7.0000")
	})
	t.Run("nothing failed", func(t *testing.T) {
		t.Parallel()
		_, err := newBudget(Budget{USD: 1}, nil).reserve(t.Context(), model.Ref{}, price.Price{Input: 1e6}, model.Usage{Input: 2}, true)
		if err == nil || err.Error() != "stopped by `max-cost=1`: $0.0000 spent, and the next call could cost up to $2.0000" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("requests", func(t *testing.T) {
		t.Parallel()
		b := newBudget(Budget{Requests: 1}, nil)
		most := model.Usage{Input: 1, Output: 1}
		r, err := b.reserve(t.Context(), model.Ref{}, price.Price{Input: 1}, most, true)
		if err != nil {
			t.Fatal(err)
		}
		// The reservation is open, but requests do not come back.
		if _, err := b.reserve(t.Context(), model.Ref{}, price.Price{}, most, true); err == nil || err.Error() != "stopped by `max-requests=1`: 1 request sent" {
			t.Errorf("got %v", err)
		}
		// Without a bound of tokens or money no usage is beyond belief.
		if err := b.answer(r, model.Usage{Input: math.MaxInt32}); err != nil {
			t.Error(err)
		}
	})
	t.Run("tokens", func(t *testing.T) {
		t.Parallel()
		b := newBudget(Budget{Tokens: 20}, nil)
		most := model.Usage{Input: 4, Output: 6}
		take := func() reservation {
			t.Helper()
			r, err := b.reserve(t.Context(), model.Ref{}, price.Price{}, most, true)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if err := b.answer(take(), model.Usage{Input: 3, Output: 1}); err != nil {
			t.Error(err)
		}
		// Whatever the price, what failed may have used all that it could.
		b.fail(take(), &model.Error{Kind: model.Timeout})
		_, err := b.reserve(t.Context(), model.Ref{}, price.Price{}, most, true)
		if err == nil || err.Error() != "stopped by `max-total-tokens=20`: 14 tokens used (of it up to 10 for 1 failed attempt), and the next call could use up to 10" {
			t.Errorf("got %v", err)
		}
		// All of the tokens that are left may be used.
		b = newBudget(Budget{Tokens: 10, USD: 1}, nil)
		_, err = b.reserve(t.Context(), model.Ref{}, price.Price{Input: 1e6}, most, true)
		if err == nil || err.Error() != "stopped by `max-cost=1`: $0.0000 spent, and the next call could cost up to $4.0000" {
			t.Errorf("got %v", err)
		}
		if err := b.answer(take(), model.Usage{Input: 10, Output: 10}); err != nil {
			t.Errorf("twice the reservation is beyond belief: %v", err)
		}
		b = newBudget(Budget{Tokens: 100}, nil)
		err = b.answer(take(), model.Usage{Input: 4, Output: 30})
		if err == nil || err.Error() != "a reply used 4 input and 30 output tokens, but at most 4 and 6 were expected, so `max-total-tokens` cannot be kept; raise `max-tokens`, or leave `max-total-tokens` out" {
			t.Errorf("got %v", err)
		}
	})
}

// What was spent before counts, of each bound, and is said.
func TestBudgetSpentBefore(t *testing.T) {
	t.Parallel()
	most, tariff := model.Usage{Input: 4, Output: 6}, price.Price{Input: 1e6}
	for _, tt := range []struct {
		limits, before Budget
		calls          int
		text           string
	}{
		{Budget{Requests: 5}, Budget{Requests: 3, Tokens: 99, USD: 99}, 2, "stopped by `max-requests=5`: 5 requests sent, 3 of them before"},
		{Budget{Tokens: 35}, Budget{Tokens: 15}, 2, "stopped by `max-total-tokens=35`: 35 tokens used, 15 of them before, and the next call could use up to 10"},
		{Budget{USD: 9}, Budget{USD: 4}, 1, "stopped by `max-cost=9`: $8.0000 spent, $4.0000 of it before, and the next call could cost up to $4.0000"},
		{Budget{USD: 3}, Budget{USD: 4}, 0, "stopped by `max-cost=3`: $4.0000 spent, $4.0000 of it before, and the next call could cost up to $4.0000"},
		{Budget{Requests: 1}, Budget{Requests: 1}, 0, "stopped by `max-requests=1`: 1 request sent, 1 of them before"},
	} {
		a := NewAccount(nil, "", time.Time{}, false)
		if err := a.SetBefore(t.Context(), tt.before, false); err != nil {
			t.Fatal(err)
		}
		b := newBudget(tt.limits, a)
		for range tt.calls {
			r, err := b.reserve(t.Context(), model.Ref{}, tariff, most, true)
			if err != nil {
				t.Fatalf("%+v of %+v: %v", tt.before, tt.limits, err)
			}
			if err := b.answer(r, most); err != nil {
				t.Error(err)
			}
		}
		_, err := b.reserve(t.Context(), model.Ref{}, tariff, most, true)
		if err == nil || err.Error() != tt.text {
			t.Errorf("%+v of %+v: got %v, want %s", tt.before, tt.limits, err, tt.text)
		}
		var s Stats
		if b.into(&s); s.Requests != tt.calls {
			t.Errorf("%d requests of this command are counted, want %d", s.Requests, tt.calls)
		}
		left := tt.limits.Left(tt.before)
		if (tt.calls == 0) != tt.limits.Exhausted(tt.before) || tt.limits.Tokens == 0 && left.Tokens != 0 {
			t.Errorf("%+v of %+v: %+v is left", tt.before, tt.limits, left)
		}
	}
}

// ledger has the shares of an account.
type ledger struct {
	mu    sync.Mutex
	all   map[string]store.Share
	fault error
}

func (l *ledger) ChangeShares(_ context.Context, _ string, _ time.Duration, change func([]store.Share) ([]store.Share, []string)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault != nil {
		return l.fault
	}
	put, drop := change(l.shares())
	for _, id := range drop {
		delete(l.all, id)
	}
	for _, s := range put {
		l.all[s.ID] = s
	}
	return nil
}

func (l *ledger) shares() []store.Share {
	return slices.SortedFunc(maps.Values(l.all), func(a, b store.Share) int { return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.ID, b.ID)) })
}

// TestAccount has two processes spend on one account, a dollar for each token: what one holds is
// waited for by the other, what it did not spend comes back, and what is said to be spent is what
// both have.
func TestAccount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tariff, of, most := price.Price{Input: 1e6, Output: 1e6}, model.Ref{Model: "m"}, model.Usage{Input: 1, Output: 2}
		limits := Budget{Requests: 5, Tokens: 12, USD: 12}
		l := &ledger{all: map[string]store.Share{}}
		open := func() *budget {
			a := NewAccount(l, "study", time.Now().UTC(), false)
			if err := a.Open(t.Context(), nil, true); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
			return newBudget(limits, a)
		}
		one, other := open(), open()
		for _, b := range []*budget{one, other} {
			if err := b.account.SetBefore(t.Context(), Budget{Requests: 1, Tokens: 3, USD: 3}, false); err != nil {
				t.Fatal(err)
			}
		}
		take := func(b *budget) reservation {
			t.Helper()
			r, err := b.reserve(t.Context(), of, tariff, most, true)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		answer := func(b *budget, r reservation, usage model.Usage) {
			t.Helper()
			if err := b.answer(r, usage); err != nil {
				t.Error(err)
			}
			b.stored(tariff, usage)
		}
		taken := func(want Budget) {
			t.Helper()
			if got := Taken(l.shares()); got != want {
				t.Errorf("%+v is taken, want %+v", got, want)
			}
		}
		first, second := take(one), take(other)
		taken(Budget{3, 9, 9})
		answer(one, first, most)
		third := take(one)
		taken(Budget{4, 12, 12})
		// Nothing is left, and may come back: it is waited for.
		var fourth reservation
		began := time.Now()
		go func() {
			time.Sleep(5 * time.Second)
			answer(other, second, model.Usage{Input: 1})
			answer(one, third, model.Usage{Input: 1, Output: 1})
		}()
		if fourth = take(one); time.Since(began) < 5*time.Second {
			t.Error("more is spent than is left")
		}
		answer(one, fourth, model.Usage{Input: 1})
		for i, b := range []*budget{one, other} {
			_, err := b.reserve(t.Context(), of, tariff, most, true)
			want := []string{"stopped by `max-requests=5`: 5 requests sent, 1 of them before, 1 of them by others at the same time", "stopped by `max-requests=5`: 5 requests sent, 1 of them before, 3 of them by others at the same time"}[i]
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
			if err := b.giveBack(t.Context()); err != nil {
				t.Error(err)
			}
		}
		taken(Budget{5, 10, 10})
		l.fault = errors.New("the store is gone")
		if _, err := newBudget(limits, NewAccount(l, "study", time.Now(), false)).reserve(t.Context(), of, tariff, most, true); !errors.Is(err, l.fault) {
			t.Errorf("got %v", err)
		}
		if err := one.giveBack(t.Context()); !errors.Is(err, l.fault) {
			t.Errorf("got %v", err)
		}
	})
}

// TestAccountOfTheKilled counts what a process held that ended without a word as spent, once it
// has been noted as part of what was spent before, and lets one that was taken for dead go on.
func TestAccountOfTheKilled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tariff, of, most := price.Price{Input: 1e6, Output: 1e6}, model.Ref{Model: "m"}, model.Usage{Input: 1, Output: 2}
		l := &ledger{all: map[string]store.Share{}}
		frozen := newBudget(Budget{USD: 100}, NewAccount(l, "study", time.Now().UTC(), false))
		ask := func(b *budget) {
			t.Helper()
			r, err := b.reserve(t.Context(), of, tariff, most, true)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.answer(r, model.Usage{Input: 1}); err != nil {
				t.Error(err)
			}
			b.stored(tariff, model.Usage{Input: 1})
		}
		ask(frozen)
		dead := l.shares()[0]
		dead.Live = false
		l.all[dead.ID] = dead
		held := Taken([]store.Share{dead})
		if held.USD < 3 {
			t.Errorf("%+v is held for a call of $3", held)
		}
		// It stays while nobody has noted it.
		next := NewAccount(l, "study", time.Now().UTC(), false)
		if err := next.Open(t.Context(), nil, true); err != nil || Taken(l.shares()) != held {
			t.Errorf("%v, and %+v is taken, want %+v", err, l.shares(), held)
		}
		delete(l.all, next.mine.ID)
		if err := next.Open(t.Context(), []store.Share{dead}, true); err != nil || Taken(l.shares()) != (Budget{}) {
			t.Errorf("%v, and %+v is left", err, l.shares())
		}
		if err := next.SetBefore(t.Context(), held, false); err != nil {
			t.Error(err)
		}
		if err := next.SetBefore(t.Context(), Budget{}, false); err != nil {
			t.Error(err)
		}
		// The other goes on. What it had kept to be spent is not counted again, but what it had not.
		if err := frozen.giveBack(t.Context()); err != nil {
			t.Error(err)
		}
		ask(frozen)
		if err := frozen.giveBack(t.Context()); err != nil {
			t.Error(err)
		}
		delete(l.all, frozen.account.mine.ID)
		ask(frozen)
		if err := frozen.giveBack(t.Context()); err != nil {
			t.Error(err)
		}
		if got, want := Taken(l.shares()), held.plus(Budget{1, 1, 1}); got != want {
			t.Errorf("%+v is taken, want %+v", got, want)
		}
	})
}
