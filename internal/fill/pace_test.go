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

	"github.com/orbench/orbench/internal/pace"
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

// limited is a model that answers after a latency, and rejects after another what a limit
// does not take. It says when to come back, what is left, or nothing.
func limited(says string, latency, rejecting time.Duration, take func(now time.Time) (ok bool, next time.Duration, left model.Window)) model.Model {
	return model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		ok, next, left := take(time.Now())
		var allowance *model.Allowance
		if says == "what is left" {
			allowance = &model.Allowance{Requests: left}
		}
		if !ok {
			time.Sleep(rejecting)
			failed := &model.Error{Kind: model.RateLimited, Status: 429, Allowance: allowance}
			if says == "when to come back" {
				failed.RetryAfter = next
			}
			return model.Response{}, failed
		}
		time.Sleep(latency)
		response, err := answer(r)
		response.Allowance = allowance
		return response, err
	})
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
							m := newStore(t)
							defer closeMemo(t, m)
							limit, began := newLimiter(), time.Now()
							var mu sync.Mutex
							var answers, rejects int // after the first minute
							f := NewLive(m, LiveConfig{})
							lane := f.Lane(model.Ref{}, limited(says, latency, 50*time.Millisecond, func(now time.Time) (bool, time.Duration, model.Window) {
								mu.Lock()
								defer mu.Unlock()
								ok, next, left := limit.take(now)
								late := now.Sub(began) > time.Minute
								if late && ok {
									answers++
								} else if late {
									rejects++
								}
								return ok, next.Truncate(time.Second) + time.Second, left
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

// counting takes so many requests in each window, with those that it rejects counted
// too: OpenAI says that it does so.
type counting struct {
	windowed
	all []time.Time
}

func (l *counting) take(now time.Time) (bool, time.Duration, model.Window) {
	for len(l.all) > 0 && now.Sub(l.all[0]) >= l.window {
		l.all = l.all[1:]
	}
	l.all = append(l.all, now)
	if n := len(l.all) - l.limit; n > 0 {
		reset := l.window - now.Sub(l.all[n])
		return false, reset, model.Window{Reset: reset}
	}
	return true, 0, model.Window{Remaining: l.limit - len(l.all), Reset: l.window - now.Sub(l.all[0])}
}

// memory is a pace.Keeper in memory.
type memory struct {
	mu   sync.Mutex
	kept []byte
}

func (m *memory) Update(_ context.Context, change func([]byte, time.Time) ([]byte, error)) (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept, err = change(m.kept, time.Now().Add(-time.Hour)) // by a clock of its own
	return err
}

// TestRejectsCount asks providers that count what they reject, for 20 requests a second,
// from a cold start: by one process, and by three that share what they learn.
func TestRejectsCount(t *testing.T) {
	t.Parallel()
	const perSecond, seconds = 20, 120
	manners, latencies := []string{"when to come back", "nothing"}, []time.Duration{100 * time.Millisecond}
	long := os.Getenv("ORBENCH_LONG") != ""
	if long {
		manners, latencies = append(manners, "what is left"), append(latencies, time.Second)
	}
	for name, window := range map[string]time.Duration{"second": time.Second, "minute": time.Minute} {
		for _, says := range manners {
			for _, latency := range latencies {
				for _, processes := range []int{1, 3} {
					if processes > 1 && !long && (window > time.Second || says != "nothing") {
						continue
					}
					t.Run(fmt.Sprintf("%d by the %s says %s after %v", processes, name, says, latency), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							limit := &counting{windowed: windowed{limit: int(window.Seconds() * perSecond), window: window}}
							var mu sync.Mutex
							ask := limited(says, latency, 20*time.Millisecond, func(now time.Time) (bool, time.Duration, model.Window) {
								mu.Lock()
								defer mu.Unlock()
								return limit.take(now)
							})
							m := newStore(t)
							defer closeMemo(t, m)
							began := time.Now()
							var config LiveConfig
							if processes > 1 {
								shared := &memory{}
								config.Keep = func(model.Ref) pace.Keeper { return shared }
							}
							var answered, rejected int
							var all sync.WaitGroup
							for n := range processes {
								all.Go(func() {
									f := NewLive(m, config)
									lane := f.Lane(model.Ref{}, ask, Limits{Concurrency: 64})
									const each = perSecond * seconds
									if _, err := lane.fill(t.Context(), requests("m", n*each/processes, (n+1)*each/processes), nil); err != nil {
										t.Error(err)
									}
									mu.Lock()
									defer mu.Unlock()
									s := f.Stats()
									answered += s.Answered
									rejected += s.Rejected
								})
							}
							all.Wait()
							took := time.Since(began)
							t.Logf("%s: %d rejects for %d answers in %v", t.Name(), rejected, answered, took.Round(time.Second))
							if answered != perSecond*seconds || float64(rejected) >= 0.1*float64(answered) {
								t.Errorf("%d rejects for %d answers", rejected, answered)
							}
							// Processes that share what they learn know it a little later.
							if most := seconds * time.Second * 10 / 9; processes == 1 && took > most || took > most*10/9 {
								t.Errorf("took %v for %d seconds' worth", took, seconds)
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
		m := newStore(t)
		defer closeMemo(t, m)
		random := rand.New(rand.NewPCG(1, 2))
		var mu sync.Mutex
		f := NewLive(m, LiveConfig{})
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
				m := newStore(t)
				defer closeMemo(t, m)
				left := c.rejects
				f := NewLive(m, LiveConfig{})
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

// A provider that rejects each call and says when to come back is waited for without end,
// and the counts tell for which model, since when and until when. Between two answers they
// do not, nor when no call is left.
func TestHeldIsTold(t *testing.T) {
	t.Parallel()
	for _, concurrency := range []int{1, 8} {
		synctest.Test(t, func(t *testing.T) {
			m := newStore(t)
			defer closeMemo(t, m)
			began, rejecting := time.Now(), 30*time.Minute
			f := NewLive(m, LiveConfig{})
			at := model.Ref{Provider: "test", Model: "m"}
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
