package fill

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// ask is Live.Ask on this lane.
func (l *Lane) ask(ctx context.Context, r model.Request) (response model.Response, ok bool, err error) {
	f := l.filler
	canonical := r.Canonical()
	c := call{request: r, canonical: canonical, hash: model.HashCanonical(canonical)}
	for {
		underWay, entered := f.busy.enter(c.hash)
		if entered {
			break
		}
		select {
		case <-underWay:
		case <-ctx.Done():
			return model.Response{}, false, context.Cause(ctx)
		}
	}
	if f.hasFailed(c.hash) {
		f.busy.leave(c.hash)
		return model.Response{}, false, nil
	}
	response, ok, c.claim, err = f.await(ctx, c.hash, false)
	if ok || err != nil || c.claim == nil {
		f.busy.leave(c.hash)
		return response, ok, err
	}
	calls, abandon := f.outliving(ctx)
	defer abandon()
	calls, stored := model.Hold(calls)
	defer stored()
	return l.answer(ctx, calls, c)
}

// finder looks single hashes up in batches, and claims those without a response: those
// that are asked for while one batch is looked up make the next.
type finder struct {
	store  *store.Store
	claims *claims
	began  time.Time

	mu      sync.Mutex
	waiting []*search
	running bool
}

// search is a hash that somebody waits for.
type search struct {
	hash     model.Hash
	response model.Response
	ok       bool
	// claim is that under which the call is this process's to make, nil for one with a
	// response and for one that another process makes.
	claim *claim
	// batched is true where the call is out in a batch.
	batched bool
	err     error
	done    chan struct{}
}

// find gives the remembered response of a hash, or claims it.
func (f *finder) find(ctx context.Context, h model.Hash) (*search, error) {
	s := &search{hash: h, done: make(chan struct{})}
	f.mu.Lock()
	f.waiting = append(f.waiting, s)
	if !f.running {
		f.running = true
		// Others wait for this batch too, so it does not end with ctx.
		go f.run(context.WithoutCancel(ctx))
	}
	f.mu.Unlock()
	select {
	case <-s.done:
		return s, s.err
	case <-ctx.Done():
		go func() {
			<-s.done
			f.claims.end(s.claim)
		}()
		return nil, context.Cause(ctx)
	}
}

// again is how long it is until calls that others make are looked up again: all that wait
// for some at once, so that a store is not asked for each of them.
func (f *finder) again() time.Duration { return claimPoll - time.Since(f.began)%claimPoll }

// gatherTurns is how often the finder lets others run before it looks up.
const gatherTurns = 3

// run looks up what waits until nothing does.
func (f *finder) run(ctx context.Context) {
	for {
		// Those who wake together come together.
		for range gatherTurns {
			runtime.Gosched()
		}
		f.mu.Lock()
		batch := f.waiting[:min(len(f.waiting), lookAhead)]
		f.waiting = f.waiting[len(batch):]
		if len(batch) == 0 {
			f.waiting, f.running = nil, false
			f.mu.Unlock()
			return
		}
		f.mu.Unlock()
		f.lookUp(ctx, batch)
	}
}

// lookUp answers a batch. Which hashes are there is asked first: while a run is
// new nearly none is, and that question costs less than fetching.
func (f *finder) lookUp(ctx context.Context, batch []*search) {
	hashes := table.RowsOf(batch, func(s *search) model.Hash { return s.hash })
	seen := f.claims.look()
	present, err := f.store.Has(ctx, hashes)
	if len(present) > 0 {
		seen = 0
	}
	var found map[model.Hash]model.Response
	if err == nil && len(present) > 0 {
		found, err = f.store.Get(ctx, slices.AppendSeq(hashes[:0], maps.Keys(present)))
	}
	hashes = hashes[:0]
	for _, s := range batch {
		if s.response, s.ok = found[s.hash]; !s.ok {
			hashes = append(hashes, s.hash)
		}
	}
	var mine *claim
	var got store.Claim
	if err == nil && len(hashes) > 0 {
		mine, got, err = f.claims.take(ctx, hashes, seen)
	}
	for _, s := range batch {
		// What was answered since the look-up is found by the next.
		if !s.ok && !got.Answered[s.hash] && !got.Taken[s.hash] {
			s.claim, s.batched = mine, got.Batched[s.hash]
		}
		s.err = err
		close(s.done)
	}
}
