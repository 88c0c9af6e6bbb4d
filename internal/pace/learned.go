package pace

import (
	"cmp"
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
	// Epoch counts the times that calls were stopped or slowed down. What was sent
	// before says nothing about the new state.
	Epoch int
	// Closed lets one call through at a time, none before HeldUntil. While it is under way,
	// and for a minute at most, Trying is true.
	Closed, Trying     bool
	HeldUntil, TriedAt time.Time
	// Interval is the learned time between two calls, 0 for none.
	Interval time.Duration
	// Told is the time between two calls that the provider's headers leave, 0 for none.
	Told time.Duration
	// Says is true for a provider that has said how much it will take.
	Says bool
	// Next is when the next call may go.
	Next time.Time
	// InRow counts rejects since the last accepted call; Burden rises by one with each
	// reject and falls by a tenth with each accepted call, to 0 at least. Tries counts the
	// rejects of calls that tried a closed provider which does not say when to come back.
	InRow, Tries int
	Burden       float64
	// Since is when the first reject in a row came, and ComeBack the latest time for which
	// the provider asked in that row.
	Since, ComeBack time.Time
	// Opened is when calls were last taken again, Set when the rate was last set; Accepted
	// and AcceptedSet count the calls accepted since.
	Opened, Set           time.Time
	Accepted, AcceptedSet int
	// Grown counts the calls accepted since the rate was last set, and Span is the time after
	// which a limit that is exceeded shows. Probing is true for a first rate that was measured
	// over a short time, and may be far too low.
	Grown   int
	Span    time.Duration
	Probing bool
	// ClosedAt is when calls were last stopped, and Lag how long after that the provider may
	// have taken calls again before it is tried.
	ClosedAt time.Time
	Lag      time.Duration
	// Futile counts the times in a row that a lower rate led to rejects as soon.
	Futile int
	// Blind is how many calls more are accepted before a rate is learned again.
	Blind int
	// Answers and Tokens give the mean tokens of a call, as limits count them.
	Answers, Tokens int
}

const (
	// LongestWait bounds how long a provider can make a call wait. A longer wish is a quota
	// for the day, and a user wants to hear of it.
	LongestWait = 10 * time.Minute
	// mostBackoff bounds the wait of a closed provider that does not say when it will take
	// calls again.
	mostBackoff = 30 * time.Second
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
	// plateau is how many accepted calls raise the rate by growth, or as many as are sent
	// until a limit shows where that is more: one by the minute only at the end of its minute.
	// Twice as many raise it eight times as much.
	plateau, growth = 40, 0.1
	// brief is how long a provider by the second may be closed, and briefSpan when its limit
	// shows at the latest. What such a provider took on the whole since it last opened is less
	// than what it may take, but not by a half. It takes enough calls within manyIn: one by
	// the minute that slides may take some as soon, and its limit shows late all the same.
	brief, briefSpan, manyIn = 3 * time.Second, 10 * time.Second, 1800 * time.Millisecond
	// overshot is by how much a rate that is probed is too high when it is rejected, and
	// enough how many calls long it must have been kept to say what was taken meanwhile.
	overshot, enough = 1.2, 10
	// slowerBriefly stands for slower where a limit shows soon; rest is how many calls long
	// none is sent then.
	slowerBriefly, rest = 1.07, 5
	// oftenTried is the longest wait of a closed provider that took cheap times as many calls
	// as have tried it.
	oftenTried, cheap = 4 * time.Second, 50
	// lateness is how much later than it could a call may be sent without the next ones
	// being later too.
	lateness = 100 * time.Millisecond
	// tryTime is how long a call that tries whether a closed provider takes calls again is
	// waited for: its process may be gone.
	tryTime = time.Minute
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

// Pass lets a call go. Its end is told by an event.
type Pass struct {
	epoch int
	at    time.Time
	// tries is true for a call that tries whether a closed provider takes calls again.
	tries bool
}

// event is what became of a call at a time.
type event struct {
	Pass
	when time.Time
	end  end
	// said is what the provider said that it will take, nil for nothing.
	said *model.Allowance
	// tokens are what an accepted call used, and retryAfter is how long the provider asks to
	// wait after a rejected one, 0 where it does not say.
	tokens     int
	retryAfter time.Duration
}

// end is how a call ended.
type end int

const (
	// dropped calls were not sent, or came back with neither an answer nor a reject.
	dropped end = iota
	accepted
	rejected
)

// learn changes what is known by what became of a call. Of one that was rejected it tells
// whether that is to wait alone, while others go on.
func (p *learned) learn(e event) (alone bool) {
	switch e.end {
	case accepted:
		p.accept(e)
	case rejected:
		return p.reject(e)
	case dropped:
		if e.tries && e.epoch == p.Epoch {
			p.Trying = false
		}
	}
	return false
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
	if late := now.Add(-lateness); p.distance() > 0 && p.HeldUntil.IsZero() && p.Next.After(late) {
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
	return max(time.Duration(float64(p.Interval)/p.growth()), p.Told)
}

// progress is how many plateaus of calls were accepted since the rate was last set.
func (p *learned) progress() float64 {
	span := cmp.Or(p.Span, time.Minute)
	if p.Probing {
		span = 0
	}
	return float64(p.Grown) / max(plateau, float64(span)/float64(max(p.Interval, 1)))
}

// growth is by how much these raise the rate.
func (p *learned) growth() float64 {
	x := p.progress()
	return 1 + growth*x*x*x
}

// accept learns of a call that was not rejected.
func (p *learned) accept(e event) {
	p.Accepted++
	p.AcceptedSet++
	p.Answers++
	p.Tokens += e.tokens
	p.Blind = max(0, p.Blind-1)
	p.Burden = max(0, p.Burden-0.1)
	p.heed(e.said, e.when)
	if e.epoch != p.Epoch {
		return
	}
	p.InRow, p.Tries = 0, 0
	if e.tries {
		p.reopen(e.at, e.when)
		return
	}
	if p.Grown++; p.growth() > letGo {
		p.Interval, p.Futile = 0, 0
	}
}

// reopen takes calls again, with one that was sent at a time and accepted, at the rate
// since the last reopening.
func (p *learned) reopen(at, now time.Time) {
	p.Closed, p.Trying = false, false
	// It may have taken calls for a while, on the mean since the middle of the last wait.
	took := float64(at.Sub(p.Opened) - p.Lag/2)
	briefly := at.Sub(p.ClosedAt) < brief && enough*p.distance() < manyIn
	// The call that reopened is the first of the new time.
	n := p.Accepted - 1
	switch first := p.Interval == 0; {
	case p.Blind > 0:
	case n > 0:
		mean := margin * took / float64(n)
		if from := float64(p.distance()); !first && briefly && mean < 2*from {
			mean = min(mean, slowerBriefly*slowerBriefly*from)
		}
		p.pace(now, mean)
		p.Probing = first && briefly
	default: // without a rate there is still none
		p.pace(now, min(max(float64(p.Interval), took), muchSlower*float64(p.Interval)))
	}
	p.Span = time.Minute
	if briefly {
		p.Span = briefSpan
	}
	p.Opened, p.Accepted = at, 1
}

// pace sets the learned time between two calls.
func (p *learned) pace(now time.Time, interval float64) {
	p.Interval = min(time.Duration(interval), LongestWait)
	p.Next = now.Add(p.Interval)
	p.Set, p.AcceptedSet, p.Grown = now, 0, 0
}

// reject learns of a call that was rejected, and tells whether it is to wait alone.
func (p *learned) reject(e event) (alone bool) {
	now := e.when
	p.heed(e.said, now)
	until := now.Add(e.retryAfter)
	if e.epoch != p.Epoch {
		// It was sent before the pacer closed, or slowed down.
		if p.Closed {
			p.hold(until)
		}
		return false
	}
	if p.InRow++; p.InRow == 1 {
		p.Since, p.ComeBack = now, now
	}
	p.ComeBack = later(p.ComeBack, until)
	p.Burden++
	switch paced := p.Interval > 0; {
	case e.tries:
		p.Trying = false
		if e.retryAfter > 0 {
			p.Tries = 0
		} else {
			p.Tries++
		}
		p.try(now, until)
		return false
	case paced && p.InRow < closePacedAfter:
		p.slow(now, until)
		p.hold(until)
		return false
	case !paced && p.InRow < closeAfter && p.Burden < bearable:
		return true
	}
	p.Epoch++
	p.Closed, p.ClosedAt, p.Burden = true, now, 0
	p.try(now, until)
	return false
}

// hopeless reports whether a provider that does not say when to come back took none of so
// many tries.
func (p *learned) hopeless(tries int) bool {
	return p.Closed && p.Tries >= tries && p.Accepted <= cheap*(p.Tries+1)
}

// try has a closed provider tried, at the time until which it asks to wait or later.
func (p *learned) try(now, until time.Time) {
	at := later(until, now.Add(p.tryAfter()))
	p.Lag = at.Sub(later(until, now))
	p.hold(at)
}

// slow lowers a rate, to what was accepted since it was last set where that is less, until
// when the provider takes calls again.
func (p *learned) slow(now, until time.Time) {
	p.Epoch++
	kept := p.progress() >= soon
	if kept {
		p.Futile = 0
	} else if p.Futile++; p.Futile >= mostFutile {
		p.Interval, p.Futile, p.Blind = 0, 0, blindFor
		return
	}
	from := float64(p.Interval) / p.growth()
	to := slower * from
	if p.Span == briefSpan {
		to = slowerBriefly * from
		if !p.Says || p.together {
			// What was sent too much is first forgotten.
			p.hold(now.Add(time.Duration(rest * to)))
		}
	}
	since := float64(until.Sub(p.Set))
	switch {
	case p.Probing:
		to = overshot * from
	case p.Span == briefSpan && (kept || since < enough*from):
	case p.AcceptedSet > 0:
		to = min(max(to, since/float64(p.AcceptedSet)), muchSlower*from)
	}
	p.Probing = false
	p.pace(now, to)
}

// tryAfter is how long after a reject a closed provider is tried.
func (p *learned) tryAfter() time.Duration {
	most := mostBackoff
	if p.Accepted > cheap*(p.Tries+1) {
		most = oftenTried
	}
	return min(max(p.first, p.Interval)<<min(p.Tries, 20), most)
}

// hold lets nothing go before a time.
func (p *learned) hold(until time.Time) { p.HeldUntil = later(p.HeldUntil, until) }

// heed spreads what the provider says that it will take over the time until it will
// take more. For a window that ends then, that uses it up just in time; of a bucket that
// is full then, it leaves a half.
func (p *learned) heed(said *model.Allowance, now time.Time) {
	if said == nil {
		return
	}
	p.Told, p.Says = 0, true
	spread := func(w model.Window, each float64) {
		// What comes back after hours is a quota, of which a reject tells.
		if w.Reset <= 0 || w.Reset > LongestWait {
			return
		}
		calls := float64(w.Remaining) / each
		if calls < 1 {
			p.hold(now.Add(w.Reset))
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
	for _, t := range []*time.Time{&p.HeldUntil, &p.TriedAt, &p.Next, &p.Since, &p.ComeBack, &p.Opened, &p.Set, &p.ClosedAt} {
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
