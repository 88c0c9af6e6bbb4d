package fill

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"

	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/model"
)

// TestBudget takes and gives back, a dollar for each token.
func TestBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tariff := price.Price{Input: 1e6, Output: 1e6}
		a, other := model.Ref{Provider: "p", Model: "a"}, model.Ref{Provider: "p", Model: "b"}
		most := model.Usage{Input: 1, Output: 2}
		b := newBudget(Budget{USD: 12, Requests: 6}, Budget{}, nil)
		take := func(of model.Ref) (r reservation, err error) {
			err = errors.New("waits")
			ctx, stop := context.WithCancelCause(t.Context())
			go func() { r, err = b.reserve(ctx, of, tariff, most) }()
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
		second := reservation{of: other, tariff: tariff, most: most, usage: most, cost: Budget{Tokens: 3, USD: 3}}
		b.fail(second, &model.Error{Kind: model.Timeout})
		_, err = take(a)
		want("too dear", err, "stopped by `max-cost` 12: $9.0000 spent (of it up to $3.0000 for 1 failed attempt), and the next call could cost up to $6.0000")
		third, err := take(other)
		want("as much as is left", err, "")
		b.cancel(third)
		var s Stats
		if b.into(&s); s.Requests != 2 || s.USD != 6 || s.FailedUSD != 3 || s.Charged != 1 || b.reserved != (Budget{}) || b.open != 0 {
			t.Errorf("%+v, %+v reserved for %d", s, b.reserved, b.open)
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
		want("more than twice", err, "a reply is charged with 1 input and 6 output tokens where at most 1 and 2 were reckoned with ($7.0000 in place of $3.0000), so `max-cost` cannot be kept; raise `max-tokens`, or leave `max-cost` out")
		if got := b.models[other].excess; got != (model.Usage{Output: 4}) {
			t.Errorf("the excess is %+v", got)
		}
		_, err = take(other)
		want("after that", err, "stopped by `max-cost` 12: $16.0000 spent (of it up to $3.0000 for 1 failed attempt), and the next call could cost up to $7.0000")
	})
	t.Run("nothing failed", func(t *testing.T) {
		t.Parallel()
		_, err := newBudget(Budget{USD: 1}, Budget{}, nil).reserve(t.Context(), model.Ref{}, price.Price{Input: 1e6}, model.Usage{Input: 2})
		if err == nil || err.Error() != "stopped by `max-cost` 1: $0.0000 spent, and the next call could cost up to $2.0000" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("requests", func(t *testing.T) {
		t.Parallel()
		b := newBudget(Budget{Requests: 1}, Budget{}, nil)
		most := model.Usage{Input: 1, Output: 1}
		r, err := b.reserve(t.Context(), model.Ref{}, price.Price{Input: 1}, most)
		if err != nil {
			t.Fatal(err)
		}
		// The reservation is open, but requests do not come back.
		if _, err := b.reserve(t.Context(), model.Ref{}, price.Price{}, most); err == nil || err.Error() != "stopped by `max-requests` 1: 1 request sent" {
			t.Errorf("got %v", err)
		}
		// Without a bound of tokens or money no usage is beyond belief.
		if err := b.answer(r, model.Usage{Input: math.MaxInt32}); err != nil {
			t.Error(err)
		}
	})
	t.Run("tokens", func(t *testing.T) {
		t.Parallel()
		b := newBudget(Budget{Tokens: 20}, Budget{}, nil)
		most := model.Usage{Input: 4, Output: 6}
		take := func() reservation {
			t.Helper()
			r, err := b.reserve(t.Context(), model.Ref{}, price.Price{}, most)
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
		_, err := b.reserve(t.Context(), model.Ref{}, price.Price{}, most)
		if err == nil || err.Error() != "stopped by `max-total-tokens` 20: 14 tokens used (of it up to 10 for 1 failed attempt), and the next call could use up to 10" {
			t.Errorf("got %v", err)
		}
		// All of the tokens that are left may be used.
		b = newBudget(Budget{Tokens: 10, USD: 1}, Budget{}, nil)
		_, err = b.reserve(t.Context(), model.Ref{}, price.Price{Input: 1e6}, most)
		if err == nil || err.Error() != "stopped by `max-cost` 1: $0.0000 spent, and the next call could cost up to $4.0000" {
			t.Errorf("got %v", err)
		}
		if err := b.answer(take(), model.Usage{Input: 10, Output: 10}); err != nil {
			t.Errorf("twice the reservation is beyond belief: %v", err)
		}
		b = newBudget(Budget{Tokens: 100}, Budget{}, nil)
		err = b.answer(take(), model.Usage{Input: 4, Output: 30})
		if err == nil || err.Error() != "a reply is charged with 4 input and 30 output tokens where at most 4 and 6 were reckoned with, so `max-total-tokens` cannot be kept; raise `max-tokens`, or leave `max-total-tokens` out" {
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
		{Budget{Requests: 5}, Budget{Requests: 3, Tokens: 99, USD: 99}, 2, "stopped by `max-requests` 5: 5 requests sent, 3 of them before"},
		{Budget{Tokens: 35}, Budget{Tokens: 15}, 2, "stopped by `max-total-tokens` 35: 35 tokens used, 15 of them before, and the next call could use up to 10"},
		{Budget{USD: 9}, Budget{USD: 4}, 1, "stopped by `max-cost` 9: $8.0000 spent, $4.0000 of it before, and the next call could cost up to $4.0000"},
		{Budget{USD: 3}, Budget{USD: 4}, 0, "stopped by `max-cost` 3: $4.0000 spent, $4.0000 of it before, and the next call could cost up to $4.0000"},
		{Budget{Requests: 1}, Budget{Requests: 1}, 0, "stopped by `max-requests` 1: 1 request sent, 1 of them before"},
	} {
		b := newBudget(tt.limits, tt.before, nil)
		for range tt.calls {
			r, err := b.reserve(t.Context(), model.Ref{}, tariff, most)
			if err != nil {
				t.Fatalf("%+v of %+v: %v", tt.before, tt.limits, err)
			}
			if err := b.answer(r, most); err != nil {
				t.Error(err)
			}
		}
		_, err := b.reserve(t.Context(), model.Ref{}, tariff, most)
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
		// A shared budget that holds what is left says the same.
		e := BudgetError{Budget: left, Spent: Budget{Requests: tt.calls, Tokens: 10 * tt.calls, USD: 4 * float64(tt.calls)}, Next: Budget{Tokens: 10, USD: 4}}.After(tt.limits, tt.before)
		if e.Error() != tt.text {
			t.Errorf("%+v of %+v: got %v, want %s", tt.before, tt.limits, e.Error(), tt.text)
		}
	}
}

// shared is a budget that gives what is asked for, as far as it has it, or fails.
type shared struct {
	left  Budget
	fault error
}

func (p *shared) Take(_ context.Context, least Budget) (Budget, error) {
	if p.fault != nil {
		return Budget{}, p.fault
	}
	got := Budget{Requests: min(p.left.Requests, least.Requests), Tokens: min(p.left.Tokens, least.Tokens), USD: min(p.left.USD, least.USD)}
	p.left.Requests -= got.Requests
	p.left.Tokens -= got.Tokens
	p.left.USD -= got.USD
	return got, nil
}

func (p *shared) Give(_ context.Context, unspent Budget) error {
	p.left.Requests += unspent.Requests
	p.left.Tokens += unspent.Tokens
	p.left.USD += unspent.USD
	return p.fault
}

// TestSharedBudget takes what each call lacks from a shared budget, a dollar for each token, and
// gives back what is left over.
func TestSharedBudget(t *testing.T) {
	t.Parallel()
	tariff, most := price.Price{Input: 1e6, Output: 1e6}, model.Usage{Input: 1, Output: 2}
	limits := Budget{Requests: 5, Tokens: 10, USD: 9}
	p := &shared{left: limits}
	b := newBudget(limits, Budget{}, p)
	left := func(want Budget) {
		t.Helper()
		if p.left != want {
			t.Errorf("%+v is left in the purse, want %+v", p.left, want)
		}
	}
	take := func() reservation {
		t.Helper()
		r, err := b.reserve(t.Context(), model.Ref{}, tariff, most)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := take()
	left(Budget{4, 7, 6})
	if err := b.answer(r, model.Usage{Input: 1}); err != nil {
		t.Error(err)
	}
	r = take() // of which 2 are there
	left(Budget{3, 6, 5})
	b.cancel(r)
	if err := b.giveBack(t.Context()); err != nil {
		t.Error(err)
	}
	left(Budget{4, 9, 8})
	if err := b.giveBack(t.Context()); err != nil {
		t.Error(err)
	}
	left(Budget{4, 9, 8})
	b.fail(take(), &model.Error{Kind: model.Timeout})
	b.fail(take(), &model.Error{Kind: model.Timeout})
	left(Budget{2, 3, 2})
	_, err := b.reserve(t.Context(), model.Ref{}, tariff, most)
	if err == nil || err.Error() != "stopped by `max-cost` 9: $7.0000 spent (of it up to $6.0000 for 2 failed attempts), and the next call could cost up to $3.0000" {
		t.Errorf("got %v", err)
	}
	p.fault = errors.New("the store is gone")
	if _, err := newBudget(limits, Budget{}, p).reserve(t.Context(), model.Ref{}, tariff, most); !errors.Is(err, p.fault) {
		t.Errorf("got %v", err)
	}
	if err := b.giveBack(t.Context()); !errors.Is(err, p.fault) {
		t.Errorf("got %v", err)
	}
	// What is not bounded is not taken.
	p = &shared{left: Budget{Requests: 1, Tokens: 100, USD: 100}}
	b = newBudget(Budget{Requests: 1}, Budget{}, p)
	b.cancel(take())
	left(Budget{0, 100, 100})
}
