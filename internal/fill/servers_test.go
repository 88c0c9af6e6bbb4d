package fill

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// kept is a store that forgets what it is given: these calls differ, and are made once.
type kept struct {
	store.Backend
	mu sync.Mutex
	id int64
}

func (k *kept) Claim(context.Context, []model.Hash, time.Duration, int64) (store.Claim, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.id++
	return store.Claim{ID: k.id}, nil
}

func (k *kept) Renew(context.Context, time.Duration) ([]int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make([]int64, k.id)
	for i := range all {
		all[i] = int64(i + 1)
	}
	return all, nil
}

func (*kept) Has(context.Context, []model.Hash) (map[model.Hash]bool, error) { return nil, nil }
func (*kept) Release(context.Context, []int64) error                         { return nil }
func (*kept) Put(context.Context, []store.Record) error                      { return nil }
func (*kept) PutFailures(context.Context, []store.Failure) error             { return nil }
func (*kept) Close() error                                                   { return nil }

// served is what a simulated server does with a call, and after how long.
type served struct {
	after time.Duration
	err   *model.Error
	said  *model.Allowance
	// tokens is what an answer used, 10 where it is 0.
	tokens int
}

// arrival is a call as a server sees it: the time since the first, how many are being answered,
// the reader's draw.
type arrival struct {
	at       time.Duration
	inFlight int
	random   *rand.Rand
}

// between draws a time.
func (a arrival) between(from, to time.Duration) time.Duration {
	return from + time.Duration(a.random.Float64()*float64(to-from))
}

// about draws a time from a log-normal distribution with a mean.
func (a arrival) about(mean time.Duration, sigma float64) time.Duration {
	return time.Duration(float64(mean) * math.Exp(sigma*a.random.NormFloat64()-sigma*sigma/2))
}

// server is one of the family.
type server struct {
	name        string
	concurrency int
	// share of the oracle at least, rejects per answer at most (0 for any number).
	share, rejects float64
	// serve makes a server that decides about calls; nobody else asks it meanwhile.
	serve func() func(arrival) served
	// could is how many answers a second the oracle gets at a time, who knows the server.
	could func(at time.Duration) float64
	// burst is what it gets at once before.
	burst float64
	// back is when the server takes all again after a dip: the share is then of the rate
	// that is met within 30 s.
	back time.Duration
	// other is the share of another client's calls that were taken, nil where there is none.
	other func() float64
}

const (
	rejectFrom, rejectTo = 10 * time.Millisecond, 30 * time.Millisecond
	meanReject           = (rejectFrom + rejectTo) / 2
	spread               = 0.3
)

func reject(a arrival, status int, retryAfter time.Duration) served {
	kind := model.Transient
	switch status {
	case 429:
		kind = model.RateLimited
	case 504:
		kind = model.Timeout
	}
	return served{after: a.between(rejectFrom, rejectTo), err: &model.Error{Kind: kind, Status: status, RetryAfter: retryAfter}}
}

func steady(rate float64) func(time.Duration) float64 {
	return func(time.Duration) float64 { return rate }
}

// each is the rate of so many places that take so long for an answer.
func each(places int, answer time.Duration) func(time.Duration) float64 {
	return steady(float64(places) / answer.Seconds())
}

// random rejects a share of calls, however fast they come.
func random(share float64, latency, retryAfter time.Duration, bar float64) server {
	const places = 64
	odds := share / (1 - share)
	return server{
		name: fmt.Sprintf("random 429, %g%%, %v, Retry-After %v", 100*share, latency, retryAfter), concurrency: places, share: bar,
		serve: func() func(arrival) served {
			return func(a arrival) served {
				if a.random.Float64() < share {
					return reject(a, 429, retryAfter)
				}
				return served{after: a.about(latency, spread)}
			}
		},
		could: each(places, latency+time.Duration(odds*float64(meanReject))),
	}
}

// limits is a server with a limit on requests. says is "exact" or "whole" for Retry-After, in
// fractions or in whole seconds, "left" for headers and "nothing".
func limits(name, says string, rate, burst, bar, rejects float64, make func() limiter) server {
	const latency = 300 * time.Millisecond
	return server{
		name: name + ", says " + says, concurrency: 128, share: bar, rejects: rejects, burst: burst, could: steady(rate),
		serve: func() func(arrival) served {
			l := make()
			return func(a arrival) served {
				ok, next, left := l.take(time.Unix(0, 0).Add(a.at))
				r := served{after: a.about(latency, spread)}
				if !ok {
					switch says {
					case "exact":
						r = reject(a, 429, next)
					case "whole":
						r = reject(a, 429, next.Truncate(time.Second)+time.Second)
					default:
						r = reject(a, 429, 0)
					}
				}
				if says == "left" {
					r.said = &model.Allowance{Requests: left}
				}
				return r
			}
		},
	}
}

// strict is a bucket whose rate may change with time.
type strict struct {
	burst  float64
	rate   func(at time.Duration) float64
	tokens float64
	at     time.Duration
}

func newStrict(burst float64, rate func(time.Duration) float64) *strict {
	return &strict{burst: burst, rate: rate, tokens: burst}
}

func (s *strict) take(now time.Time) (bool, time.Duration, model.Window) {
	at := now.Sub(time.Unix(0, 0))
	r := s.rate(at)
	s.tokens = min(s.burst, s.tokens+(at-s.at).Seconds()*r)
	s.at = at
	ok := s.tokens > 1-1e-6
	if ok {
		s.tokens--
	}
	seconds := func(x float64) time.Duration { return time.Duration(math.Ceil(x * 1e9)) }
	return ok, seconds((1 - s.tokens) / r), model.Window{Remaining: int(s.tokens), Reset: seconds((s.burst - s.tokens) / r)}
}

// full rejects calls with a status when more than so many are being answered.
func full(name string, status, concurrency int, bar, rejects float64, room func(at time.Duration) float64) server {
	const latency = 500 * time.Millisecond
	return server{
		name: name, concurrency: concurrency, share: bar, rejects: rejects,
		serve: func() func(arrival) served {
			return func(a arrival) served {
				if float64(a.inFlight) >= math.Floor(room(a.at)) {
					return reject(a, status, 0)
				}
				return served{after: a.about(latency, spread)}
			}
		},
		could: func(at time.Duration) float64 {
			return min(float64(concurrency), math.Floor(room(at))) / latency.Seconds()
		},
	}
}

// faults of eight kinds on 30% of calls.
func faults() server {
	const places, latency = 64, 500 * time.Millisecond
	const slowBy, kinds, share = 2 * time.Second, 8, 0.3
	odds := share * (kinds - 1) / kinds / (1 - share*(kinds-1)/kinds)
	slow := share / kinds / (1 - share*(kinds-1)/kinds)
	return server{
		name: "faults of eight kinds on 30%", concurrency: places, share: 0.5,
		serve: func() func(arrival) served {
			return func(a arrival) served {
				answer := a.about(latency, spread)
				if a.random.Float64() >= share {
					return served{after: answer}
				}
				switch kind := a.random.IntN(kinds); kind {
				case 0:
					return reject(a, 429, time.Second)
				case 1, 2, 3, 4, 5:
					return reject(a, []int{500, 502, 503, 504, 529}[kind-1], 0)
				case 6:
					return served{after: a.between(rejectFrom, rejectTo), err: &model.Error{Kind: model.Transient}} // a reset
				default:
					return served{after: answer + slowBy}
				}
			}
		},
		could: each(places, latency+time.Duration(odds*float64(meanReject)+slow*float64(slowBy))),
	}
}

// family is the servers, with what is asked of the pace at each.
func family() []server {
	var all []server
	for _, retryAfter := range []time.Duration{0, time.Second, 2 * time.Second} {
		all = append(all, random(0.05, 500*time.Millisecond, retryAfter, 0.8))
	}
	for _, retryAfter := range []time.Duration{0, 2 * time.Second} {
		all = append(all, random(0.2, 500*time.Millisecond, retryAfter, 0.3), random(0.05, 20*time.Millisecond, retryAfter, 0.45))
	}
	all = append(all, faults())
	for _, rate := range []float64{10, 50, 200} {
		for _, says := range []string{"exact", "whole", "nothing", "left"} {
			rejects := 0.1
			if says == "left" {
				rejects = 0.08
			}
			all = append(all, limits(fmt.Sprintf("bucket of 1, %g a second", rate), says, rate, 1, 0.8, rejects, func() limiter { return newStrict(1, steady(rate)) }))
		}
	}
	for _, says := range []string{"exact", "nothing"} {
		all = append(all, limits("bucket of 100, 50 a second", says, 50, 100, 0.9, 0.15, func() limiter { return newStrict(100, steady(50)) }))
	}
	for _, perMinute := range []int{300, 600, 800, 3000} {
		for _, slides := range []bool{false, true} {
			kind := map[bool]string{false: "fixed", true: "sliding"}[slides]
			all = append(all, limits(fmt.Sprintf("%d a minute, %s", perMinute, kind), "nothing", float64(perMinute)/60, float64(perMinute), 0.75, 0.05, func() limiter {
				return &windowed{limit: perMinute, window: time.Minute, slides: slides}
			}))
		}
	}
	all = append(all, tokens(), sharing(),
		server{})
	all[len(all)-1] = limits("a tenth for 20 s", "nothing", 0, 1, 0.8, 0.1, func() limiter { return newStrict(1, dip) })
	all[len(all)-1].could, all[len(all)-1].back = dip, dipTo
	const answer = 500 * time.Millisecond
	all = append(all,
		server{
			name: "throughput peaks at 32 in flight", concurrency: 256, share: 0.6,
			serve: func() func(arrival) served {
				return func(a arrival) served {
					n := float64(a.inFlight+1) / 32
					return served{after: a.about(time.Duration(float64(answer)*(1+n*n)), spread)}
				}
			},
			could: steady(16 / answer.Seconds()),
		},
		server{
			name: "30 s an answer, heavy tails", concurrency: 256, share: 0.85,
			serve: func() func(arrival) served {
				return func(a arrival) served { return served{after: a.about(30*time.Second, 1)} }
			},
			could: each(256, 30*time.Second),
		},
		full("room grows from 8 to 64", 503, 128, 0.75, 0.1, func(at time.Duration) float64 { return 8 + 56*min(1, at.Minutes()/5) }),
		full("503 above 16 in flight, 64 allowed", 503, 64, 0.75, 0.3, steady(16)),
		full("529 above 16 in flight, 128 allowed", 529, 128, 0.75, 0.3, steady(16)),
		server{
			name: "504 at once for 20%", concurrency: 64, share: 0.75,
			serve: func() func(arrival) served {
				return func(a arrival) served {
					if a.random.Float64() < 0.2 {
						return reject(a, 504, 0)
					}
					return served{after: a.about(answer, spread)}
				}
			},
			could: each(64, answer+meanReject/4),
		})
	return all
}

const dipFrom, dipTo = 60 * time.Second, 80 * time.Second

// dip is a rate that falls to a tenth for a while.
func dip(at time.Duration) float64 {
	if at >= dipFrom && at < dipTo {
		return 5
	}
	return 50
}

// tokens is a limit on tokens a minute.
func tokens() server {
	const perMinute, mean = 300_000, 500
	l := limits("tokens per minute", "nothing", perMinute/mean/60, perMinute/mean, 0.85, 0.06, nil)
	l.serve = func() func(arrival) served {
		type use struct {
			at     time.Duration
			tokens int
		}
		var window []use
		used := 0
		return func(a arrival) served {
			for len(window) > 0 && a.at-window[0].at >= time.Minute {
				used -= window[0].tokens
				window = window[1:]
			}
			n := int(a.about(mean*time.Second, 0.7).Seconds()) + 1
			if used+n > perMinute {
				return reject(a, 429, 0)
			}
			used += n
			window = append(window, use{a.at, n})
			return served{after: a.about(300*time.Millisecond, spread), tokens: n}
		}
	}
	return l
}

// sharing is a limit of which another client takes a half for every other minute.
func sharing() server {
	other := func(at time.Duration) bool { return int(at.Minutes())%2 == 1 }
	l := limits("shared with a client that comes and goes", "nothing", 50, 5, 0.7, 0.15, nil)
	var took, tried float64
	l.other = func() float64 { return took / tried }
	l.serve = func() func(arrival) served {
		s := newStrict(5, steady(50))
		var next time.Duration // call of the other
		return func(a arrival) served {
			for next <= a.at {
				if other(next) {
					tried++
					if ok, _, _ := s.take(time.Unix(0, 0).Add(next)); ok {
						took++
					}
				}
				next += time.Second / 25
			}
			if ok, _, _ := s.take(time.Unix(0, 0).Add(a.at)); !ok {
				return reject(a, 429, 0)
			}
			return served{after: a.about(300*time.Millisecond, spread)}
		}
	}
	l.could = func(at time.Duration) float64 {
		if other(at) {
			return 25
		}
		return 50
	}
	return l
}

// result is what a run of calls came to.
type result struct{ share, rejects float64 }

// run asks a server for so many answers.
func (s server) run(t *testing.T, seed uint64, calls int) (got result) {
	synctest.Test(t, func(t *testing.T) {
		m := store.New(&kept{})
		defer closeMemo(t, m)
		rnd := rand.New(rand.NewPCG(seed, 28))
		serve, began := s.serve(), time.Now()
		var mu sync.Mutex
		var inFlight, rejects int
		var answers []time.Duration
		f := NewLive(m, LiveConfig{Random: func() float64 {
			mu.Lock()
			defer mu.Unlock()
			return rnd.Float64()
		}})
		lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
			mu.Lock()
			reply := serve(arrival{time.Since(began), inFlight, rnd})
			if reply.err == nil {
				inFlight++
			} else if s := reply.err.Status; (s == 429 || s == 503 || s == 529) && len(answers) >= 128 {
				rejects++
			}
			mu.Unlock()
			time.Sleep(reply.after)
			if reply.err != nil {
				reply.err.Allowance = reply.said
				return model.Response{}, reply.err
			}
			mu.Lock()
			defer mu.Unlock()
			inFlight--
			answers = append(answers, time.Since(began))
			tokens := max(reply.tokens, 10)
			return model.Response{Text: "yes", Finish: model.Stop, Usage: model.Usage{Input: tokens / 2, Output: tokens - tokens/2}, Allowance: reply.said}, nil
		}), Limits{Concurrency: s.concurrency})
		_, err := lane.fill(t.Context(), requests("m", 0, calls), nil)
		if st := f.Stats(); err != nil || st.Failed > 0 || len(answers) != calls {
			t.Errorf("seed %d: %d of %d answered: %v; %v", seed, len(answers), calls, err, st.Reasons)
		}
		if len(answers) == 0 {
			return
		}
		// The oracle has a tail too: the last calls, with no others beside them, are left out.
		n := max(1, len(answers)-s.concurrency)
		got.rejects = float64(rejects) / float64(max(1, len(answers)-128))
		if s.back > 0 {
			got.share = s.recovery(answers)
			return
		}
		could := s.burst
		for at := time.Duration(0); at < answers[n-1]; at += 100 * time.Millisecond {
			could += 0.1 * s.could(at)
		}
		got.share = float64(n) / could
	})
	return got
}

// recovery is the best rate of answers over five seconds that ended within half a minute of the
// server's return, as a share of what it takes.
func (s server) recovery(answers []time.Duration) (best float64) {
	const over = 5 * time.Second
	for i, at := range answers {
		if at < s.back || at > s.back+30*time.Second {
			continue
		}
		first, _ := slices.BinarySearch(answers, at-over)
		best = max(best, float64(i+1-first)/over.Seconds()/s.could(at))
	}
	return best
}

// TestServers asks each server of the family, in virtual time, with the real lane and pacer, for
// answers; and holds its pace against an oracle that knows the server: the mean of the seeds to
// the bar, the worst to 0.8 of it. Rejects count after the first 128 answers. No call may fail.
// ORBENCH_LONG has ten seeds and all servers, not one and every third; ORBENCH_SEEDS has other
// seeds, such as 101-110.
func TestServers(t *testing.T) {
	t.Parallel()
	from, to, calls := uint64(1), uint64(1), 12_000
	long := os.Getenv("ORBENCH_LONG") != ""
	if long {
		to = 10
	}
	if s := os.Getenv("ORBENCH_SEEDS"); s != "" {
		if _, err := fmt.Sscanf(s, "%d-%d", &from, &to); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	var table []string
	t.Cleanup(func() {
		slices.Sort(table)
		t.Logf("seeds %d to %d, %d calls\n%-48s %15s %17s %s\n%s", from, to, calls, "server", "share (worst)", "rejects (worst)", "bars", strings.Join(table, "\n"))
	})
	for i, s := range family() {
		if i%3 != 0 && !long {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			var mean, worst result
			worst.share = math.Inf(1)
			n := float64(to - from + 1)
			for seed := from; seed <= to; seed++ {
				got := s.run(t, seed, calls)
				mean.share, mean.rejects = mean.share+got.share/n, mean.rejects+got.rejects/n
				worst.share, worst.rejects = min(worst.share, got.share), max(worst.rejects, got.rejects)
			}
			missed := ""
			if n < 10 {
				// The mean of few seeds is held to what the worst of ten is.
				mean.share, mean.rejects = mean.share/0.8, mean.rejects/2
			}
			if mean.share < s.share || worst.share < 0.8*s.share || s.rejects > 0 && mean.rejects > s.rejects {
				missed = "  MISSED"
				t.Errorf("share %.3f, at worst %.3f, want %.2f; %.3f rejects an answer, want %.2f at most", mean.share, worst.share, s.share, mean.rejects, s.rejects)
			}
			if n < 10 {
				mean.share, mean.rejects = mean.share*0.8, mean.rejects*2
			}
			if s.other != nil {
				missed += fmt.Sprintf("  (%.2f of the other client's calls are taken)", s.other())
			}
			mu.Lock()
			defer mu.Unlock()
			table = append(table, fmt.Sprintf("%-48s %6.3f (%.3f)  %6.3f (%.3f)    %.2f %.2f%s", s.name, mean.share, worst.share, mean.rejects, worst.rejects, s.share, s.rejects, missed))
		})
	}
}
