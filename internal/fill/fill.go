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
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

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
	// Rate makes the limiters of lanes, which allow so many units, "requests" or "tokens",
	// per minute; nil for limits of this process.
	Rate func(at model.Ref, unit string, perMinute int) Limiter
	// Keep gives who keeps what processes learn together of the rate of a model; nil for what
	// this process learns alone.
	Keep func(of model.Ref) pace.Keeper
	// With is another Live of this process whose bounds of concurrent calls hold for both
	// together, as what they find out of the rates of providers; neither makes a call that
	// the other has under way. Nil for none.
	With *Live
	// Observe is called for every new response once it is durable, from many
	// goroutines at once; nil for nobody.
	Observe func(model.Request, model.Response)
	// AskBatched makes calls that a batch also has, so that they may be paid for twice. If
	// it is false, they are left to the batch.
	AskBatched bool
	// Abort, when closed, abandons the attempts under way.
	Abort <-chan struct{}
}

func (c LiveConfig) withDefaults() LiveConfig {
	if c.Attempts == 0 {
		c.Attempts = 10
	}
	if c.Timeout == 0 {
		c.Timeout = 2 * time.Minute
	}
	if c.Backoff == 0 {
		c.Backoff = 250 * time.Millisecond
	}
	if c.Random == nil {
		c.Random = rand.Float64
	}
	return c
}

// Limits bound one lane. The zero value of a rate means no bound.
type Limits struct {
	// Concurrency is the most calls at once, at least 1.
	Concurrency       int
	RequestsPerMinute int
	TokensPerMinute   int
}

// Stats counts what Live has done so far.
type Stats struct {
	// Requests counts attempts sent; Answered the responses among them that
	// are remembered, of which Blocked were withheld by the provider.
	Requests, Answered, Blocked int
	// Failed counts calls given up, Retries the attempts after the first, Rejected those
	// that the provider turned away as too many, which are neither.
	Failed, Retries, Rejected int
	// Retried is why the last of the Retries was needed.
	Retried string `json:",omitempty"`
	// Reasons are why calls failed, the most frequent first.
	Reasons []Reason
	// UnderWay counts the attempts that are waited for now, or whose response is being
	// remembered.
	UnderWay int
	// Present counts the requests known beforehand, and those of Ask, that were
	// remembered before. What is found to be lacking is not remembered; if it is by the
	// time that it would be sent, this process has had it sent.
	Present int
	// Elsewhere counts the calls that another process has made while this one ran, and
	// Waiting those that it is making now and this one waits for.
	Elsewhere, Waiting int
	// Batched counts the calls that are out in a batch, and were not made for that.
	Batched int
	// Width is the present bound of concurrent calls over all lanes.
	Width int
	Usage model.Usage
	// USD is the price of the new responses whose model has one.
	USD float64
	// Charged counts the failed attempts that the provider may have charged for, and
	// FailedUSD is the most that those of models with a price can have cost, FailedTokens
	// the most that all of them can have used.
	Charged      int
	FailedUSD    float64
	FailedTokens int
	// Unpriced lists "provider/model" of responses, and of failed attempts that may have
	// been charged, without a price, sorted.
	Unpriced []string
	// Held are the models that are waited for, by their names.
	Held []Held
	// Limited has the words of each provider that limited the account, by its name. It is
	// asked no more.
	Limited map[string]string `json:",omitempty"`
}

// Found counts the responses that are there now.
func (s *Stats) Found() int { return s.Answered + s.Present + s.Elsewhere }

// Add adds the counts of another fill, and those of its models that are Unpriced. Held stays
// as it is.
func (s *Stats) Add(o Stats) {
	s.Requests += o.Requests
	s.Answered += o.Answered
	s.Blocked += o.Blocked
	s.Failed += o.Failed
	s.Retries, s.Retried = s.Retries+o.Retries, cmp.Or(o.Retried, s.Retried)
	s.Rejected += o.Rejected
	for _, r := range o.Reasons {
		s.Reasons = counted(slices.Clone(s.Reasons), r)
	}
	s.UnderWay += o.UnderWay
	s.Present += o.Present
	s.Elsewhere += o.Elsewhere
	s.Waiting += o.Waiting
	s.Batched += o.Batched
	s.Width += o.Width
	s.Usage.Add(o.Usage)
	s.USD += o.USD
	s.Charged += o.Charged
	s.FailedUSD += o.FailedUSD
	s.FailedTokens += o.FailedTokens
	s.Unpriced = slices.Concat(s.Unpriced, o.Unpriced)
	slices.Sort(s.Unpriced)
	s.Unpriced = slices.Compact(s.Unpriced)
	if len(o.Limited) > 0 {
		all := maps.Clone(o.Limited)
		maps.Copy(all, s.Limited)
		s.Limited = all
	}
}

// Held is a model that rejects calls as too many, or says that it would.
type Held struct {
	Model model.Ref
	// It has rejected all calls For so long, and is asked again In so long.
	For, In time.Duration
}

// Missing counts the calls that are still to be made: those that failed, and those that a
// batch makes.
func (s Stats) Missing() int { return s.Failed + s.Batched }

// Unanswered counts the attempts that gave no answer, whether they may have been charged
// or not.
func (s Stats) Unanswered() int { return s.Retries + s.Rejected + s.Failed }

// Load is how what bounds Live's calls is used.
type Load struct {
	// Paced is how long calls have waited for the rates of Limits, all together.
	Paced time.Duration
	// Budget is that of the LiveConfig, and Left what may still be spent of it: neither spent
	// nor reserved for a call.
	Budget, Left Budget
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
	// paced is the time, in nanoseconds, that calls have waited for rates.
	paced atomic.Int64
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
	claims, busy := newClaims(m), newBusy()
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
	if f.limited[provider] == "" {
		f.limited[provider] = words
	}
}

// Load gives how bounds are used now.
func (f *Live) Load() Load {
	bound, left := f.budget.left()
	return Load{Paced: time.Duration(f.paced.Load()), Budget: bound, Left: left}
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

// Lane is the way to one provider endpoint, for all of its models.
type Lane struct {
	filler             *Live
	provider, endpoint string

	model  model.Model
	limits Limits
	gate   *gate
	// shares is the lane whose gate and pacers are this one's too, nil for none.
	shares *Lane
	// requests and tokens pace the lane; nil without a bound.
	requests, tokens Limiter

	mu sync.Mutex
	// models are by their name.
	models map[string]*asked
	// answers and output give the mean length of an answer, in tokens, for
	// pacing.
	answers, output int
}

// Lane adds the lane to the provider and endpoint of a model, whose calls m makes,
// or gives the one that is there.
func (f *Live) Lane(at model.Ref, m model.Model, l Limits) *Lane {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.IndexFunc(f.lanes, func(l *Lane) bool { return l.serves(at.Provider, at.Endpoint) }); i >= 0 {
		return f.lanes[i]
	}
	l.Concurrency = max(1, l.Concurrency)
	lane := &Lane{filler: f, provider: at.Provider, endpoint: at.Endpoint, model: m, limits: l, gate: newGate(l.Concurrency), models: map[string]*asked{}}
	if f.config.With != nil {
		lane.shares = f.config.With.Lane(at, m, Limits{Concurrency: l.Concurrency})
		lane.gate = lane.shares.gate
	}
	limiter := f.config.Rate
	if limiter == nil {
		limiter = ownRate
	}
	if n := l.RequestsPerMinute; n > 0 {
		lane.requests = limiter(at, "requests", n)
	}
	if n := l.TokensPerMinute; n > 0 {
		lane.tokens = limiter(at, "tokens", n)
	}
	f.lanes = append(f.lanes, lane)
	return lane
}

// Limiter paces a lane.
type Limiter interface {
	// WaitN returns when n more may be used, or why they never may.
	WaitN(ctx context.Context, n int) error
	// Burst is the most that WaitN can be asked for.
	Burst() int
}

// ownRate is a limiter of this process. Of requests a second's worth may go at once.
func ownRate(_ model.Ref, unit string, perMinute int) Limiter {
	burst := perMinute
	if unit == "requests" {
		burst = max(1, perMinute/60)
	}
	return rate.NewLimiter(rate.Limit(float64(perMinute)/60), burst)
}

// GivenUpError says that a model was given up: its remaining requests were not
// sent.
type GivenUpError struct {
	Provider, Model string
	// InRow is how many calls failed one after the other, 0 when the first
	// error was enough.
	InRow int
	Err   error
}

// Error gives one line.
func (e *GivenUpError) Error() string {
	of := e.Provider + "/" + e.Model
	why := strings.TrimPrefix(e.Err.Error(), of+": ")
	if e.InRow > 0 {
		return fmt.Sprintf("gave up %s after %d failed calls in a row, the last: %s", of, e.InRow, why)
	}
	return "gave up " + of + ": " + why
}

// Unwrap returns the last call's error.
func (e *GivenUpError) Unwrap() error { return e.Err }

// call is a request on its way.
type call struct {
	request   model.Request
	canonical []byte
	hash      model.Hash
	// known is true for one of Work.Fixed.
	known bool
	// claim is that under which it is this process's to make.
	claim *claim
	// waits tells that it waits by itself for its next attempt.
	waits func()
}

// ref is the model that is called.
func (c *call) ref() model.Ref {
	return model.Ref{Provider: c.request.Provider, Endpoint: c.request.Endpoint, Model: c.request.Model}
}

// mostWaiting is how many times its Concurrency a lane has calls that wait by themselves.
const mostWaiting = 8

// lookAhead is how many wanted requests are looked up together.
const lookAhead = 256

// fill sends the requests that are missing of those that are known beforehand and
// those that are found to be lacking, nil for none, and returns when all of them are
// remembered or have failed. sent is how many were missing; after a stop not all of
// them were tried. Requests may be repeated.
//
// It stops early, with the calls under way finished, on the context's end (its
// cause is returned), on a *BudgetError, on an error of the store or of the requests.
// A model given up does not stop it; its *GivenUpError is returned at the end.
func (l *Lane) fill(ctx context.Context, known, lacking iter.Seq2[model.Request, error]) (sent int, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	calls, abandon := l.filler.outliving(ctx)
	defer abandon()
	// The buffer lets the next requests be looked up while these are worked on.
	work := make(chan call, l.together())
	var workers sync.WaitGroup
	var mu sync.Mutex
	var faults []error
	// A call that waits by itself leaves its worker's turn to another one.
	spare := make(chan struct{}, mostWaiting*l.limits.Concurrency)
	var worker func()
	worker = func() {
		calls, stored := model.Hold(calls)
		for c := range work {
			replaced := false
			c.waits = func() {
				if replaced {
					return
				}
				select {
				case spare <- struct{}{}:
					replaced = true
					workers.Go(worker)
				default:
				}
			}
			_, _, err := l.answer(ctx, calls, c)
			stored()
			if err != nil {
				stop(err)
				mu.Lock()
				faults = append(faults, err)
				mu.Unlock()
			}
			if replaced {
				<-spare
				return
			}
		}
	}
	for range l.limits.Concurrency {
		workers.Go(worker)
	}
	sent, err = l.dispatch(ctx, known, lacking, work)
	close(work)
	workers.Wait()
	if err == nil || errors.Is(err, context.Canceled) {
		// What was canceled, as a look into the store may be, does not know why.
		err = cmp.Or(context.Cause(ctx), err)
	}
	// An answer under way that could not be kept is told of, whatever the fill had ended for.
	err = joinDistinct(append([]error{err}, faults...))
	if released := l.filler.claims.release(context.WithoutCancel(ctx)); err == nil {
		err = released
	}
	return sent, errors.Join(err, l.givenUp())
}

// outliving gives the context of calls under way: it outlives ctx until the user
// aborts. The caller abandons it when no call is left.
func (f *Live) outliving(ctx context.Context) (calls context.Context, abandon func()) {
	calls, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-f.config.Abort:
			cancel()
		case <-calls.Done():
		}
	})
	return calls, func() {
		stop()
		cancel()
	}
}

// together is how many calls are claimed together.
func (l *Lane) together() int { return min(max(l.limits.Concurrency, claimAtLeast), lookAhead) }

// dispatch hands the missing ones among the requests to the workers, and waits for those
// that another process makes.
func (l *Lane) dispatch(ctx context.Context, known, lacking iter.Seq2[model.Request, error], work chan<- call) (sent int, err error) {
	d := dispatcher{Lane: l, work: work, enough: lookAhead}
	defer d.leave()
	chunk := make([]call, 0, lookAhead)
	flush := func() error {
		seen := l.filler.claims.look()
		missing, err := l.filler.missing(ctx, chunk)
		chunk = chunk[:0]
		return d.hand(ctx, missing, seen, err)
	}
	for i, wanted := range []iter.Seq2[model.Request, error]{known, lacking} {
		if wanted == nil {
			continue
		}
		for r, err := range wanted {
			if err == nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				return d.sent, err
			}
			canonical := r.Canonical()
			chunk = append(chunk, call{request: r, canonical: canonical, hash: model.HashCanonical(canonical), known: i == 0})
			if len(chunk) == cap(chunk) {
				if err := flush(); err != nil {
					return d.sent, err
				}
			}
		}
	}
	if err := flush(); err != nil {
		return d.sent, err
	}
	for len(d.taken) > 0 {
		if err := sleep(ctx, claimPoll); err != nil {
			return d.sent, err
		}
		if err := d.again(ctx); err != nil {
			return d.sent, err
		}
	}
	return d.sent, nil
}

// missing gives those calls that are not remembered, not busy and not failed
// before, and marks them busy. Marking comes before looking up: a call that
// ends in between is remembered before it stops being busy, so it is found.
func (f *Live) missing(ctx context.Context, calls []call) ([]call, error) {
	claimed := make([]call, 0, len(calls))
	hashes := make([]model.Hash, 0, len(calls))
	for _, c := range calls {
		if _, entered := f.busy.enter(c.hash); !entered {
			continue
		}
		if f.hasFailed(c.hash) {
			f.busy.leave(c.hash)
			continue
		}
		claimed = append(claimed, c)
		hashes = append(hashes, c.hash)
	}
	present, err := f.store.Has(ctx, hashes)
	if err != nil {
		// All are returned, for the caller to release.
		return claimed, err
	}
	missing := claimed[:0]
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range claimed {
		if present[c.hash] {
			f.busy.leave(c.hash)
			if c.known {
				f.stats.Present++
			}
			continue
		}
		missing = append(missing, c)
	}
	return missing, nil
}

// hasFailed reports whether a call was given up. One that fails is noted before it stops
// being busy, so who asks while it marks the call itself does not miss it.
func (f *Live) hasFailed(h model.Hash) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed[h]
}

// givenUp joins the errors of the lane's dead models, in the order of their
// names.
func (l *Lane) givenUp() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(l.models)) {
		if dead := l.models[name].givenUp(); dead != nil {
			errs = append(errs, dead)
		}
	}
	return errors.Join(errs...)
}

// held lists the models of the lane that are waited for.
func (l *Lane) held(now time.Time) (held []Held) {
	if l.shares != nil {
		return nil // it says so itself
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.models {
		if since, until, ok := a.pacer.Held(now); ok {
			held = append(held, Held{a.Ref, now.Sub(since), until.Sub(now)})
		}
	}
	return held
}
