package pace

import (
	"time"

	"github.com/orbench/orbench/model"
)

// learned is what is known of the rate at which a model takes calls. It changes with what
// becomes of calls alone, so that processes that tell each other all learn the same; its
// exported fields are what they share.
type learned struct {
	// first is the wait before the first call that tries whether a closed provider
	// takes calls again.
	first time.Duration
	// together is true where several processes ask, of which each has some calls on their way.
	together bool
	// Epoch counts the times that calls were stopped or the rate was set. What was sent
	// before says nothing about the new state.
	Epoch int
	// Closed lets one call through at a time, none before HeldUntil. While it is under way,
	// and for a minute at most, Trying is true.
	Closed, Trying     bool
	HeldUntil, TriedAt time.Time
	// Interval is the learned time between two calls, 0 for none, and Growth by how much
	// answers have raised the rate since.
	Interval time.Duration
	Growth   float64
	// Told is the time between two calls that the provider's headers leave, 0 for none.
	Told time.Duration
	// Next is when the next call may go.
	Next time.Time
	// InRow counts rejects since the last accepted call, and Tries those of calls that tried
	// a closed provider which does not say when to come back.
	InRow, Tries int
	// Since is when the first reject in a row came, and ComeBack the latest time for which
	// the provider asked in that row.
	Since, ComeBack time.Time
	// Opened is when calls were last taken again, Set when the rate was last set; Accepted
	// and AcceptedSet count the calls accepted since, and Grown those of them that were sent
	// since the rate was set and not while it was on trial.
	Opened, Set                  time.Time
	Accepted, AcceptedSet, Grown int
	// Rejected counts those of the calls sent since Opened that were rejected.
	Rejected int
	// LastSent is when the last call that was accepted was sent, and Apart the mean time in
	// nanoseconds between the sending of the last that were, over a second or apartOver calls. A
	// rate goes by these times: rejects come back sooner than answers.
	LastSent time.Time
	Apart    float64
	// GrowsFrom is when the rate was last set or found to help.
	GrowsFrom time.Time
	// Probing is true for a first rate that was measured over a short time, and may be far
	// too low.
	Probing bool
	// Probed is that first time between two calls, until the provider has been closed since: a
	// rate that was doubled beyond what it takes falls back to what it took, but not below this.
	Probed time.Duration
	// Late is true for a limit that shows long after it is exceeded, as one by the minute.
	Late bool
	// ClosedAt is when calls were last stopped, and Lag how long after that the provider may
	// have taken calls again before it is tried.
	ClosedAt time.Time
	Lag      time.Duration
	// Former is the time between calls at the highest rate of late, at FormerAt.
	Former   time.Duration
	FormerAt time.Time
	// Recent is the last block of outcomes, and Before the one before it.
	Recent, Before block
	// Usual is the share of rejects over the last shedOver outcomes, or over all of the Counted
	// where these are fewer.
	Usual   float64
	Counted int
	// Trial tests whether the last lower rate helped; Futile counts the times in a row that
	// one did not.
	Trial  trial
	Futile int
	// While Free is above 0, rejects at the share Shed count as noise; it falls by one with
	// each accepted call. LetGo is how often the rate was given up for such noise.
	Free, LetGo int
	Shed        float64
	// Answers and Tokens give the mean tokens of a call, as limits count them.
	Answers, Tokens int
}

const (
	// LongestWait bounds how long a provider can make a call wait. A longer wish is a quota
	// for the day, and a user wants to hear of it.
	LongestWait = 10 * time.Minute
	// Patience is how long a provider that does not say when to come back rejects all calls
	// before it is given up: longer than a limit by the minute.
	Patience = 75 * time.Second
	// mostBackoff bounds the wait of a closed provider that does not say when it will take
	// calls again, and oftenTried that of one that took cheap times as many calls as have
	// tried it.
	mostBackoff, oftenTried, cheap = 20 * time.Second, 4 * time.Second, 50
	// lateFirst is the shortest wait where the limit shows late.
	lateFirst = 2 * time.Second
	// many is the share of rejects among the last outcomes from which a rate is tried where
	// there is none, and blockSize how many outcomes make one of the two blocks of those.
	many, blockSize = 0.15, 32
	// leastShare is the least share of rejects of which is tested whether it fell, and lateShare
	// the largest where the limit shows late.
	leastShare, lateShare = 0.06, 0.1
	// shedOver is how many outcomes the share that is shed is the mean of.
	shedOver = 512
	// slower is what a reject adds to the time between calls at least, much slower at most;
	// margin is what a measured rate is kept below.
	slower, muchSlower, margin = 1.07, 4, 1.05
	// halfAsFast bounds what an opening adds after which few calls were accepted.
	halfAsFast = 2
	// enough is how many calls must have been accepted to say what is taken.
	enough = 10
	// apartOver is the least number of calls that Apart is the mean over.
	apartOver = 16
	// rest is how many calls long processes that ask together send none after a lower rate.
	rest = 5
	// After plateau accepted calls, and so long as one of the times below, a rate has risen
	// by growth; after twice as many, by eight times as much. Where it has risen letGo times
	// it bounds nothing any more.
	plateau, growth, letGo = 32, 0.1, 8
	soonTime, lateTime     = time.Second, time.Minute
	// A rate below the former one of the last minute rises so as by time, too.
	formerTime, formerFor = 2 * time.Second, time.Minute
	// brief is how long a provider with a limit that shows soon may be closed.
	brief = 5 * time.Second
	// overshot is by how much a rate that is probed is too high when it is rejected, and
	// doubles after how many accepted calls it is doubled.
	overshot, doubles = 1.2, 4
	// lateness is how much later than it could, and than the next one, a call may be sent
	// without the next ones being later too.
	lateness = 100 * time.Millisecond
	// tryTime is how long a call that tries whether a closed provider takes calls again is
	// waited for: its process may be gone.
	tryTime = time.Minute
	// mostFutile is how often in a row a lower rate must not help to be let go, for
	// leastFree calls at first and mostFree at most.
	mostFutile, leastFree, mostFree = 2, 1000, 16_000
	// leastInterval is the shortest time between calls that is worth waiting for.
	leastInterval = time.Millisecond
)

// block counts outcomes since a time.
type block struct {
	Since              time.Time
	Accepted, Rejected int
}

// learn changes what is known by what became of a call. Of one that was rejected it tells
// whether that is to wait alone, while others go on.
func (p *learned) learn(e event) (alone bool) {
	switch e.end {
	case accepted:
		p.accept(e)
	case rejected, closing:
		return p.reject(e)
	case dropped:
		if e.tries && e.epoch == p.Epoch {
			p.Trying = false
		}
	}
	return true
}

// take gives a pass, or says how long to wait for the next, 0 for until something
// changes.
func (p *learned) take(now time.Time) (mine Pass, wait time.Duration, ok bool) {
	if p.Closed && p.Trying && now.Sub(p.TriedAt) < tryTime {
		return Pass{}, 0, false
	}
	at := p.HeldUntil
	if p.distance() > 0 && p.Next.After(at) {
		at = p.Next
	}
	if wait = at.Sub(now); wait > 0 {
		return Pass{}, wait, false
	}
	from := now
	if late := now.Add(-min(lateness, p.distance())); p.distance() > 0 && p.HeldUntil.IsZero() && p.Next.After(late) {
		// Who was late to ask does not make the others late.
		from = p.Next
	}
	p.HeldUntil = time.Time{}
	p.Next = from.Add(p.distance())
	p.Trying, p.TriedAt = p.Closed, now
	return Pass{epoch: p.Epoch, at: now, tries: p.Closed}, 0, true
}

// distance is the time between two calls.
func (p *learned) distance() time.Duration {
	return max(p.own(), p.Told)
}

// own is the time between two calls that was learned, whatever the provider says.
func (p *learned) own() time.Duration { return time.Duration(float64(p.Interval) / max(1, p.Growth)) }

// count adds an outcome to the blocks.
func (p *learned) count(rejected bool, now time.Time) {
	if p.Recent.Accepted+p.Recent.Rejected >= blockSize {
		p.Before, p.Recent = p.Recent, block{Since: now}
	}
	is := 0.0
	if rejected {
		p.Recent.Rejected++
		is = 1
	} else {
		p.Recent.Accepted++
	}
	p.Counted = min(p.Counted+1, shedOver)
	p.Usual += (is - p.Usual) / float64(p.Counted)
}

// share is that of rejects in both blocks, of so many outcomes.
func (p *learned) share() (share float64, of int) {
	rejected := p.Recent.Rejected + p.Before.Rejected
	of = rejected + p.Recent.Accepted + p.Before.Accepted
	return float64(rejected) / float64(max(1, of)), of
}

// measured is the time between two calls accepted of late.
func (p *learned) measured(now time.Time) float64 {
	since, n := p.Recent.Since, p.Recent.Accepted+p.Before.Accepted
	if !p.Before.Since.IsZero() {
		since = p.Before.Since
	}
	if since.Before(p.Opened) {
		since, now, n = p.Opened, p.LastSent, p.Accepted
	}
	return float64(now.Sub(since)) / float64(max(1, n))
}

// accept learns of a call that was not rejected.
func (p *learned) accept(e event) {
	p.Accepted++
	p.Answers++
	p.Tokens += e.tokens
	p.Free = max(0, p.Free-1)
	p.heed(e.said, e.at)
	p.count(false, e.when)
	if e.epoch != p.Epoch {
		return
	}
	p.AcceptedSet++
	if gap := e.at.Sub(p.LastSent); p.AcceptedSet > 1 {
		p.Apart += (float64(max(0, gap)) - p.Apart) / max(apartOver, float64(time.Second)/float64(max(1, p.distance())))
	}
	p.LastSent = later(p.LastSent, e.at)
	p.Rejected += e.before
	for range e.before {
		p.count(true, e.when)
	}
	if p.Free > 0 && p.Interval == 0 {
		p.Shed += (float64(e.before)/float64(1+e.before) - p.Shed) * float64(1+e.before) / shedOver
	}
	p.InRow, p.Tries = 0, 0
	switch {
	case e.tries:
		p.reopen(e.at, e.when)
	case p.Interval == 0:
		if share, n := p.share(); n >= blockSize*3/2 && share >= p.noise() {
			p.pace(e.when, margin*p.measured(e.when))
			p.test(share)
		}
	case p.Trial.P > 0:
		for range e.before {
			p.Trial.add(true)
		}
		p.Trial.add(false)
		p.judge(e.when)
	case p.Probing:
		if e.at.Before(p.GrowsFrom) {
			return
		}
		if p.Grown++; p.Grown >= doubles {
			p.Grown, p.GrowsFrom = 0, e.when
			p.Interval /= 2
		}
	default:
		p.Grown++
		p.grow(e.when)
	}
	if p.Interval > 0 && (p.Growth > letGo && 2*p.distance() < p.Former || p.Interval < leastInterval/4) {
		p.Interval, p.Growth, p.Probing, p.Probed, p.Late, p.Trial, p.Futile = 0, 0, false, 0, false, trial{}, 0
	}
}

// grow raises the rate.
func (p *learned) grow(now time.Time) {
	cube := func(x float64) float64 { return 1 + growth*x*x*x }
	passed := now.Sub(p.GrowsFrom)
	by := soonTime
	if p.Late {
		by = lateTime
	}
	g := cube(min(float64(p.Grown)/plateau, float64(passed)/float64(by)))
	if p.Former > 0 && now.Sub(p.FormerAt) < formerFor {
		g = max(g, min(cube(float64(passed)/float64(formerTime)), float64(p.Interval)/float64(p.Former)))
	}
	p.Growth = g
}

// pace sets the learned time between two calls.
func (p *learned) pace(now time.Time, interval float64) {
	if from := p.distance(); p.Interval > 0 && p.AcceptedSet >= plateau {
		if p.Former == 0 || from < p.Former || now.Sub(p.FormerAt) >= formerFor {
			p.Former = from
		}
		if float64(from) < overshot*float64(p.Former) {
			p.FormerAt = now
		}
	}
	p.Interval = max(1, min(time.Duration(interval), LongestWait))
	p.Growth, p.Grown, p.Probing, p.Trial = 1, 0, false, trial{}
	p.Next = now.Add(p.Interval)
	p.Apart = float64(p.Interval)
	p.Set, p.AcceptedSet, p.GrowsFrom = now, 0, now
	p.Epoch++
}

// reject learns of a call that was rejected, and tells whether it is to wait alone.
func (p *learned) reject(e event) (alone bool) {
	now := e.when
	p.heed(e.said, e.at)
	until := now.Add(e.retryAfter)
	if e.epoch != p.Epoch {
		// It was sent before the pacer closed, or slowed down.
		if p.Closed {
			p.hold(until)
		}
		return !p.Closed
	}
	if p.InRow++; p.InRow == 1 {
		p.Since, p.ComeBack = now, now
	}
	p.ComeBack = later(p.ComeBack, until)
	switch {
	case e.tries:
		p.Trying = false
		if e.retryAfter > 0 {
			p.Tries = 0
		} else {
			p.Tries++
		}
		p.try(now, until)
		return false
	case e.end == closing:
		if p.Interval == 0 {
			// It was wrong to let the rate go.
			p.Free, p.LetGo, p.Shed = 0, 0, 0
		}
		p.Epoch++
		p.Closed, p.ClosedAt, p.Trial = true, now, trial{}
		p.try(now, until)
		return false
	case p.Interval == 0 || p.Trial.P > 0: // it counts once a call that was sent later is accepted
	case p.Probing || p.Late:
		p.slow(now, overshot, muchSlower)
	default:
		// What was accepted of late is less than it takes, since the rate rose meanwhile.
		by, most := slower, overshot
		if p.together {
			by, most = slower*slower, overshot*overshot
		}
		p.slow(now, by, most)
	}
	return true
}

// slow lowers a rate by a factor, or to that at which calls were accepted of late where it is
// lower, but at most by a second factor; and tests whether it helps.
func (p *learned) slow(now time.Time, by, most float64) {
	from := float64(p.own())
	to := by * from
	if !p.Probing {
		to = max(to, min(p.Apart, most*from))
	}
	share, _ := p.share()
	p.pace(now, to)
	p.test(share)
	if p.together {
		// What the others have sent too much is first forgotten.
		p.hold(now.Add(time.Duration(rest * to)))
	}
}

// heed spreads what the provider says that it will take over the time until it will
// take more, from when the call was sent of which it says so. For a window that ends then,
// that uses it up just in time; of a bucket that is full then, it leaves a half.
func (p *learned) heed(said *model.Allowance, at time.Time) {
	if said == nil {
		return
	}
	p.Told = 0
	spread := func(w model.Window, each float64) {
		// What comes back after hours is a quota, of which a reject tells; and a whole second
		// stands for any part of it.
		if w.Reset <= 0 || w.Reset > LongestWait {
			return
		}
		// In so long a window a rate that is too high is rejected late.
		p.Late = p.Late || w.Reset >= brief
		calls := float64(w.Remaining) / each
		if calls < 1 {
			if w.Reset != time.Second {
				p.hold(at.Add(w.Reset))
			}
			return
		}
		if apart := time.Duration(float64(w.Reset) / calls); apart >= leastInterval {
			p.Told = max(p.Told, apart)
		}
	}
	spread(said.Requests, 1)
	spread(said.Tokens, max(1, float64(p.Tokens)/float64(max(1, p.Answers))))
}

// paced reports whether the rate of calls is what keeps rejects few.
func (p *learned) paced() bool { return p.Interval > 0 || p.Told > 0 || p.Closed }

// shift moves all times by d, to those of another clock.
func (p *learned) shift(d time.Duration) {
	for _, t := range []*time.Time{
		&p.HeldUntil, &p.TriedAt, &p.Next, &p.Since, &p.ComeBack, &p.Opened, &p.Set, &p.GrowsFrom,
		&p.ClosedAt, &p.FormerAt, &p.LastSent, &p.Recent.Since, &p.Before.Since,
	} {
		if !t.IsZero() {
			*t = t.Add(d)
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
