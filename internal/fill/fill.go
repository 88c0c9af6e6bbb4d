package fill

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/orbench/orbench/model"
)

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
		// After an error the calls are no longer busy.
		if err = d.claimAll(ctx, missing, seen, err); err == nil && len(d.taken) >= d.enough {
			err = d.again(ctx)
		}
		return err
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
		if err := Sleep(ctx, claimPoll); err != nil {
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
