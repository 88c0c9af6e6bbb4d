package model

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// MaxInFlight is what the replies that are in flight may take at once, in bytes, over
// all calls of the program.
const MaxInFlight = 256 << 20

var inFlight = semaphore.NewWeighted(MaxInFlight)

// holdKey is the key of a call's *int64: what it holds of MaxInFlight.
type holdKey struct{}

// Hold gives a context for one call. What Take takes with it is held until release,
// which is to be called when the response has been stored: it is in memory until then.
func Hold(ctx context.Context) (held context.Context, release func()) {
	taken := new(int64)
	return context.WithValue(ctx, holdKey{}, taken), func() { give(taken) }
}

// Take waits until n bytes, or all of MaxInFlight, are free, and takes them in place of
// what the call holds. release gives them back, where no Hold does that later. A model
// takes what a long reply may need before it reads it. The error is the context's.
func Take(ctx context.Context, n int64) (release func(), err error) {
	taken, held := ctx.Value(holdKey{}).(*int64)
	if !held {
		taken = new(int64)
	}
	// Whoever waited for more while holding some could wait for another who does so too.
	give(taken)
	n = min(n, MaxInFlight)
	if err := inFlight.Acquire(ctx, n); err != nil {
		return nil, err
	}
	*taken = n
	if held {
		return func() {}, nil
	}
	return func() { give(taken) }, nil
}

func give(taken *int64) {
	if *taken > 0 {
		inFlight.Release(*taken)
		*taken = 0
	}
}
