package fill

import (
	"context"
	"time"
)

// SharedRate is a Limiter that several processes keep together. All that they share is a
// time from which more may be used; a lease moves it on, and is used from then on. So what
// a process that dies has taken is used by nobody, and in no time is more used than it
// allows, but for the leases that were taken before it: one for each process, of a second's
// worth, at least one.
type SharedRate struct {
	perMinute int
	advance   func(ctx context.Context, by time.Duration) (wait time.Duration, err error)

	// turn is held by whoever takes from what is left, which may be used from then on.
	turn chan struct{}
	left int
	from time.Time
}

// NewSharedRate is a rate of so many a minute. advance moves on what the processes share,
// from now where it has passed, and gives the time until what it was before.
func NewSharedRate(perMinute int, advance func(ctx context.Context, by time.Duration) (wait time.Duration, err error)) *SharedRate {
	return &SharedRate{perMinute: perMinute, advance: advance, turn: make(chan struct{}, 1)}
}

// Wait implements Limiter.
func (r *SharedRate) Wait(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-r.turn }()
	if r.left == 0 {
		lease := max(r.perMinute/60, 1)
		wait, err := r.advance(ctx, time.Duration(lease)*time.Minute/time.Duration(r.perMinute))
		if err != nil {
			return err
		}
		r.left = lease
		r.from = time.Now().Add(wait)
	}
	// Whoever comes next waits for it too, where this one does not until the end.
	if err := Sleep(ctx, time.Until(r.from)); err != nil {
		return err
	}
	r.left--
	return nil
}
