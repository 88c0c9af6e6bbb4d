package fill

import (
	"context"
	"sync"
	"time"
)

// gate bounds how many calls of a lane run at once and adapts that bound to what
// the provider says: slow start, which doubles it while all are answered, then additive
// increase on answers, multiplicative decrease on 429, as TCP does it (RFC 5681). A
// provider that answers nothing but 429 is left alone until the time it asked for has
// passed.
type gate struct {
	bound int

	mu    sync.Mutex
	freed *sync.Cond
	limit float64
	inUse int
	// lastCut is when limit was last decreased, zero at first. Calls sent before then say
	// nothing about the new limit.
	lastCut time.Time
}

const (
	// cutTo is what a 429 leaves of the limit.
	cutTo = 0.75
	// startWith is the limit at first.
	startWith = 32
)

func newGate(bound int) *gate {
	g := &gate{bound: bound, limit: float64(min(bound, startWith))}
	g.freed = sync.NewCond(&g.mu)
	return g
}

// enter waits for a place and returns when it was given, or the context's cause.
func (g *gate) enter(ctx context.Context) (time.Time, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var watching bool
	for {
		if ctx.Err() != nil {
			return time.Time{}, context.Cause(ctx)
		}
		if float64(g.inUse) < max(1, g.limit) {
			g.inUse++
			return time.Now(), nil
		}
		if !watching {
			watching = true
			defer context.AfterFunc(ctx, func() {
				g.mu.Lock()
				defer g.mu.Unlock()
				g.freed.Broadcast()
			})()
		}
		g.freed.Wait()
	}
}

// leave gives the place back without saying anything about the provider.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inUse--
	g.freed.Signal()
}

// answered tells that a call came back with something else than a 429. paced is true where
// the rate of calls is what keeps those few, and not how many run at once.
func (g *gate) answered(paced bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	more := 1.0
	if !g.lastCut.IsZero() && !paced {
		more /= g.limit
	}
	g.limit = min(float64(g.bound), g.limit+more)
	// Two may enter where the limit grows by one as one leaves.
	g.freed.Signal()
}

// limited tells that a call sent at that time came back with a 429.
func (g *gate) limited(sent time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if sent.After(g.lastCut) {
		g.lastCut = time.Now()
		g.limit = max(1, g.limit*cutTo)
	}
}

// width is the present bound of concurrent calls.
func (g *gate) width() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return int(g.limit)
}

// sleep waits for d, or returns the context's cause.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
