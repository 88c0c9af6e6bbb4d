package pace

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/orbench/orbench/model"
)

// Pacer spreads the calls of one model over time as its provider lets it; the package says
// how. It sends at once until the provider rejects calls or says how many it will take.
//
// Where other processes ask with the same key, a Keeper has what all of them have learned.
// Who sends at a rate takes passes from it, a few ahead; who sends freely looks into it now
// and then; and a reject that one sees is told at once.
type Pacer struct {
	// turn is held by the one call that waits for its time; others wait for it.
	turn chan struct{}
	// keeper is nil for what this process learns alone.
	keeper Keeper
	// asking is held by who asks the keeper.
	asking sync.Mutex

	mu sync.Mutex
	// changed is closed, and replaced, when whoever waits should look again.
	changed chan struct{}
	// learned is as this process knows it.
	learned
	// events are what the keeper does not know yet, asked is when it was last asked, and
	// passes are those that it gave.
	events []event
	asked  time.Time
	passes []Pass
	// calls counts those under way or waiting.
	calls int
	// sent is what became of the last of them; crowded is true once calls were rejected for
	// their number.
	sent    sent
	crowded bool
}

// Keeper keeps what several processes learn of a provider together.
type Keeper interface {
	// Update replaces what is kept, nil for nothing, by what change makes of it. Nobody else
	// does so meanwhile. now is the time by the clock of the keeper. change may be called again.
	Update(ctx context.Context, change func(kept []byte, now time.Time) ([]byte, error)) error
}

// New makes a Pacer that knows of no limit. A provider that is closed and does not say when
// it will take calls again is tried after first; k is nil for what this process learns alone.
func New(first time.Duration, k Keeper) *Pacer {
	return &Pacer{turn: make(chan struct{}, 1), changed: make(chan struct{}), learned: learned{first: first, Opened: time.Now()}, keeper: k}
}

// Wait returns when the call may go, or the context's cause.
func (p *Pacer) Wait(ctx context.Context) (Pass, error) {
	p.mu.Lock()
	if !p.Closed && p.distance() == 0 && p.HeldUntil.IsZero() && !p.asked.IsZero() == (p.keeper != nil) {
		defer p.mu.Unlock()
		if p.keeper != nil && time.Since(p.asked) > askEvery && p.asking.TryLock() {
			go func() {
				defer p.asking.Unlock()
				p.ask(context.WithoutCancel(ctx))
			}()
		}
		return Pass{epoch: p.Epoch}, nil
	}
	p.mu.Unlock()
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return Pass{}, context.Cause(ctx)
	}
	defer func() { <-p.turn }()
	for {
		mine, wait, changed, ok := p.next(ctx)
		if ok {
			return mine, nil
		}
		var due <-chan time.Time
		if wait > 0 {
			due = time.After(wait)
		}
		select {
		case <-due:
		case <-changed:
		case <-ctx.Done():
			return Pass{}, context.Cause(ctx)
		}
	}
}

// next gives a pass, or says how long to wait for the next, 0 for until something changes.
func (p *Pacer) next(ctx context.Context) (mine Pass, wait time.Duration, changed <-chan struct{}, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keeper == nil {
		mine, wait, ok = p.take(time.Now())
		return mine, wait, p.changed, ok
	}
	for range 2 {
		for len(p.passes) > 0 && p.passes[0].epoch != p.Epoch {
			p.passes = p.passes[1:]
		}
		if len(p.passes) > 0 {
			if wait = time.Until(p.passes[0].at); wait > 0 {
				return Pass{}, wait, p.changed, false
			}
			mine = p.passes[0]
			mine.at = time.Now()
			p.passes = p.passes[1:]
			return mine, 0, p.changed, true
		}
		p.mu.Unlock()
		p.asking.Lock()
		p.ask(ctx)
		p.asking.Unlock()
		p.mu.Lock()
	}
	all := p.learned
	_, wait, _ = all.take(time.Now())
	return Pass{}, min(max(wait, leastInterval), askEvery), p.changed, false
}

const (
	// askEvery is how often the keeper is asked while calls are made, at least.
	askEvery = 250 * time.Millisecond
	// ahead is how long ahead passes are taken from it.
	ahead = 100 * time.Millisecond
	// forgetAfter is when what was learned is of no use any more.
	forgetAfter = 10 * time.Minute
	// keeperTime bounds what asking it may take.
	keeperTime = 10 * time.Second
)

// kept is what a Keeper has.
type kept struct {
	Learned learned
	At      time.Time
}

// ask tells the keeper what became of calls, and takes over what all have learned, and
// passes where there are none. While the keeper cannot be asked, this process goes on by
// itself. The caller holds p.asking.
func (p *Pacer) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, keeperTime)
	defer cancel()
	p.mu.Lock()
	events, want := p.events, 0
	p.events = nil
	if len(p.passes) == 0 {
		want = p.calls
	}
	p.mu.Unlock()
	var all learned
	var passes []Pass
	err := p.keeper.Update(ctx, func(before []byte, at time.Time) ([]byte, error) {
		now := time.Now()
		all, passes = learned{Opened: now}, nil
		if before != nil {
			var k kept
			if err := json.Unmarshal(before, &k); err != nil {
				return nil, err
			}
			if at.Sub(k.At) < forgetAfter {
				all = k.Learned
				all.shift(now.Sub(at))
			}
		}
		all.first, all.together = p.first, true
		for _, e := range events {
			all.learn(e)
		}
		for len(passes) < want && (all.paced() || len(passes) == 0) {
			mine, wait, ok := all.take(now)
			if !ok && (all.Closed || wait <= 0 || wait > ahead) {
				break
			}
			if !ok {
				mine, _, _ = all.take(now.Add(wait))
			}
			passes = append(passes, mine)
		}
		kept := kept{all, at}
		kept.Learned.shift(at.Sub(now))
		return json.Marshal(kept)
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = time.Now()
	later := p.events
	if err != nil {
		p.events = append(events, later...)
		if want > 0 && len(p.passes) == 0 {
			if mine, _, ok := p.take(time.Now()); ok {
				p.passes = append(p.passes, mine)
			}
		}
		return
	}
	p.learned = all
	for _, e := range later {
		p.learn(e)
	}
	p.passes = append(p.passes, passes...)
	p.change()
}

// Go sends a call that has its place, with which so many are under way. It reports whether it
// may go: not where calls were stopped or slowed down since its pass was given.
func (p *Pacer) Go(mine *Pass, underWay int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if mine.epoch != p.Epoch {
		return false
	}
	mine.at = time.Now()
	p.sent.add(mine, underWay)
	return true
}

// end learns from how a call ended. For a rejected call it reports whether that call waits
// alone while others go on. The caller holds p.mu; end releases it.
func (p *Pacer) end(ctx context.Context, e event) (alone bool) {
	e.when = time.Now()
	closed, epoch := p.Closed, p.Epoch
	alone = p.learn(e)
	tell := p.keeper != nil && (e.end == rejected || e.end == closing || e.tries)
	if p.keeper != nil {
		p.events = append(p.events, e)
	}
	if e.tries || p.Closed != closed || p.Epoch != epoch {
		p.change()
	}
	p.mu.Unlock()
	if tell {
		p.asking.Lock()
		defer p.asking.Unlock()
		p.mu.Lock()
		told := len(p.events) == 0
		p.mu.Unlock()
		if !told {
			p.ask(context.WithoutCancel(ctx))
		}
	}
	return alone
}

// Accept tells that a call was not rejected; its provider may say what it will take,
// and it used some tokens.
func (p *Pacer) Accept(ctx context.Context, mine Pass, said *model.Allowance, tokens int) {
	p.mu.Lock()
	p.sent.end(mine, accepted)
	p.end(ctx, event{Pass: mine, end: accepted, said: said, tokens: tokens, before: p.sent.rejectsBefore(mine)})
}

// Rejected is what follows from a reject.
type Rejected struct {
	// Alone is true where the call is to wait by itself, while others go on.
	Alone bool
	// Room is how many calls at once the provider takes where it rejects for their number and
	// not for their rate, else 0.
	Room int
	// For is how long the provider has rejected all calls where another try makes no sense:
	// it does not say when to come back, and took none of so many tries.
	For time.Duration
}

// Reject tells that a call was rejected, and how long its provider asks to wait, 0 where
// it does not say; tries is how often one is tried that says nothing and takes nothing.
func (p *Pacer) Reject(ctx context.Context, mine Pass, said *model.Allowance, retryAfter time.Duration, tries int) (r Rejected) {
	e := event{Pass: mine, end: rejected, said: said, retryAfter: retryAfter}
	p.mu.Lock()
	p.sent.end(mine, rejected)
	rejects, of := freeRejects, freeOf
	if p.Interval > 0 && (p.Late || p.Trial.P == 0 && p.Futile == 0) {
		rejects, of = pacedRejects, pacedOf
	} else if p.Interval == 0 && p.Free > 0 {
		rejects = freeOf
	}
	if !mine.tries && !p.Closed {
		n := crowded
		if p.crowded {
			n = crowdedAgain
		}
		if r.Room = p.sent.room(mine, n); r.Room > 0 {
			p.crowded = true
		}
	}
	switch {
	case r.Room > 0:
		e.end = dropped
		p.sent.settle(p.sent.at(mine.number))
	case p.sent.nearlyAll(mine, rejects, of):
		e.end = closing
	}
	r.Alone = p.end(ctx, e)
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); mine.tries && p.hopeless(tries, now) {
		r.For = now.Sub(p.Since)
	}
	return r
}

// Drop gives back the pass of a call that was not sent, or came back with neither.
func (p *Pacer) Drop(ctx context.Context, mine Pass) {
	p.mu.Lock()
	p.sent.end(mine, dropped)
	p.end(ctx, event{Pass: mine})
}

// Join adds calls that are under way or wait, and takes away those that have ended.
func (p *Pacer) Join(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls += n
}

// Held tells since when the provider has rejected all calls and when the next may go, where
// some wait a second or more for that.
func (p *Pacer) Held(now time.Time) (since, until time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	since, until = now, later(now, p.HeldUntil)
	if p.InRow > 0 {
		since, until = p.Since, later(until, p.ComeBack)
	}
	return since, until, p.calls > 0 && until.Sub(since) >= time.Second
}

// change has whoever waits look again. The caller holds p.mu.
func (p *Pacer) change() {
	close(p.changed)
	p.changed = make(chan struct{})
}
