package fill

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/pace"
	"github.com/orbench/orbench/model"
)

func TestTokensOfACall(t *testing.T) {
	t.Parallel()
	r := request("m", 1) // 8 bytes and a limit of 10 tokens
	free := r
	free.Params.MaxTokens = 0
	two := r
	two.Messages = append([]orbench.Message{{Content: "abc"}}, r.Messages...)
	for name, c := range map[string]struct{ got, want model.Usage }{
		"most":            {mostUsage(r), model.Usage{Input: 24, Output: 10}},
		"without a limit": {mostUsage(free), model.Usage{Input: 24, Output: 32768}},
		"of two messages": {mostUsage(two), model.Usage{Input: 43, Output: 10}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n    int
		mean time.Duration
	}{{1, time.Second}, {2, 2 * time.Second}, {5, 16 * time.Second}, {6, 30 * time.Second}, {900, 30 * time.Second}} {
		var sum, most time.Duration
		const times = 4000
		for range times {
			d := LiveConfig{Backoff: time.Second}.withDefaults().backoff(c.n)
			sum, most = sum+d, max(most, d)
		}
		if mean := sum / times; mean < c.mean*9/10 || mean > c.mean*11/10 || most > 2*c.mean || most < c.mean*19/10 {
			t.Errorf("the wait after %d failures is %v in the mean and %v at most, want %v and twice that", c.n, mean, most, c.mean)
		}
	}
}

// TestFailedCalls has one call meet some errors, and tells what it took.
func TestFailedCalls(t *testing.T) {
	t.Parallel()
	fault := func(d time.Duration) *model.Error { return &model.Error{Kind: model.Transient, RetryAfter: d} }
	for name, c := range map[string]struct {
		errs                     []*model.Error
		answered, retries, calls int
		gaveUp                   bool
		atLeast, atMost          time.Duration
		// width is the bound of concurrent calls at the end, of 4.
		width int
	}{
		"the longest wait that is kept":   {[]*model.Error{fault(pace.LongestWait)}, 1, 1, 2, false, pace.LongestWait, pace.LongestWait, 4},
		"a longer one":                    {[]*model.Error{fault(pace.LongestWait + 1)}, 0, 0, 1, true, 0, 0, 4},
		"a long one for what is no fault": {[]*model.Error{{Kind: model.Invalid, RetryAfter: pace.LongestWait}}, 0, 0, 1, false, 0, 0, 4},
		// Each wait is up to twice its mean of 250 ms, 500 ms, 1 s.
		"waits that grow": {[]*model.Error{fault(0), fault(0), fault(0)}, 1, 3, 4, false, 0, 3500 * time.Millisecond, 4},
		// Without growth these were 4.5 s at most; 5 s are met but once in two million times.
		"waits that grow to half a minute":    {slices.Repeat([]*model.Error{fault(0)}, 9), 1, 9, 10, false, 5 * time.Second, 4 * time.Minute, 4},
		"a reject alone waits as it is asked": {[]*model.Error{{Kind: model.RateLimited, RetryAfter: time.Minute}}, 1, 0, 2, false, time.Minute, time.Minute, 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newStore(t)
				defer closeMemo(t, m)
				calls := 0
				f := NewLive(m, LiveConfig{})
				lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
					if calls++; calls <= len(c.errs) {
						return model.Response{}, c.errs[calls-1]
					}
					return answer(r)
				}), Limits{Concurrency: 4})
				began := time.Now()
				_, err := lane.fill(t.Context(), requests("m", 0, 1), nil)
				took, s := time.Since(began), f.Stats()
				if len(s.Held) > 0 {
					t.Errorf("%v is waited for at the end", s.Held)
				}
				if s.Width != c.width {
					t.Errorf("%d calls may be made at once, want %d", s.Width, c.width)
				}
				if s.Answered != c.answered || s.Retries != c.retries || calls != c.calls || (err != nil) != c.gaveUp || !onlyGivenUp(err) {
					t.Errorf("%+v after %d calls, %v", s, calls, err)
				}
				if took < c.atLeast || took > c.atMost {
					t.Errorf("took %v, want %v to %v", took, c.atLeast, c.atMost)
				}
			})
		})
	}
}

// A model that once answered is not given up for being out of reach for three attempts.
func TestUnreachableForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newStore(t)
		defer closeMemo(t, m)
		calls := 0
		f := NewLive(m, LiveConfig{Attempts: 6})
		lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
			if calls++; calls > 1 && calls < 7 {
				return model.Response{}, &model.Error{Kind: model.Transient, Err: syscall.ECONNREFUSED}
			}
			return answer(r)
		}), Limits{Concurrency: 1})
		if _, err := lane.fill(t.Context(), requests("m", 0, 2), nil); err != nil {
			t.Error(err)
		}
		if s := f.Stats(); s.Answered != 2 || s.Retries != 5 {
			t.Errorf("%+v, want the second answered at its sixth attempt", s)
		}
	})
}

// What the lane's rates hold back ends with the context, and is not even waited for where
// that will end before.
func TestPaceEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newStore(t)
		defer closeMemo(t, m)
		calls := 0
		lane := NewLive(m, LiveConfig{}).Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
			calls++
			return answer(r)
		}), Limits{RequestsPerMinute: 1})
		if _, ok, err := lane.ask(t.Context(), request("m", 1)); !ok || err != nil {
			t.Errorf("ok %t, %v", ok, err)
		}
		began := time.Now()
		brief, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		if _, ok, err := lane.ask(brief, request("m", 2)); ok || err == nil || !strings.Contains(err.Error(), "would exceed context deadline") {
			t.Errorf("ok %t, %v; want the rate's error", ok, err)
		}
		stopped := errors.New("stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Second, func() { cancel(stopped) })
		if _, ok, err := lane.ask(ctx, request("m", 3)); ok || !errors.Is(err, stopped) {
			t.Errorf("ok %t, %v; want the cause", ok, err)
		}
		if took := time.Since(began); calls != 1 || took != 10*time.Second {
			t.Errorf("%d calls, and %v for those that were not made", calls, took)
		}
	})
}

// TestCounts has models without a price answer, refuse what costs nothing, and fail.
func TestCounts(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	defer closeMemo(t, m)
	usage := model.Usage{Input: 9, Output: 7, Reasoning: 5, Cached: 3}
	f := NewLive(m, LiveConfig{})
	lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		switch {
		case r.Model == "m" && r.Messages[0].Content == "prompt 0":
			return model.Response{Finish: model.Blocked, Usage: usage}, nil
		case r.Model == "m":
			return model.Response{Text: "yes", Finish: model.Stop, Usage: usage}, nil
		}
		kinds := map[string]model.Kind{"refused": model.Denied, "charged": model.Invalid}
		return model.Response{}, &model.Error{Kind: kinds[r.Model]}
	}), Limits{})
	for _, c := range []struct{ name, unpriced string }{{"refused", ""}, {"charged", "test/charged"}, {"m", "test/charged test/m"}} {
		if _, err := lane.fill(t.Context(), requests(c.name, 0, 3), nil); !onlyGivenUp(err) {
			t.Error(err)
		}
		if got := strings.Join(f.Stats().Unpriced, " "); got != c.unpriced {
			t.Errorf("after %s no price is known of %q, want %q", c.name, got, c.unpriced)
		}
	}
	s := f.Stats()
	if s.Answered != 3 || s.Blocked != 1 || s.Failed != 4 || s.Usage != (model.Usage{Input: 27, Output: 21, Reasoning: 15, Cached: 9}) {
		t.Errorf("%+v", s)
	}
}
