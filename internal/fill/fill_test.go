package fill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/sqlite"
	"github.com/orbench/orbench/model"
)

// newStore opens a store in a file of its own.
func newStore(t testing.TB) *store.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "m.db"))
	if err != nil {
		t.Fatal(err)
	}
	return store.New(s)
}

func closeMemo(t testing.TB, m *store.Store) {
	t.Helper()
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// request is the n-th request to a model.
func request(name string, n int) model.Request {
	return model.Request{
		Provider: "test", Model: name, Params: model.Params{MaxTokens: 10},
		Messages: []orbench.Message{{Role: orbench.User, Content: fmt.Sprint("prompt ", n)}},
	}
}

// requests streams the requests from to to-1.
func requests(name string, from, to int) iter.Seq2[model.Request, error] {
	return func(yield func(model.Request, error) bool) {
		for n := from; n < to; n++ {
			if !yield(request(name, n), nil) {
				return
			}
		}
	}
}

func answer(model.Request) (model.Response, error) {
	return model.Response{Text: "yes", Finish: model.Stop, Usage: model.Usage{Input: 5, Output: 5}}, nil
}

func rememberedIn(t testing.TB, m *store.Store) int {
	t.Helper()
	n, err := m.Count(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestFillSendsOnlyWhatIsMissing(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	defer closeMemo(t, m)
	var calls atomic.Int64
	f := NewLive(m, LiveConfig{})
	lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		calls.Add(1)
		return answer(r)
	}), Limits{Concurrency: 8})
	ctx := context.Background()
	twice := func(yield func(model.Request, error) bool) {
		for n := range 2000 {
			if !yield(request("m", n/2), nil) || !yield(request("m", 1000-n/2), nil) {
				return
			}
		}
	}
	sent, err := lane.fill(ctx, twice, nil)
	if err != nil || sent != 1001 || calls.Load() != 1001 || rememberedIn(t, m) != 1001 {
		t.Errorf("sent %d, %v, with %d calls and %d records; want 1001 of each", sent, err, calls.Load(), rememberedIn(t, m))
	}
	sent, err = lane.fill(ctx, twice, nil)
	if err != nil || sent != 0 {
		t.Errorf("the second time sent %d, %v; want 0", sent, err)
	}
	if s := f.Stats(); s.Answered != 1001 || s.Requests != 1001 || s.Usage.Input != 5005 {
		t.Errorf("stats %+v", s)
	}
}

// A reply of this process is not one that was remembered, though the work asks for it
// again, as where a defense asks what its target is asked without it.
func TestOwnRepliesAreNotRemembered(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	defer closeMemo(t, m)
	w := Work{
		Interdependent: true, Models: []model.Ref{{Provider: "test"}},
		Fixed: func(context.Context) iter.Seq2[model.Request, error] { return requests("m", 0, 10) },
		// The first ten are lacking when this is walked and may be there when it is read.
		Missing: func(context.Context, func(model.Ref) bool) iter.Seq2[model.Request, error] {
			return requests("m", 0, 15)
		},
	}
	for _, want := range []Stats{{Answered: 15}, {Present: 10}} {
		f := NewLive(m, LiveConfig{})
		f.Lane(model.Ref{Provider: "test"}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) { return answer(r) }), Limits{Concurrency: 4})
		if err := f.Fill(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		if got := f.Stats(); got.Answered != want.Answered || got.Present != want.Present {
			t.Errorf("%d answered and %d remembered, want %d and %d", got.Answered, got.Present, want.Answered, want.Present)
		}
	}
}

// An endpoint has one lane, and no limiter that was not asked for.
func TestLanes(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	defer closeMemo(t, m)
	f := NewLive(m, LiveConfig{})
	a, b := model.Ref{Provider: "a"}, model.Ref{Provider: "a", Endpoint: "http://localhost"}
	first, second := f.Lane(a, nil, Limits{}), f.Lane(b, nil, Limits{Concurrency: 3, RequestsPerMinute: 120})
	if first == second || f.Lane(a, nil, Limits{}) != first || f.Lane(b, nil, Limits{}) != second || f.Stats().Width != 4 {
		t.Errorf("%d lanes of %d calls", len(f.lanes), f.Stats().Width)
	}
	if first.requests != nil || second.requests == nil {
		t.Errorf("the limiters are %v and %v", first.requests, second.requests)
	}
}

func TestFillRetries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		errs    []*model.Error // of the first attempts; then an answer
		calls   int
		failure string // "" when it ends in an answer
		waits   time.Duration
	}{
		"transient":             {errs: []*model.Error{{Kind: model.Transient}, {Kind: model.Timeout}}, calls: 3},
		"asked to wait":         {errs: []*model.Error{{Kind: model.RateLimited, RetryAfter: 40 * time.Second}}, calls: 2, waits: 40 * time.Second},
		"wrong request":         {errs: []*model.Error{{Kind: model.Invalid, Message: "too long"}}, calls: 1, failure: "too long"},
		"attempts used up":      {errs: []*model.Error{{Kind: model.Transient}, {Kind: model.Transient}, {Kind: model.Transient}, {Kind: model.Transient, Message: "last"}}, calls: 4, failure: "last"},
		"asked to wait for day": {errs: []*model.Error{{Kind: model.RateLimited, RetryAfter: 24 * time.Hour, Message: "daily"}}, calls: 1, failure: "daily"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newStore(t)
				defer closeMemo(t, m)
				var calls int
				f := NewLive(m, LiveConfig{Attempts: 4})
				lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
					calls++
					if calls <= len(c.errs) {
						return model.Response{}, c.errs[calls-1]
					}
					return answer(r)
				}), Limits{Concurrency: 1})
				began := time.Now()
				_, err := lane.fill(context.Background(), requests("m", 0, 1), nil)
				var gaveUp *GivenUpError
				if err != nil && !errors.As(err, &gaveUp) {
					t.Fatal(err)
				}
				if took := time.Since(began); took < c.waits {
					t.Errorf("waited %v, want at least %v", took, c.waits)
				}
				if calls != c.calls {
					t.Errorf("%d calls, want %d", calls, c.calls)
				}
				hash := request("m", 0).Hash()
				failures, err := m.Failures(context.Background(), []model.Hash{hash})
				if err != nil {
					t.Fatal(err)
				}
				switch got, failed := failures[hash]; {
				case c.failure == "" && (failed || rememberedIn(t, m) != 1):
					t.Errorf("failed with %+v, want an answer", got)
				case !strings.Contains(got.Message, c.failure):
					t.Errorf("failure %q, want one with %q", got.Message, c.failure)
				}
			})
		})
	}
}

func TestFailedCallsAreTriedAgainByTheNextFiller(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	defer closeMemo(t, m)
	broken := true
	ask := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		if broken {
			return model.Response{}, &model.Error{Kind: model.Invalid}
		}
		return answer(r)
	})
	f := NewLive(m, LiveConfig{})
	lane := f.Lane(model.Ref{}, ask, Limits{})
	for range 2 {
		if _, err := lane.fill(context.Background(), requests("m", 0, 3), nil); err != nil {
			t.Fatal(err)
		}
	}
	if s := f.Stats(); s.Failed != 3 || s.Requests != 3 {
		t.Errorf("stats %+v; want each request tried and failed once", s)
	}
	broken = false
	if _, err := NewLive(m, LiveConfig{}).Lane(model.Ref{}, ask, Limits{}).fill(context.Background(), requests("m", 0, 3), nil); err != nil {
		t.Fatal(err)
	}
	if n := rememberedIn(t, m); n != 3 {
		t.Errorf("%d records, want 3", n)
	}
}

func TestModelsAreGivenUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err   *model.Error
		calls int
		want  string
	}{
		"bad key":                   {&model.Error{Kind: model.Denied, Message: "bad key"}, 1, "gave up test/bad: denied: bad key"},
		"no such model":             {&model.Error{Kind: model.NotFound}, 1, "not found"},
		"all invalid":               {&model.Error{Kind: model.Invalid}, giveUpAfter, "gave up test/bad after 20 failed calls in a row"},
		"one fault of all requests": {&model.Error{Kind: model.Invalid, Status: 400, Message: "no temperature 0"}, refusedAlike, "gave up test/bad after 3 failed calls in a row"},
		"words of a guard":          {&model.Error{Kind: model.Invalid, Status: 400, Message: "stopped by a guard"}, giveUpAfter, "gave up test/bad after 20 failed calls in a row"},
		"an unknown form":           {&model.Error{Kind: model.Transient, Message: "the reply holds no choice: {}", Unread: "the reply holds no choice"}, unreadableAlike, "gave up test/bad after 5 failed calls in a row, the last: the call failed: the reply holds no choice: {}"},
		"unreachable":               {&model.Error{Kind: model.Transient, Err: syscall.ECONNREFUSED}, unreachableAfter, "connection refused"},
		"web pages":                 {&model.Error{Kind: model.Transient, Message: "the reply is not JSON: <html>"}, giveUpAfter * unreachableAfter, "gave up test/bad after 20 failed calls in a row"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newStore(t)
				defer closeMemo(t, m)
				var calls int
				lane := NewLive(m, LiveConfig{}).Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
					if r.Model == "good" {
						return answer(r)
					}
					calls++
					return model.Response{}, c.err
				}), Limits{Concurrency: 1})
				both := func(yield func(model.Request, error) bool) {
					for n := range 100 {
						if !yield(request("bad", n), nil) || !yield(request("good", n), nil) {
							return
						}
					}
				}
				_, err := lane.fill(context.Background(), both, nil)
				var gaveUp *GivenUpError
				if !errors.As(err, &gaveUp) || gaveUp.Model != "bad" || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want the bad model given up with %q", err, c.want)
				}
				if calls != c.calls {
					t.Errorf("%d calls of the bad model, want %d", calls, c.calls)
				}
				if n := rememberedIn(t, m); n != 100 {
					t.Errorf("%d records of the good model, want 100", n)
				}
			})
		})
	}
}

func TestConcurrencyIsFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newStore(t)
		defer closeMemo(t, m)
		// The provider serves 4 calls at once and answers 429 beyond; a call
		// takes a second.
		const capacity, bound = 4, 32
		var now, peakServed, limited atomic.Int64
		f := NewLive(m, LiveConfig{})
		lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
			defer now.Add(-1)
			if n := now.Add(1); n > capacity {
				limited.Add(1)
				time.Sleep(50 * time.Millisecond)
				return model.Response{}, &model.Error{Kind: model.RateLimited, RetryAfter: 2 * time.Second}
			} else if n > peakServed.Load() {
				peakServed.Store(n)
			}
			time.Sleep(time.Second)
			return answer(r)
		}), Limits{Concurrency: bound})
		began := time.Now()
		if _, err := lane.fill(context.Background(), requests("m", 0, 400), nil); err != nil {
			t.Fatal(err)
		}
		if n := rememberedIn(t, m); n != 400 {
			t.Errorf("%d records, want 400", n)
		}
		if n := limited.Load(); n > 80 {
			t.Errorf("%d answers were 429 for 400 calls", n)
		}
		if took := time.Since(began); took > 4*time.Minute {
			t.Errorf("took %v where 100 seconds would do", took)
		}
		if peakServed.Load() != capacity {
			t.Errorf("at most %d calls were served at once, want %d", peakServed.Load(), capacity)
		}
	})
}

func TestRatesPerMinute(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]Limits{
		"requests": {Concurrency: 10, RequestsPerMinute: 60},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newStore(t)
				defer closeMemo(t, m)
				lane := NewLive(m, LiveConfig{}).Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
					return answer(r)
				}), limits)
				began := time.Now()
				if _, err := lane.fill(context.Background(), requests("m", 0, 180), nil); err != nil {
					t.Fatal(err)
				}
				// One call a second.
				if took := time.Since(began); took < 2*time.Minute || took > 200*time.Second {
					t.Errorf("took %v, want two to three minutes", took)
				}
			})
		})
	}
}

func TestBudgetOfRequests(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	defer closeMemo(t, m)
	var calls atomic.Int64
	f := NewLive(m, LiveConfig{Budget: Budget{Requests: 37}, Backoff: time.Microsecond})
	lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		if calls.Add(1)%5 == 0 {
			return model.Response{}, &model.Error{Kind: model.Transient}
		}
		return answer(r)
	}), Limits{Concurrency: 8})
	_, err := lane.fill(context.Background(), requests("m", 0, 1000), nil)
	var budget *BudgetError
	if !errors.As(err, &budget) || !strings.Contains(err.Error(), "`max-requests=37`") {
		t.Errorf("got %v, want a budget error", err)
	}
	if calls.Load() != 37 {
		t.Errorf("%d requests were sent, want 37", calls.Load())
	}
	if n := rememberedIn(t, m); n != 30 {
		t.Errorf("%d records, want the 30 that were answered", n)
	}
}

func TestBudgetOfMoney(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	defer closeMemo(t, m)
	prices, err := price.Default().With(strings.NewReader(`[{"provider":"test","model":"m","input":1000,"output":1000,"as_of":"2026-01-01"}]`), "test")
	if err != nil {
		t.Fatal(err)
	}
	f := NewLive(m, LiveConfig{Budget: Budget{USD: 1}, Prices: prices})
	lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) { return answer(r) }), Limits{Concurrency: 8})
	_, err = lane.fill(context.Background(), requests("m", 0, 1000), nil)
	var budget *BudgetError
	if !errors.As(err, &budget) || !strings.Contains(err.Error(), "`max-cost=1`") {
		t.Errorf("got %v, want a budget error", err)
	}
	// An answer costs $0.01, and one may cost up to $0.035 (25 bytes of input
	// and 10 tokens of output): all but the last few cents are used.
	s := f.Stats()
	if s.USD > 1 || s.USD < 0.95 {
		t.Errorf("spent $%v, want just under $1", s.USD)
	}
}

func TestStopFinishesWhatIsInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newStore(t)
		defer closeMemo(t, m)
		stopped := errors.New("stopped")
		ctx, stop := context.WithCancelCause(context.Background())
		lane := NewLive(m, LiveConfig{Abort: make(chan struct{})}).Lane(model.Ref{}, model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
			select {
			case <-time.After(10 * time.Second):
				return answer(r)
			case <-ctx.Done():
				return model.Response{}, ctx.Err()
			}
		}), Limits{Concurrency: 6})
		time.AfterFunc(15*time.Second, func() { stop(stopped) })
		_, err := lane.fill(ctx, requests("m", 0, 100), nil)
		if !errors.Is(err, stopped) {
			t.Errorf("got %v, want the cause", err)
		}
		if n := rememberedIn(t, m); n != 12 {
			t.Errorf("%d records; want 12: six that ended and six that were in flight", n)
		}
	})
}

func TestAbortAbandonsWhatIsInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newStore(t)
		defer closeMemo(t, m)
		ctx, stop := context.WithCancelCause(context.Background())
		abort := make(chan struct{})
		lane := NewLive(m, LiveConfig{Abort: abort}).Lane(model.Ref{}, model.Func(func(ctx context.Context, _ model.Request) (model.Response, error) {
			<-ctx.Done()
			return model.Response{}, ctx.Err()
		}), Limits{Concurrency: 6})
		stopped := errors.New("stopped")
		time.AfterFunc(time.Second, func() { stop(stopped) })
		time.AfterFunc(2*time.Second, func() { close(abort) })
		began := time.Now()
		_, err := lane.fill(ctx, requests("m", 0, 100), nil)
		if !errors.Is(err, stopped) || rememberedIn(t, m) != 0 {
			t.Errorf("got %v with %d records, want the cause and none", err, rememberedIn(t, m))
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("took %v after the abort", took)
		}
	})
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newStore(t)
		defer closeMemo(t, m)
		var calls int
		f := NewLive(m, LiveConfig{Timeout: time.Minute})
		lane := f.Lane(model.Ref{}, model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
			if calls++; calls == 1 {
				<-ctx.Done()
				return model.Response{}, model.FromTransport(r.Provider, r.Model, ctx.Err())
			}
			return answer(r)
		}), Limits{})
		if _, err := lane.fill(context.Background(), requests("m", 0, 1), nil); err != nil {
			t.Fatal(err)
		}
		if s := f.Stats(); s.Answered != 1 || s.Retries != 1 {
			t.Errorf("stats %+v, want an answer at the second attempt", s)
		}
	})
}

func TestErrorOfTheStream(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	defer closeMemo(t, m)
	lane := NewLive(m, LiveConfig{}).Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) { return answer(r) }), Limits{})
	broken := errors.New("line 7 is broken")
	_, err := lane.fill(context.Background(), func(yield func(model.Request, error) bool) {
		if yield(request("m", 1), nil) {
			yield(model.Request{}, broken)
		}
	}, nil)
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want the stream's error", err)
	}
}

// A stop ends the stream at its next request; an error that the stream then has is told.
func TestStopEndsTheStream(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	defer closeMemo(t, m)
	lane := NewLive(m, LiveConfig{}).Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) { return answer(r) }), Limits{})
	stopped, broken := errors.New("stopped"), errors.New("line 7 is broken")
	for _, fault := range []error{nil, broken} {
		ctx, stop := context.WithCancelCause(t.Context())
		walked := 0
		_, err := lane.fill(ctx, func(yield func(model.Request, error) bool) {
			for stop(stopped); walked < 10; {
				if walked++; !yield(request("m", walked), fault) {
					return
				}
			}
		}, nil)
		if want := cmp.Or(fault, stopped); !errors.Is(err, want) || walked != 1 {
			t.Errorf("got %v after %d requests, want %v after the first", err, walked, want)
		}
	}
}

// TestStorm has many lanes ask overlapping requests of models that fail in every
// way, and finds each answered once.
func TestStorm(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	m := newStore(t)
	defer closeMemo(t, m)
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 0))
	answered := map[model.Hash]int{}
	var inFlight, peak int
	ask := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		inFlight++
		peak = max(peak, inFlight)
		mu.Unlock()
		mu.Lock()
		inFlight--
		switch random.IntN(10) {
		case 0:
			return model.Response{}, &model.Error{Kind: model.RateLimited, RetryAfter: time.Millisecond}
		case 1:
			return model.Response{}, &model.Error{Kind: model.Transient}
		case 2:
			return model.Response{}, errors.New("a client library's own error")
		}
		answered[r.Hash()]++
		return answer(r)
	})
	f := NewLive(m, LiveConfig{Attempts: 50, Backoff: 10 * time.Microsecond})
	var wg sync.WaitGroup
	const n, lanes, each = 1500, 3, 10
	for i := range lanes {
		lane := f.Lane(model.Ref{}, ask, Limits{Concurrency: each})
		wg.Go(func() {
			if _, err := lane.fill(context.Background(), requests("m", i*n/4, n/2+i*n/4), nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(answered) != n || rememberedIn(t, m) != n {
		t.Errorf("%d answered, %d remembered; want %d", len(answered), rememberedIn(t, m), n)
	}
	for h, times := range answered {
		if times != 1 {
			t.Errorf("%v was answered %d times", h, times)
		}
	}
	if peak > lanes*each {
		t.Errorf("%d calls at once, want at most %d", peak, lanes*each)
	}
	if s := f.Stats(); s.Answered != n || s.Failed != 0 {
		t.Errorf("stats %+v", s)
	}
}
