package fill

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orbench/orbench/model"
)

// limiter is a provider's limit on requests. take decides about one that arrives now, and
// tells when the next will be taken and what is left until when.
type limiter interface {
	take(now time.Time) (ok bool, next time.Duration, left model.Window)
}

// windowed takes so many requests in each window: fixed ones, that begin with the first
// request, or one that slides with time.
type windowed struct {
	limit  int
	window time.Duration
	slides bool
	taken  []time.Time
}

func (l *windowed) take(now time.Time) (bool, time.Duration, model.Window) {
	for len(l.taken) > 0 && (l.slides && now.Sub(l.taken[0]) >= l.window) {
		l.taken = l.taken[1:]
	}
	if !l.slides && len(l.taken) > 0 && now.Sub(l.taken[0]) >= l.window {
		l.taken = nil
	}
	ok := len(l.taken) < l.limit
	if ok {
		l.taken = append(l.taken, now)
	}
	reset := l.window - now.Sub(l.taken[0])
	return ok, reset, model.Window{Remaining: l.limit - len(l.taken), Reset: reset}
}

// bucket holds up to limit tokens and is filled with so many in a window.
type bucket struct {
	limit  int
	window time.Duration
	tokens float64
	at     time.Time
}

func (l *bucket) take(now time.Time) (bool, time.Duration, model.Window) {
	each := l.window / time.Duration(l.limit)
	if l.at.IsZero() {
		l.tokens = float64(l.limit)
	} else {
		l.tokens = min(float64(l.limit), l.tokens+float64(now.Sub(l.at))/float64(each))
	}
	l.at = now
	ok := l.tokens >= 1
	if ok {
		l.tokens--
	}
	full := time.Duration((float64(l.limit) - l.tokens) * float64(each))
	return ok, time.Duration((1 - l.tokens) * float64(each)), model.Window{Remaining: int(l.tokens), Reset: full}
}

// TestPaceIsLearned asks, without any bound given, providers that take 15 calls a minute,
// or 300, and say so in different ways or not at all.
func TestPaceIsLearned(t *testing.T) {
	t.Parallel()
	const minutes = 10
	limits := []int{15}
	if os.Getenv("ORBENCH_LONG") != "" {
		limits = append(limits, 300)
	}
	for _, perMinute := range limits {
		for kind, newLimiter := range map[string]func() limiter{
			"fixed windows":  func() limiter { return &windowed{limit: perMinute, window: time.Minute} },
			"sliding window": func() limiter { return &windowed{limit: perMinute, window: time.Minute, slides: true} },
			"bucket":         func() limiter { return &bucket{limit: perMinute, window: time.Minute} },
		} {
			for _, says := range []string{"when to come back", "what is left", "nothing"} {
				for _, latency := range []time.Duration{200 * time.Millisecond, 10 * time.Second} {
					t.Run(fmt.Sprintf("%d by %s says %s after %v", perMinute, kind, says, latency), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							m := newMemo(t)
							defer closeMemo(t, m)
							limit, began := newLimiter(), time.Now()
							var mu sync.Mutex
							var answers, rejects int // after the first minute
							f := NewLive(m, Config{})
							lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
								mu.Lock()
								now := time.Now()
								ok, next, left := limit.take(now)
								late := now.Sub(began) > time.Minute
								if late && ok {
									answers++
								} else if late {
									rejects++
								}
								mu.Unlock()
								var allowance *model.Allowance
								if says == "what is left" {
									allowance = &model.Allowance{Requests: left}
								}
								if !ok {
									time.Sleep(50 * time.Millisecond)
									failed := &model.Error{Kind: model.RateLimited, Status: 429, Allowance: allowance}
									if says == "when to come back" {
										failed.RetryAfter = next.Truncate(time.Second) + time.Second
									}
									return model.Response{}, failed
								}
								time.Sleep(latency)
								response, err := answer(r)
								response.Allowance = allowance
								return response, err
							}), Limits{Concurrency: 64})
							if _, err := lane.fill(t.Context(), requests("m", 0, minutes*perMinute), nil); err != nil {
								t.Fatal(err)
							}
							took := time.Since(began)
							s := f.Stats()
							t.Logf("%.3f rejects per answer after the first minute, %d in all; %v for %d minutes' worth", float64(rejects)/float64(answers), s.Rejected, took.Round(time.Second), minutes)
							if s.Failed != 0 || s.Answered != minutes*perMinute || s.Retries != 0 {
								t.Errorf("stats %+v, want all answered", s)
							}
							if float64(rejects) >= 0.1*float64(answers) {
								t.Errorf("%d rejects for %d answers after the first minute", rejects, answers)
							}
							if took > (minutes*6/5+1)*time.Minute {
								t.Errorf("took %v for %d minutes' worth", took, minutes)
							}
						})
					})
				}
			}
		}
	}
}

// TestRandomRejectsDoNotSlow has a provider shed one call in ten, however fast they come.
func TestRandomRejectsDoNotSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemo(t)
		defer closeMemo(t, m)
		random := rand.New(rand.NewPCG(1, 2))
		var mu sync.Mutex
		f := NewLive(m, Config{})
		lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
			time.Sleep(100 * time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			if random.IntN(10) == 0 {
				return model.Response{}, &model.Error{Kind: model.RateLimited}
			}
			return answer(r)
		}), Limits{Concurrency: 64})
		began := time.Now()
		if _, err := lane.fill(t.Context(), requests("m", 0, 3000), nil); err != nil {
			t.Fatal(err)
		}
		// Six calls at once would take 55 seconds.
		if took, s := time.Since(began), f.Stats(); took > 55*time.Second || s.Failed != 0 || s.Rejected < 250 {
			t.Errorf("took %v, %+v", took, s)
		}
	})
}

// TestRejectsDoNotFailACall has a provider reject a call far more often than a call has
// attempts, each time saying when to come back.
func TestRejectsDoNotFailACall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		retryAfter time.Duration
		rejects    int
		answered   int
	}{
		"says when":         {20 * time.Second, 40, 1},
		"says nothing":      {0, 40, 0},
		"says nothing long": {0, 9, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemo(t)
				defer closeMemo(t, m)
				left := c.rejects
				f := NewLive(m, Config{})
				lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
					if left--; left >= 0 {
						return model.Response{}, &model.Error{Kind: model.RateLimited, RetryAfter: c.retryAfter}
					}
					return answer(r)
				}), Limits{Concurrency: 1})
				began := time.Now()
				_, err := lane.fill(t.Context(), requests("m", 0, 1), nil)
				s := f.Stats()
				if s.Answered != c.answered || s.Answered+s.Failed != 1 || (err != nil) != (s.Failed > 0) || !onlyGivenUp(err) {
					t.Errorf("%+v, %v", s, err)
				}
				if s.Answered == 1 && s.Rejected != c.rejects {
					t.Errorf("%d rejects are counted, want %d", s.Rejected, c.rejects)
				}
				if took := time.Since(began); c.retryAfter > 0 && took < time.Duration(c.rejects)*c.retryAfter {
					t.Errorf("took %v, want each wait kept", took)
				}
			})
		})
	}
}

// What is left of a limit on tokens is shared out by the mean tokens of the calls so far.
func TestTokensThatAreLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemo(t)
		defer closeMemo(t, m)
		lane := NewLive(m, Config{}).Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
			response, err := answer(r) // 10 tokens
			response.Allowance = &model.Allowance{Tokens: model.Window{Remaining: 100, Reset: 10 * time.Second}}
			return response, err
		}), Limits{Concurrency: 1})
		if _, err := lane.fill(t.Context(), requests("m", 0, 3), nil); err != nil {
			t.Fatal(err)
		}
		if told := lane.pacer("m").told; told != time.Second {
			t.Errorf("calls are %v apart, want ten in ten seconds", told)
		}
	})
}

// A provider says what is left; calls are told so far apart, or held.
func TestHeed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		left       model.Window
		told, held time.Duration
	}{
		"nothing":                   {model.Window{Remaining: 0, Reset: time.Second}, 0, time.Second},
		"one call":                  {model.Window{Remaining: 1, Reset: 10 * time.Second}, 10 * time.Second, 0},
		"some":                      {model.Window{Remaining: 20, Reset: 10 * time.Second}, time.Second / 2, 0},
		"many":                      {model.Window{Remaining: 1000, Reset: time.Second}, time.Millisecond, 0},
		"more than worth a wait":    {model.Window{Remaining: 1001, Reset: time.Second}, 0, 0},
		"nothing, for no time":      {model.Window{}, 0, 0},
		"nothing for long":          {model.Window{Reset: maxRetryAfter}, 0, maxRetryAfter},
		"nothing for the whole day": {model.Window{Reset: maxRetryAfter + 1}, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPacer(time.Second)
			p.accept(pass{}, &model.Allowance{Requests: c.left}, 10)
			if p.told != c.told || p.paced() != (c.told > 0) {
				t.Errorf("%s: calls are %v apart, paced %t", name, p.told, p.paced())
			}
			held := time.Duration(0)
			if !p.heldUntil.IsZero() {
				held = time.Until(p.heldUntil)
			}
			_, _, before := p.held(time.Now())
			p.join(1)
			if _, until, told := p.held(time.Now()); before || told != (c.held > 0) || told && time.Until(until) != c.held {
				t.Errorf("%s: told that it is held %t, before any call %t, until %v", name, told, before, until)
			}
			if held != c.held || (c.held == 0) != p.heldUntil.IsZero() {
				t.Errorf("%s: held for %v, want %v", name, held, c.held)
			}
		})
	}
}

// TestPacerCloses rejects calls of a pacer without a rate until it closes, opens it again
// at the rate that was taken, and slows it down.
func TestPacerCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(time.Second)
		reject := func(mine pass, tries int, alone, again bool) {
			t.Helper()
			if a, b := p.reject(mine, nil, 0, tries); a != alone || b != again {
				t.Errorf("waits alone %t, tried again %t; want %t, %t", a, b, alone, again)
			}
		}
		near := func(what string, got, want time.Duration) {
			t.Helper()
			if d := got - want; d < -time.Microsecond || d > time.Microsecond {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		reject(pass{}, 1, true, true)
		reject(pass{}, 1, true, true)
		for range 10 {
			p.accept(pass{}, nil, 1)
		}
		if p.burden < 0.99 || p.burden > 1.01 || p.paced() {
			t.Errorf("the burden is %g after two rejects and ten answers, want 1; paced %t", p.burden, p.paced())
		}
		reject(pass{}, 1, true, true)
		reject(pass{}, 1, true, true)
		if p.closed {
			t.Error("two rejects in a row close it")
		}
		time.Sleep(time.Minute)
		reject(pass{}, 1, false, true)
		if !p.closed || p.epoch != 1 || p.burden != 0 || !p.paced() {
			t.Errorf("after a third it is closed %t, epoch %d, burden %g, paced %t", p.closed, p.epoch, p.burden, p.paced())
		}
		// It is tried after a second, and after two more: the second try of two was the last.
		for n, again := range []bool{true, false} {
			near("the wait", time.Until(p.heldUntil), time.Second<<n)
			if _, wait, ok := p.take(time.Now()); ok || wait != time.Second<<n {
				t.Errorf("a call goes while it is closed: %t, %v", ok, wait)
			}
			time.Sleep(time.Second << n)
			mine, _, ok := p.take(time.Now())
			if _, _, second := p.take(time.Now()); !ok || second || !mine.tries {
				t.Errorf("tried %t, twice at once %t, %+v", ok, second, mine)
			}
			reject(mine, 2, false, again)
		}
		time.Sleep(4 * time.Second)
		mine, _, _ := p.take(time.Now())
		p.accept(mine, nil, 1)
		// Ten calls in 67 seconds.
		near("the learned time between calls", p.interval, 67*time.Second*105/1000)
		if p.closed || p.accepted != 1 || !p.paced() {
			t.Errorf("closed %t, %d accepted, paced %t", p.closed, p.accepted, p.paced())
		}
	})
}

// A call that was not sent leaves the try of a closed pacer to another.
func TestPacerDrop(t *testing.T) {
	t.Parallel()
	p := newPacer(time.Second)
	p.closed = true
	mine, _, ok := p.take(time.Now())
	for _, other := range []pass{{}, {epoch: 1, tries: true}} {
		if p.drop(other); !p.trying {
			t.Errorf("%+v ends the try of another", other)
		}
	}
	if p.drop(mine); !ok || p.trying {
		t.Errorf("tried %t, trying still %t", ok, p.trying)
	}
}

// Many rejects close a pacer though answers stand between them.
func TestPacerClosesForItsBurden(t *testing.T) {
	t.Parallel()
	p := newPacer(time.Second)
	p.burden = bearable - 1
	if p.reject(pass{}, nil, 0, 1); !p.closed {
		t.Error("more than one reject for ten answers does not close it")
	}
	p = newPacer(time.Second)
	p.burden = bearable - 1.01
	if p.reject(pass{}, nil, 0, 1); p.closed || p.burden < bearable-0.02 {
		t.Errorf("closed %t at a burden of %g", p.closed, p.burden)
	}
}

// A rate that is known falls with a reject, a little or to what was taken since, and the
// next one in a row closes the pacer.
func TestPacerSlowsDown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		grown, acceptedSet int
		since              time.Duration // the rate was set
		want               time.Duration
	}{
		"a little":          {0, 0, time.Minute, 2200 * time.Millisecond},
		"to what was taken": {0, 20, time.Minute, 3 * time.Second},
		"by much at most":   {0, 1, time.Minute, 8 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPacer(time.Second)
			p.pace(float64(2 * time.Second))
			time.Sleep(c.since)
			p.grown, p.acceptedSet = c.grown, c.acceptedSet
			if alone, again := p.reject(pass{}, nil, 0, 1); alone || !again || p.closed || p.epoch != 1 || p.interval != c.want {
				t.Errorf("%s: %v apart, want %v; alone %t, again %t, closed %t, epoch %d", name, p.interval, c.want, alone, again, p.closed, p.epoch)
			}
			if p.reject(pass{epoch: 1}, nil, 0, 1); !p.closed || p.epoch != 2 {
				t.Errorf("%s: after a second reject closed %t, epoch %d", name, p.closed, p.epoch)
			}
		})
	}
}

// A closed pacer that took nothing else before a try was accepted keeps its rate, or one
// up to four times as slow.
func TestPacerReopensWithoutAnswers(t *testing.T) {
	t.Parallel()
	for took, want := range map[time.Duration]time.Duration{time.Second: 2 * time.Second, 3 * time.Second: 3 * time.Second, time.Minute: 8 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			p := newPacer(time.Second)
			p.pace(float64(2 * time.Second))
			p.closed, p.trying, p.accepted = true, true, 0
			time.Sleep(took)
			if p.accept(pass{tries: true, at: time.Now()}, nil, 1); p.closed || p.interval != want {
				t.Errorf("after %v closed %t, calls %v apart, want %v", took, p.closed, p.interval, want)
			}
		})
	}
}

// Where a lower rate leads to rejects as soon for six times, it is let go, and what it was
// about to let go later may go at once.
func TestPacerLetsGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(time.Second)
		p.pace(float64(2 * time.Second))
		slow := func(grown int) {
			p.grown = grown
			p.slow(time.Now())
		}
		slow(19)
		if slow(20); p.futile != 0 { // half a plateau
			t.Errorf("futile %d times", p.futile)
		}
		for n := range mostFutile {
			if p.interval == 0 || p.futile != n {
				t.Errorf("%v apart, futile %d times, want %d", p.interval, p.futile, n)
			}
			slow(19)
		}
		if p.interval != 0 || p.blind != blindFor || p.epoch != mostFutile+2 {
			t.Errorf("%v apart, blind for %d, epoch %d", p.interval, p.blind, p.epoch)
		}
		if _, wait, ok := p.take(time.Now()); !ok || !p.next.Equal(time.Now()) {
			t.Errorf("waits %v", wait)
		}
		p.pace(float64(time.Second))
		for n := range 1000 {
			p.accept(pass{epoch: p.epoch}, nil, 1)
			if p.interval == 0 {
				if n != 247 { // 60 calls a minute raise it eightfold in the fifth minute
					t.Errorf("let go after %d answers", n+1)
				}
				break
			}
		}
		if p.interval != 0 {
			t.Error("a rate that bounds nothing is kept")
		}
	})
}

// A provider that rejects each call and says when to come back is waited for without end,
// and the counts tell for which model, since when and until when. Between two answers they
// do not, nor when no call is left.
func TestHeldIsTold(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 8} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemo(t)
			defer closeMemo(t, m)
			began, rejecting := time.Now(), 30*time.Minute
			f := NewLive(m, Config{})
			at := model.Ref{Provider: "p", Model: "m"}
			lane := f.Lane(at, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
				time.Sleep(100 * time.Millisecond)
				if time.Since(began) < rejecting {
					return model.Response{}, &model.Error{Kind: model.RateLimited, RetryAfter: 5 * time.Minute}
				}
				return answer(r)
			}), Limits{Concurrency: concurrency})
			var filled sync.WaitGroup
			filled.Go(func() {
				if _, err := lane.fill(t.Context(), requests("m", 0, 10), nil); err != nil {
					t.Error(err)
				}
			})
			time.Sleep(12 * time.Minute)
			held := f.Stats().Held
			if len(held) != 1 || held[0].Model != at || held[0].For.Round(time.Minute) != 12*time.Minute || held[0].In.Round(time.Minute) != 3*time.Minute {
				t.Errorf("%d at once: held %+v, want for 12 and in 3 minutes", concurrency, held)
			}
			filled.Wait()
			if s := f.Stats(); len(s.Held) > 0 || s.Answered != 10 {
				t.Errorf("%d at once, at the end: %+v", concurrency, s)
			}
		})
	}
}
