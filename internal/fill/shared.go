package fill

import (
	"context"
	"sync"
	"time"
)

// SharedRate is a Limiter that several processes keep together. All that they share is a
// time from which more may be used; a lease moves it on, and is used from then on. So what
// a process that dies has taken is used by nobody, and in no time is more used than it
// allows, but for the leases that were taken before it: one for each process, of a second's
// worth or what one call takes, whichever is more.
type SharedRate struct {
	perMinute int
	advance   func(ctx context.Context, by time.Duration) (wait time.Duration, err error)

	// turn is held by whoever takes from what is left, which may be used from then on.
	turn chan struct{}
	left int
	from time.Time
}

var _ Limiter = (*SharedRate)(nil)

// NewSharedRate is a rate of so many a minute. advance moves on what the processes share,
// from now where it has passed, and gives the time until what it was before.
func NewSharedRate(perMinute int, advance func(ctx context.Context, by time.Duration) (wait time.Duration, err error)) *SharedRate {
	return &SharedRate{perMinute: perMinute, advance: advance, turn: make(chan struct{}, 1)}
}

// Burst implements Limiter.
func (r *SharedRate) Burst() int { return r.perMinute }

// WaitN implements Limiter.
func (r *SharedRate) WaitN(ctx context.Context, n int) error {
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-r.turn }()
	if r.left < n {
		lease := max(n-r.left, r.perMinute/60, 1)
		wait, err := r.advance(ctx, time.Duration(lease)*time.Minute/time.Duration(r.perMinute))
		if err != nil {
			return err
		}
		r.left += lease
		r.from = time.Now().Add(wait)
	}
	// Whoever comes next waits for it too, where this one does not until the end.
	if wait := time.Until(r.from); wait > 0 {
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
	r.left -= n
	return nil
}

// LeasedBudget is a SharedBudget of which the processes share how much is taken. Each takes about as
// much ahead as it spends in a second: what one that dies had taken counts as spent, since
// nobody knows whether it was.
type LeasedBudget struct {
	most  Budget
	share func(ctx context.Context, change func(taken Budget) Budget) error

	mu sync.Mutex
	// lease is what was taken last, at that time.
	lease Budget
	at    time.Time
}

var _ SharedBudget = (*LeasedBudget)(nil)

// NewLeasedBudget is a shared budget of so much. share has what is taken be, in one step, what change
// makes of it.
func NewLeasedBudget(most Budget, share func(ctx context.Context, change func(taken Budget) Budget) error) *LeasedBudget {
	return &LeasedBudget{most: most, share: share}
}

const (
	// leases is how many of the leases that are taken would at least use up what is left.
	leases = 32
	// leaseTime is how long a lease should last.
	leaseTime = time.Second
)

// Take implements SharedBudget.
func (p *LeasedBudget) Take(ctx context.Context, least Budget) (got Budget, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// One that is used up too soon is followed by a larger one.
	scale := 1.0
	switch since := time.Since(p.at); {
	case since < leaseTime:
		scale = 2
	case since > 4*leaseTime:
		scale = 0.5
	}
	err = p.share(ctx, func(taken Budget) Budget {
		got = Budget{}
		left := p.most.Left(taken)
		if !least.within(p.most, left) {
			return taken
		}
		if least.Requests > 0 {
			got.Requests = max(least.Requests, min(left.Requests/leases, int(scale*float64(p.lease.Requests))))
		}
		if least.Tokens > 0 {
			got.Tokens = max(least.Tokens, min(left.Tokens/leases, int(scale*float64(p.lease.Tokens))))
		}
		if least.USD > 0 {
			got.USD = max(least.USD, min(left.USD/leases, scale*p.lease.USD))
		}
		return taken.plus(got)
	})
	if err != nil {
		return Budget{}, err
	}
	p.at = time.Now()
	if got.Requests > 0 {
		p.lease.Requests = got.Requests
	}
	if got.Tokens > 0 {
		p.lease.Tokens = got.Tokens
	}
	if got.USD > 0 {
		p.lease.USD = got.USD
	}
	return got, nil
}

// Give implements SharedBudget.
func (p *LeasedBudget) Give(ctx context.Context, unspent Budget) error {
	return p.share(ctx, func(taken Budget) Budget { return taken.minus(unspent) })
}
