package fill

import (
	"context"
	"slices"
	"sync"
	"time"
)

// gate bounds how many calls of a lane run at once. It doubles that bound while all places are
// used and answers a second rise with it, by the median time of an answer: of calls that take
// long by chance, as of those that have not come back, the median does not ask how long. A
// provider that takes a number of calls at once and rejects more has as many places as it takes,
// and now and then one more.
type gate struct {
	bound int

	mu    sync.Mutex
	limit int
	inUse int
	// waiting are the calls without a place, in the order in which they came.
	waiting []*waiter
	// level is how many calls have been sent at this limit and with its last places, and times
	// are those that the first of them took.
	level int
	times []time.Duration
	// lost are those of them that were not answered.
	lost int
	// since is when the limit was set.
	since time.Time
	// below is the limit before this one was tried, and perSecond the answers it gave, 0 for none.
	below     int
	perSecond float64
	// rest is how many levels long no higher limit is tried, and rests how long the next time.
	rest, rests int
	// step is by how much the limit of a provider that rejects for the number of calls is
	// raised next, 0 for others, and more counts the answers since it was set.
	step, more int
}

const (
	// startWith is the limit at first.
	startWith = 32
	// cohort is how many calls tell how long answers take at least.
	cohort = 64
	// rises is what part more answers a second a doubled limit gives at least.
	rises = 0.2
	// mostRests is the longest rest.
	mostRests = 32
	// oneMore is after how many answers at least a provider with room for some gets one more.
	oneMore = 32
)

// place is that of a call.
type place struct {
	since time.Time
	// number is which of the calls it is that tell how long answers take, 0 for none; underWay is how
	// many calls it is one of.
	number, underWay int
}

// waiter waits for a place, which is given once ready is closed.
type waiter struct {
	place place
	ready chan struct{}
}

func newGate(bound int) *gate {
	return &gate{bound: bound, limit: min(bound, startWith), since: time.Now(), rests: 1}
}

// enter waits for a place and returns when it was given, or the context's cause. Who came
// first gets a place first.
func (g *gate) enter(ctx context.Context) (place, error) {
	if ctx.Err() != nil {
		return place{}, context.Cause(ctx)
	}
	g.mu.Lock()
	if len(g.waiting) == 0 && g.inUse < g.limit {
		defer g.mu.Unlock()
		return g.take(), nil
	}
	w := &waiter{ready: make(chan struct{})}
	g.waiting = append(g.waiting, w)
	g.mu.Unlock()
	select {
	case <-w.ready:
		return w.place, nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if at := slices.Index(g.waiting, w); at >= 0 {
		g.waiting = slices.Delete(g.waiting, at, at+1)
	} else {
		g.inUse--
		g.admit()
	}
	return place{}, context.Cause(ctx)
}

// admit gives the places that are free. The caller holds g.mu.
func (g *gate) admit() {
	for len(g.waiting) > 0 && g.inUse < g.limit {
		w := g.waiting[0]
		g.waiting = slices.Delete(g.waiting, 0, 1)
		w.place = g.take()
		close(w.ready)
	}
}

// take gives a free place. The caller holds g.mu.
func (g *gate) take() place {
	g.inUse++
	p := place{since: g.since, underWay: g.inUse}
	if g.inUse*4 >= g.limit*3 {
		g.level++
		p.number = g.level
	}
	return p
}

// leave gives the place back without saying anything about the provider.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inUse--
	g.admit()
}

// answered tells that a call with a place was answered after a time.
func (g *gate) answered(p place, after time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.number == 0 || !p.since.Equal(g.since) {
		return
	}
	if g.step > 0 {
		if g.more++; g.more >= max(oneMore, g.limit) {
			g.set(min(g.bound, g.limit+g.step))
			g.step *= 2
		}
		return
	}
	if p.number <= max(cohort, g.limit) {
		g.times = append(g.times, after)
	}
	g.look()
}

// failed tells that a call with a place was not answered.
func (g *gate) failed(p place) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.number > 0 && p.number <= max(cohort, g.limit) && p.since.Equal(g.since) {
		g.lost++
		g.look()
	}
}

// look decides about the limit once the median of the times is known. The caller holds g.mu.
func (g *gate) look() {
	size := max(cohort, g.limit) - g.lost
	if g.step > 0 || len(g.times) <= size*3/4 {
		return
	}
	slices.Sort(g.times)
	perSecond := float64(g.limit) / g.times[size/2].Seconds()
	switch {
	case g.below > 0 && perSecond < g.perSecond*(1+rises*(float64(g.limit)/float64(g.below)-1)):
		g.rest, g.rests = g.rests, min(2*g.rests, mostRests)
		g.set(g.below)
		g.below = 0
	case g.rest > 0:
		g.rest--
		g.set(g.limit)
	case g.limit < g.bound:
		g.below, g.perSecond = g.limit, perSecond
		g.set(min(g.bound, 2*g.limit))
	default:
		g.below = 0
		g.set(g.limit)
	}
}

// set begins a level. The caller holds g.mu.
func (g *gate) set(limit int) {
	g.limit, g.since, g.level, g.more, g.lost = limit, time.Now(), 0, 0, 0
	g.times = g.times[:0]
	g.admit()
}

// takes tells that the provider takes no more than so many calls at once.
func (g *gate) takes(room int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if room < g.limit {
		g.step = 1
		g.set(max(1, room))
	}
}

// width is the present bound of concurrent calls.
func (g *gate) width() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.limit
}

// Sleep waits for d, or returns the context's cause.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
