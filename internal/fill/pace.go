package fill

import (
	"context"
	"sync"
	"time"

	"github.com/orbench/orbench/model"
)

// pacer spreads the calls of one model over time as its provider lets it. It sends
// at once until the provider rejects calls or says how many it will take.
//
// Rejects close it, until the provider takes calls again: then, by its own word,
// or as single calls find out that are tried at growing distances. What was accepted
// from one reopening to the next, by the time between, is the rate that the provider
// allows, whatever way it limits: by fixed or sliding windows, or by a bucket
// of tokens. From then on calls are sent at that rate. Accepted calls raise it, at
// first hardly and then ever faster, as CUBIC does for TCP (RFC 9438); a reject
// lowers it.
//
// Where rejects do not become fewer at a lower rate, as when calls are shed at
// random, the rate is not their cause, and it is let go for a while.
type pacer struct {
	// first is the wait before the first call that tries whether a closed provider
	// takes calls again.
	first time.Duration
	// turn is held by the one call that waits for its time; others wait for it.
	turn chan struct{}

	mu sync.Mutex
	// changed is closed, and replaced, when whoever waits should look again.
	changed chan struct{}
	// epoch counts the times that the pacer closed or slowed down. What was sent
	// before says nothing about the new state.
	epoch int
	// closed lets one call through at a time, none before heldUntil.
	closed, trying bool
	heldUntil      time.Time
	// interval is the learned time between two calls, 0 for none.
	interval time.Duration
	// told is the time between two calls that the provider's headers leave, 0 for none.
	told time.Duration
	// next is when the next call may go.
	next time.Time
	// inRow counts rejects since the last accepted call; burden rises by one with each
	// reject and falls by a tenth with each accepted call, to 0 at least. tries counts the
	// rejects of calls that tried a closed provider which does not say when to come back.
	inRow, tries int
	burden       float64
	// calls counts those under way or waiting; the first reject in a row came at since, and
	// comeBack is the latest time for which its provider asked in that row.
	calls           int
	since, comeBack time.Time
	// opened is when the pacer last reopened, set when the rate was last set; accepted
	// and acceptedSet count the calls accepted since.
	opened, set           time.Time
	accepted, acceptedSet int
	// grown counts the calls accepted since the rate was last set.
	grown int
	// futile counts the times in a row that a lower rate led to rejects as soon.
	futile int
	// blind is how many calls more are accepted before a rate is learned again.
	blind int
	// answers and tokens give the mean tokens of a call, as limits count them.
	answers, tokens int
}

const (
	// closeAfter is how many rejects in a row close the pacer while no rate is known.
	// A single one among answers is noise, or the edge of the allowance.
	closeAfter = 3
	// bearable is the burden that closes it too: more than one reject for ten answers.
	bearable = 6
	// closePacedAfter is the same when a rate is known.
	closePacedAfter = 2
	// slower is what a reject adds to the time between calls at least, much slower at most;
	// margin is what a measured rate is kept below.
	slower, muchSlower, margin = 1.1, 4, 1.05
	// plateau is how many accepted calls raise the rate by growth, or a minute's worth
	// where that is more, since a limit may be noticed only at the end of its minute.
	// Twice as many raise it eight times as much.
	plateau, growth = 40, 0.1
	// letGo is the growth of a rate at which it bounds nothing any more.
	letGo = 8
	// soon is the part of the plateau before which a reject means that the lower rate
	// did not help, mostFutile how often in a row that is believed.
	soon, mostFutile = 0.5, 6
	// blindFor is how many accepted calls a rate is not learned that did not help.
	blindFor = 500
	// leastInterval is the shortest time between calls that is worth waiting for.
	leastInterval = time.Millisecond
)

func newPacer(first time.Duration) *pacer {
	return &pacer{first: first, turn: make(chan struct{}, 1), changed: make(chan struct{}), opened: time.Now()}
}

// pass lets a call go. Its end is told by accepted, rejected or dropped.
type pass struct {
	epoch int
	at    time.Time
	// tries is true for a call that tries whether a closed provider takes calls again.
	tries bool
}

// wait returns when the call may go, or the context's cause.
func (p *pacer) wait(ctx context.Context) (pass, error) {
	p.mu.Lock()
	if !p.closed && p.distance() == 0 && p.heldUntil.IsZero() {
		defer p.mu.Unlock()
		return pass{epoch: p.epoch}, nil
	}
	p.mu.Unlock()
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return pass{}, context.Cause(ctx)
	}
	defer func() { <-p.turn }()
	for {
		p.mu.Lock()
		now := time.Now()
		mine, wait, ok := p.take(now)
		changed := p.changed
		p.mu.Unlock()
		if ok {
			return mine, nil
		}
		var due <-chan time.Time
		if wait > 0 {
			timer := time.NewTimer(wait)
			defer timer.Stop()
			due = timer.C
		}
		select {
		case <-due:
		case <-changed:
		case <-ctx.Done():
			return pass{}, context.Cause(ctx)
		}
	}
}

// take gives a pass, or says how long to wait for the next, 0 for until something
// changes. The caller holds p.mu.
func (p *pacer) take(now time.Time) (mine pass, wait time.Duration, ok bool) {
	if p.closed && p.trying {
		return pass{}, 0, false
	}
	at := p.heldUntil
	if p.distance() > 0 && p.next.After(at) {
		at = p.next
	}
	if wait = at.Sub(now); wait > 0 {
		return pass{}, wait, false
	}
	p.heldUntil = time.Time{}
	p.next = now.Add(p.distance())
	p.trying = p.closed
	return pass{epoch: p.epoch, at: now, tries: p.closed}, 0, true
}

// distance is the time between two calls. The caller holds p.mu.
func (p *pacer) distance() time.Duration {
	return max(time.Duration(float64(p.interval)/p.growth()), p.told)
}

// progress is how many plateaus of calls were accepted since the rate was last set.
func (p *pacer) progress() float64 {
	return float64(p.grown) / max(plateau, float64(time.Minute)/float64(max(p.interval, 1)))
}

// growth is by how much these raise the rate.
func (p *pacer) growth() float64 {
	x := p.progress()
	return 1 + growth*x*x*x
}

// accept tells that a call was not rejected; its provider may say what it will take,
// and it used some tokens.
func (p *pacer) accept(mine pass, said *model.Allowance, tokens int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.accepted++
	p.acceptedSet++
	p.answers++
	p.tokens += tokens
	p.blind = max(0, p.blind-1)
	p.burden = max(0, p.burden-0.1)
	p.heed(said, now)
	if mine.epoch != p.epoch {
		return
	}
	p.inRow, p.tries = 0, 0
	if mine.tries {
		p.reopen(mine.at)
		return
	}
	if p.grown++; p.growth() > letGo {
		p.interval, p.futile = 0, 0
	}
}

// reopen takes calls again, with one that was sent at a time and accepted, at the rate
// since the last reopening. The caller holds p.mu.
func (p *pacer) reopen(at time.Time) {
	p.closed, p.trying = false, false
	took := float64(at.Sub(p.opened))
	// The call that reopened is the first of the new time.
	n := p.accepted - 1
	switch {
	case p.blind > 0:
	case n > 0:
		p.pace(margin * took / float64(n))
	default: // without a rate there is still none
		p.pace(min(max(float64(p.interval), took), muchSlower*float64(p.interval)))
	}
	p.opened, p.accepted = at, 1
	p.change()
}

// pace sets the learned time between two calls. The caller holds p.mu.
func (p *pacer) pace(interval float64) {
	p.interval = min(time.Duration(interval), maxRetryAfter)
	now := time.Now()
	p.next = now.Add(p.interval)
	p.set, p.acceptedSet, p.grown = now, 0, 0
}

// reject tells that a call was rejected, and how long its provider asks to wait, 0 where
// it does not say. It returns whether this call is to wait alone, while others go on, and
// whether another try makes sense: not when a provider that does not say when to
// come back took none of so many tries.
func (p *pacer) reject(mine pass, said *model.Allowance, retryAfter time.Duration, tries int) (alone, again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.heed(said, now)
	until := now.Add(retryAfter)
	if mine.epoch != p.epoch {
		// It was sent before the pacer closed, or slowed down.
		if p.closed {
			p.hold(until)
		}
		return false, true
	}
	if p.inRow++; p.inRow == 1 {
		p.since, p.comeBack = now, now
	}
	p.comeBack = later(p.comeBack, until)
	p.burden++
	switch paced := p.interval > 0; {
	case mine.tries:
		p.trying = false
		if retryAfter > 0 {
			p.tries = 0
		} else {
			p.tries++
		}
		p.hold(later(until, now.Add(p.tryAfter())))
		p.change()
		return false, p.tries < tries
	case paced && p.inRow < closePacedAfter:
		p.slow(until)
		p.hold(until)
		return false, true
	case !paced && p.inRow < closeAfter && p.burden < bearable:
		return true, true
	}
	p.epoch++
	p.closed, p.burden = true, 0
	p.hold(later(until, now.Add(p.tryAfter())))
	p.change()
	return false, true
}

// slow lowers a rate, to what was accepted since it was last set where that is less, until
// when the provider takes calls again. The caller holds p.mu.
func (p *pacer) slow(until time.Time) {
	p.epoch++
	if p.progress() >= soon {
		p.futile = 0
	} else if p.futile++; p.futile >= mostFutile {
		p.interval, p.futile, p.blind = 0, 0, blindFor
		return
	}
	from := float64(p.interval) / p.growth()
	to := slower * from
	if p.acceptedSet > 0 {
		to = min(max(to, float64(until.Sub(p.set))/float64(p.acceptedSet)), muchSlower*from)
	}
	p.pace(to)
}

// tryAfter is how long after a reject a closed provider is tried.
func (p *pacer) tryAfter() time.Duration {
	return min(max(p.first, p.interval)<<min(p.tries, 20), maxBackoff)
}

// hold lets nothing go before a time.
func (p *pacer) hold(until time.Time) { p.heldUntil = later(p.heldUntil, until) }

// drop gives back the pass of a call that was not sent, or came back with neither.
func (p *pacer) drop(mine pass) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if mine.tries && mine.epoch == p.epoch {
		p.trying = false
		p.change()
	}
}

// heed spreads what the provider says that it will take over the time until it will
// take more. For a window that ends then, that uses it up just in time; of a bucket that
// is full then, it leaves a half. The caller holds p.mu.
func (p *pacer) heed(said *model.Allowance, now time.Time) {
	if said == nil {
		return
	}
	p.told = 0
	spread := func(w model.Window, each float64) {
		// What comes back after hours is a quota, of which a reject tells.
		if w.Reset <= 0 || w.Reset > maxRetryAfter {
			return
		}
		calls := float64(w.Remaining) / each
		if calls < 1 {
			p.hold(now.Add(w.Reset))
			return
		}
		if apart := time.Duration(float64(w.Reset) / calls); apart >= leastInterval {
			p.told = max(p.told, apart)
		}
	}
	spread(said.Requests, 1)
	spread(said.Tokens, max(1, float64(p.tokens)/float64(max(1, p.answers))))
}

// join adds calls that are under way or wait, and takes away those that have ended.
func (p *pacer) join(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls += n
}

// held tells since when the provider has rejected all calls and when the next may go, where
// some wait a second or more for that.
func (p *pacer) held(now time.Time) (since, until time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	since, until = now, later(now, p.heldUntil)
	if p.inRow > 0 {
		since, until = p.since, later(until, p.comeBack)
	}
	return since, until, p.calls > 0 && until.Sub(since) >= time.Second
}

// paced reports whether the rate of calls is what keeps rejects few.
func (p *pacer) paced() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.interval > 0 || p.told > 0 || p.closed
}

// change has whoever waits look again. The caller holds p.mu.
func (p *pacer) change() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
