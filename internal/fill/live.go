package fill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orbench/orbench/internal/pace"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// LiveConfig says how Live works. The zero value of each field is its default.
type LiveConfig struct {
	// Attempts is how often a call is tried before it counts as failed; 10 by
	// default, as in the OR-Bench protocol.
	Attempts int
	// Timeout bounds one attempt; 2 minutes by default.
	Timeout time.Duration
	// Backoff is the mean wait before the second attempt; it doubles with each
	// further one in a row, up to 30 seconds. 250 milliseconds by default.
	Backoff time.Duration
	// Random draws from [0, 1), for many goroutines at once, what part of twice its mean a
	// wait takes; that of math/rand/v2 by default.
	Random func() float64
	// Budget bounds what is spent of Account, which is nil for what only this process spends.
	Budget  Budget
	Account *Account
	// Limited has the words of each provider that limited the account before, by its name.
	// It is not asked.
	Limited map[string]string
	// Prices prices the calls. Models without a price are listed in Stats.
	Prices price.Table
	// Rate makes the limiters of lanes, which allow so many requests per minute; nil for
	// limits of this process.
	Rate func(at model.Ref, perMinute int) Limiter
	// Keep gives who keeps what processes learn together of the rate of a model; nil for what
	// this process learns alone.
	Keep func(of model.Ref) pace.Keeper
	// With is another Live of this process whose bounds of concurrent calls hold for both
	// together, as what they find out of the rates of providers; neither makes a call that
	// the other has under way. Nil for none.
	With *Live
	// Abort, when closed, abandons the attempts under way.
	Abort <-chan struct{}
}

func (c LiveConfig) withDefaults() LiveConfig {
	c.Attempts = cmp.Or(c.Attempts, 10)
	c.Timeout = cmp.Or(c.Timeout, 2*time.Minute)
	c.Backoff = cmp.Or(c.Backoff, 250*time.Millisecond)
	if c.Random == nil {
		c.Random = rand.Float64
	}
	if c.Rate == nil {
		c.Rate = ownRate
	}
	return c
}

// Live fills by calling the models at once, through a lane for each provider's
// endpoint. It serves one command and is safe for concurrent use.
type Live struct {
	store  *store.Store
	config LiveConfig
	budget *budget
	claims *claims
	finder finder
	busy   *busy
	// underWay is Stats.UnderWay.
	underWay atomic.Int64

	mu    sync.Mutex
	lanes []*Lane
	// failed holds the requests given up in this process, and those that are out in a
	// batch.
	failed   map[model.Hash]bool
	stats    Stats
	unpriced map[model.Ref]bool
	// limited is as Stats.Limited.
	limited map[string]string
}

// NewLive makes a Live without lanes that remembers in m.
func NewLive(m *store.Store, c LiveConfig) *Live {
	claims, busy := newClaims(m), &busy{calls: map[model.Hash]chan struct{}{}}
	if c.With != nil {
		busy = c.With.busy
	}
	return &Live{
		store: m, config: c.withDefaults(), budget: newBudget(c.Budget, c.Account), claims: claims, finder: finder{store: m, claims: claims, began: time.Now()},
		busy: busy, failed: map[model.Hash]bool{}, unpriced: map[model.Ref]bool{}, limited: maps.Clone(c.Limited),
	}
}

// Stats gives the counts so far.
func (f *Live) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.stats
	s.Limited = maps.Clone(f.limited)
	s.Reasons, s.UnderWay = slices.Clone(s.Reasons), int(f.underWay.Load())
	f.budget.into(&s)
	for _, l := range f.lanes {
		s.Width += l.gate.width()
		s.Held = append(s.Held, l.held(time.Now())...)
	}
	slices.SortFunc(s.Held, func(a, b Held) int { return cmp.Compare(a.Model.String(), b.Model.String()) })
	for of := range f.unpriced {
		s.Unpriced = append(s.Unpriced, of.String())
	}
	slices.Sort(s.Unpriced)
	s.Unpriced = slices.Compact(s.Unpriced)
	return s
}

// Limit has no model of a provider asked any more, which limited the account in some words.
func (f *Live) Limit(provider, words string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.limited == nil {
		f.limited = map[string]string{}
	}
	f.limited[provider] = cmp.Or(f.limited[provider], words)
}

// Bound puts another budget in place of that of the LiveConfig, for all calls from now on.
func (f *Live) Bound(limits Budget) {
	b := f.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if limits == b.limits {
		return
	}
	for b.changing {
		b.settled.Wait()
	}
	// What is held was left of the former bound.
	b.limits, b.held = limits, b.taken()
	b.settled.Broadcast()
}

// Ask gives the response to one request: the remembered one, or else that of a
// call. It is for work whose next request depends on this reply; gate, pace and
// budget of the request's lane hold for it as for Fill. It is safe for concurrent
// use, and equal requests that are asked at once are sent once.
//
// ok is false when the call failed, in this process or just now, or when its
// model was given up; Failures of the store and GivenUp say why. The error is
// that of Fill: the end of the context, a *BudgetError, a fault of the store.
func (f *Live) Ask(ctx context.Context, r model.Request) (response model.Response, ok bool, err error) {
	f.mu.Lock()
	lanes := f.lanes
	f.mu.Unlock()
	i := slices.IndexFunc(lanes, func(l *Lane) bool { return l.serves(r.Provider, r.Endpoint) })
	if i < 0 {
		return model.Response{}, false, fmt.Errorf("fill: there is no lane for %s/%s", r.Provider, r.Model)
	}
	return lanes[i].ask(ctx, r)
}

// GiveBack gives back what was taken ahead of calls and not used, for who makes a pause
// between calls of Ask, or has ended: to LiveConfig.Account what is not spent, and to the store the
// claims that have ended.
func (f *Live) GiveBack(ctx context.Context) error {
	return errors.Join(f.budget.giveBack(ctx), f.claims.release(ctx))
}

// GivenUp lists the *GivenUpErrors so far, those of one lane joined.
func (f *Live) GivenUp() (errs []error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.lanes {
		if err := l.givenUp(); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// Fill has the missing requests called, on all lanes at once and each at its own
// pace; see Filler. Its error joins those of the lanes.
func (f *Live) Fill(ctx context.Context, w Work) error {
	for {
		sent, err := f.fillLanes(ctx, w)
		if !onlyGivenUp(err) || sent == 0 || !w.Interdependent {
			return err
		}
		// The next turn is about what replies decide.
		w.Fixed = nil
	}
}

// fillLanes fills all lanes, each until nothing is missing on it, and gives the
// number of requests that were.
func (f *Live) fillLanes(ctx context.Context, w Work) (int, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	f.mu.Lock()
	lanes := slices.Clone(f.lanes)
	f.mu.Unlock()
	errs := make([]error, len(lanes))
	var total atomic.Int64
	var firstPasses, all sync.WaitGroup
	firstPasses.Add(len(lanes))
	knownDone := make(chan struct{})
	for i, lane := range lanes {
		all.Go(func() {
			sent, err := lane.work(ctx, w, firstPasses.Done, knownDone)
			total.Add(int64(sent))
			if !onlyGivenUp(err) {
				// What stops one lane (the budget, a full disk) stops the rest.
				stop(err)
			}
			errs[i] = err
		})
	}
	go func() {
		firstPasses.Wait()
		close(knownDone)
	}()
	all.Wait()
	<-knownDone
	return int(total.Load()), joinDistinct(errs)
}

// restBetweenPasses is the least time between two passes of a lane while others
// still work on what is known beforehand.
const restBetweenPasses = time.Second

// work fills one lane. The first pass covers what is known beforehand; then
// firstPass is called. A lane whose models are asked what replies decide goes on
// until a pass that began after all first ones were done finds nothing to send.
func (l *Lane) work(ctx context.Context, w Work, firstPass func(), knownDone <-chan struct{}) (all int, err error) {
	// Calls of a model that was given up are not looked for: each of them would be let through
	// by a walk of its own.
	serves := func(of model.Ref) bool { return l.serves(of.Provider, of.Endpoint) && l.about(of).givenUp() == nil }
	rounds := slices.ContainsFunc(w.Models, serves)
	first := sync.OnceFunc(firstPass)
	defer first()
	for known := l.own(ctx, w.Fixed); ; known = nil {
		last := false
		select {
		case <-knownDone:
			last = true
		default:
		}
		began := time.Now()
		var lacking iter.Seq2[model.Request, error]
		if rounds {
			lacking = l.own(ctx, func(ctx context.Context) iter.Seq2[model.Request, error] { return w.Missing(ctx, serves) })
		}
		sent, err := l.fill(ctx, known, lacking)
		all += sent
		if !onlyGivenUp(err) || !rounds || last && sent == 0 && (w.Held == nil || !w.Held(serves)) {
			return all, err
		}
		first()
		if last || sent > 0 {
			continue
		}
		// A pass reads all prompts, so a rest in proportion keeps the share of
		// the processor that passes take small.
		select {
		case <-knownDone:
		case <-time.After(max(restBetweenPasses, 4*time.Since(began))):
		case <-ctx.Done():
		}
	}
}

// own streams those of some requests, nil for none, that belong to the lane.
func (l *Lane) own(ctx context.Context, all Requests) iter.Seq2[model.Request, error] {
	if all == nil {
		return nil
	}
	return func(yield func(model.Request, error) bool) {
		for r, err := range all(ctx) {
			if (err != nil || l.serves(r.Provider, r.Endpoint)) && !yield(r, err) {
				return
			}
		}
	}
}

// joinDistinct joins errors, leaving out those that are or say the same as an
// earlier one: the cause that stopped several lanes.
func joinDistinct(errs []error) error {
	var distinct []error
	for _, err := range errs {
		same := func(d error) bool { return errors.Is(d, err) || d.Error() == err.Error() }
		if err != nil && !slices.ContainsFunc(distinct, same) {
			distinct = append(distinct, err)
		}
	}
	return errors.Join(distinct...)
}

// onlyGivenUp reports whether an error says no more than that models were given
// up, which is no reason to stop the others. It holds for nil.
func onlyGivenUp(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(joined.Unwrap(), func(e error) bool { return !onlyGivenUp(e) })
	}
	return err == nil || errors.As(err, new(*GivenUpError))
}
