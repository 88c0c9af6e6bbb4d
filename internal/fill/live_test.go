package fill

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orbench/orbench/model"
)

// of is the n-th request to a provider.
func of(provider string, n int) model.Request {
	r := request("m", n)
	r.Provider = provider
	return r
}

// TestFillOfLanes has two providers get their own requests, at once, and be asked for
// single ones.
func TestFillOfLanes(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	defer closeMemo(t, m)
	f := NewLive(m, LiveConfig{})
	var mu sync.Mutex
	served := map[string]int{}
	for _, provider := range []string{"a", "b"} {
		f.Lane(model.Ref{Provider: provider}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			if served[provider]++; r.Provider != provider {
				t.Errorf("%s is asked what is for %s", provider, r.Provider)
			}
			if r.Messages[0].Content == "prompt 9" {
				return model.Response{}, &model.Error{Kind: model.Denied, Provider: r.Provider, Model: r.Model, Message: "no"}
			}
			return answer(r)
		}), Limits{})
	}
	broken := errors.New("line 7 is broken")
	var fault error
	w := Work{Fixed: func(context.Context) iter.Seq2[model.Request, error] {
		return func(yield func(model.Request, error) bool) {
			for _, r := range []model.Request{of("a", 1), of("b", 1), of("b", 2), of("nobody", 1)} {
				if !yield(r, nil) {
					return
				}
			}
			if fault != nil {
				yield(model.Request{}, fault)
			}
		}
	}}
	if err := f.Fill(t.Context(), w); err != nil || served["a"] != 1 || served["b"] != 2 {
		t.Errorf("served %v, %v", served, err)
	}
	fault = broken
	if err := f.Fill(t.Context(), w); !errors.Is(err, broken) || err.Error() != broken.Error() {
		t.Errorf("got %v, want the error of the work, once", err)
	}
	for _, provider := range []string{"a", "b"} {
		if _, ok, err := f.Ask(t.Context(), of(provider, 3)); !ok || err != nil {
			t.Errorf("%s: ok %t, %v", provider, ok, err)
		}
	}
	if _, ok, err := f.Ask(t.Context(), of("nobody", 3)); ok || err == nil || !strings.Contains(err.Error(), "no lane for nobody/m") {
		t.Errorf("ok %t, %v; want an error", ok, err)
	}
	if errs := f.GivenUp(); errs != nil {
		t.Errorf("given up: %v", errs)
	}
	if _, ok, err := f.Ask(t.Context(), of("b", 9)); ok || err != nil {
		t.Errorf("ok %t, %v", ok, err)
	}
	if errs := f.GivenUp(); len(errs) != 1 || !strings.Contains(errs[0].Error(), "gave up b/m") {
		t.Errorf("given up: %v", errs)
	}
}

// A provider that answers nothing, and one of which every call takes all of its time
// limit, hold up nobody: the others are done as fast as without them.
func TestDeadProvider(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newStore(t)
		defer closeMemo(t, m)
		const calls = 300
		f := NewLive(m, LiveConfig{Timeout: time.Minute, Attempts: 2})
		began := time.Now()
		var last atomic.Int64
		for name, ask := range map[string]func(context.Context, model.Request) (model.Response, error){
			"hanging": func(ctx context.Context, r model.Request) (model.Response, error) {
				<-ctx.Done()
				return model.Response{}, model.FromTransport(r.Provider, r.Model, ctx.Err())
			},
			"refusing": func(_ context.Context, r model.Request) (model.Response, error) {
				return model.Response{}, &model.Error{Kind: model.Transient, Provider: r.Provider, Model: r.Model, Message: "down"}
			},
			"quick": func(_ context.Context, r model.Request) (model.Response, error) {
				time.Sleep(100 * time.Millisecond)
				last.Store(int64(time.Since(began)))
				return answer(r)
			},
		} {
			f.Lane(model.Ref{Provider: name}, model.Func(ask), Limits{Concurrency: 10})
		}
		err := f.Fill(t.Context(), Work{Fixed: func(context.Context) iter.Seq2[model.Request, error] {
			return func(yield func(model.Request, error) bool) {
				for n := range calls {
					for _, name := range []string{"hanging", "refusing", "quick"} {
						if !yield(of(name, n), nil) {
							return
						}
					}
				}
			}
		}})
		var gaveUp *GivenUpError
		if s := f.Stats(); !errors.As(err, &gaveUp) || s.Answered != calls {
			t.Errorf("%d answered, %v; want %d, and the dead ones given up", s.Answered, err, calls)
		}
		// Ten at once, a tenth of a second each.
		if last := time.Duration(last.Load()); last > 4*time.Second {
			t.Errorf("the last answer of the quick one came after %v, want 3 seconds", last)
		}
	})
}

// A lane that has to wait for what another's replies decide rests four times as long as it
// takes to look, and not at all after it has sent something.
func TestRestBetweenPasses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newStore(t)
		defer closeMemo(t, m)
		f := NewLive(m, LiveConfig{})
		slow, fast := model.Ref{Provider: "slow"}, model.Ref{Provider: "fast"}
		f.Lane(slow, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
			time.Sleep(100 * time.Second)
			return answer(r)
		}), Limits{})
		f.Lane(fast, model.Func(func(_ context.Context, r model.Request) (model.Response, error) { return answer(r) }), Limits{})
		walks := 0
		err := f.Fill(t.Context(), Work{
			Models: []model.Ref{fast},
			Fixed:  func(context.Context) iter.Seq2[model.Request, error] { return one(of("slow", 1)) },
			Missing: func(context.Context, func(model.Ref) bool) iter.Seq2[model.Request, error] {
				walks++
				time.Sleep(2 * time.Second)
				if walks == 1 {
					return one(of("fast", walks))
				}
				return one(of("fast", 1))
			},
		})
		// At 0 and 2 seconds, then every ten, until 92 and beyond 100.
		if s := f.Stats(); err != nil || walks != 12 || s.Answered != 2 {
			t.Errorf("%v; looked %d times, %d answered", err, walks, s.Answered)
		}
	})
}

// Work that lets a call of a model through at a time, and holds the others back, ends with
// the model, not after a walk for each call.
func TestWorkOfADeadModelEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newStore(t)
		defer closeMemo(t, m)
		f := NewLive(m, LiveConfig{Attempts: 1})
		down := model.Ref{Provider: "down", Model: "m"}
		f.Lane(down, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
			return model.Response{}, &model.Error{Kind: model.Denied, Status: 401, Provider: r.Provider, Model: r.Model, Message: "down"}
		}), Limits{Concurrency: 1})
		walks, calls := 0, 100
		err := f.Fill(t.Context(), Work{
			Models: []model.Ref{down},
			Missing: func(_ context.Context, serves func(model.Ref) bool) iter.Seq2[model.Request, error] {
				walks++
				return func(yield func(model.Request, error) bool) {
					if serves(down) && walks <= calls {
						yield(of("down", walks), nil)
					}
				}
			},
			Held: func(serves func(model.Ref) bool) bool { return serves(down) && walks < calls },
		})
		var gaveUp *GivenUpError
		if !errors.As(err, &gaveUp) || walks > 3 {
			t.Errorf("%v; looked %d times, want 3 at most", err, walks)
		}
	})
}

// one streams a request.
func one(r model.Request) iter.Seq2[model.Request, error] {
	return func(yield func(model.Request, error) bool) { yield(r, nil) }
}

func TestJoinDistinct(t *testing.T) {
	t.Parallel()
	first, second := errors.New("first"), errors.New("second")
	both := errors.Join(first, second)
	spent, later := &BudgetError{Budget: Budget{Requests: 1}, Spent: Budget{Requests: 1}}, &BudgetError{Budget: Budget{Requests: 1}, Spent: Budget{Requests: 2}}
	for _, c := range []struct {
		errs []error
		want string
	}{
		{[]error{nil, nil}, ""},
		{[]error{nil, first, nil, first}, "first"},
		{[]error{first, second, errors.New("first")}, "first\nsecond"},
		{[]error{both, second, nil, errors.New("third")}, "first\nsecond\nthird"},
		{[]error{spent, later, first}, spent.Error() + "\nfirst"},
	} {
		got := ""
		if err := joinDistinct(c.errs); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v are joined as %q, want %q", c.errs, got, c.want)
		}
	}
}
