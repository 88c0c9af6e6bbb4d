package fill

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

const (
	// claimTerm is how long a claim holds that is not renewed.
	claimTerm = store.Term
	// claimPoll is how often calls that another process makes are looked up.
	claimPoll = 200 * time.Millisecond
	// claimAtLeast is how many calls are claimed together where there are as many.
	// More than will soon be sent would keep other processes waiting.
	claimAtLeast = 32
	// mostEnded is how many claims that ended wait to be released together.
	mostEnded = 8
)

// errLapsed means that the claim on a call ended before it was sent.
var errLapsed = errors.New("another process took the call over")

// claims are what this process has claimed in the store, so that no other makes the same
// calls. They are renewed while there are any.
type claims struct {
	store *store.Store

	mu   sync.Mutex
	held map[int64]*claim
	// ended are claims without calls that are still to be released.
	ended []int64
	renew *time.Timer
	// seen is that of the last claim.
	seen int64
}

// claim is a group of calls that were claimed together.
type claim struct {
	id int64
	// open is how many of the calls have not ended.
	open int
	// until is when the claim ends, by whichever of this machine's clocks is first: the
	// monotonic one stands still while a machine sleeps, and the other can be set back.
	until time.Time
}

func newClaims(m *store.Store) *claims { return &claims{store: m, held: map[int64]*claim{}} }

// take claims calls. Those that are neither answered nor taken by another process are to
// be made under the claim, each until it is ended. seen is what look gave before they were
// looked up and found to be missing, 0 for calls that were not.
func (cs *claims) take(ctx context.Context, hashes []model.Hash, seen int64) (mine *claim, got store.Claim, err error) {
	// It is brief, and what a stop cut short would be claimed or not.
	ctx = context.WithoutCancel(ctx)
	cs.mu.Lock()
	full := len(cs.ended) >= mostEnded
	cs.mu.Unlock()
	if full {
		if err := cs.release(ctx); err != nil {
			return nil, got, err
		}
	}
	until := time.Now().Add(claimTerm)
	got, err = cs.store.Claim(ctx, hashes, claimTerm, seen)
	if err != nil {
		return nil, got, err
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.seen = max(cs.seen, got.Seen)
	if got.ID == 0 {
		return nil, got, nil
	}
	mine = &claim{id: got.ID, open: len(hashes) - len(got.Answered) - len(got.Taken), until: until}
	cs.held[mine.id] = mine
	if cs.renew == nil {
		cs.renew = time.AfterFunc(claimTerm/3, cs.renewAll)
	}
	return mine, got, nil
}

// look is called before calls are looked up that are then claimed.
func (cs *claims) look() (seen int64) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.seen
}

// live reports whether a claim holds.
func (cs *claims) live(c *claim) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	now := time.Now()
	return now.Before(c.until) && now.Round(0).Before(c.until)
}

// end says that a call of the claim, nil for none, has ended.
func (cs *claims) end(c *claim) {
	if c == nil {
		return
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c.open--; c.open == 0 {
		delete(cs.held, c.id)
		cs.ended = append(cs.ended, c.id)
	}
}

// release gives back to the store what has ended.
func (cs *claims) release(ctx context.Context) error {
	cs.mu.Lock()
	ended := cs.ended
	cs.ended = nil
	if len(cs.held) == 0 && cs.renew != nil {
		cs.renew.Stop()
		cs.renew = nil
	}
	cs.mu.Unlock()
	if len(ended) == 0 {
		return nil
	}
	return cs.store.Release(ctx, ended)
}

// renewAll renews what is held. A claim that was lost, or could not be renewed in time,
// is not live from then on, and its calls are claimed again before they are sent.
func (cs *claims) renewAll() {
	ctx := context.Background()
	until := time.Now().Add(claimTerm)
	cs.mu.Lock()
	renewing := slices.Collect(maps.Values(cs.held))
	cs.mu.Unlock()
	kept, err := cs.store.Renew(ctx, claimTerm)
	cs.mu.Lock()
	for _, c := range renewing {
		switch {
		case err != nil: // it ends in time
		case slices.Contains(kept, c.id):
			c.until = until
		default:
			c.until = time.Time{}
		}
	}
	cs.mu.Unlock()
	// Whoever waits for calls that failed here looks again. What cannot be released
	// now ends in time.
	_ = cs.release(ctx)
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.renew != nil {
		cs.renew.Reset(claimTerm / 3)
	}
}

// leaveToBatch has a call not be made by this process, since a batch makes it.
func (f *Live) leaveToBatch(h model.Hash) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed[h] = true
	f.stats.Batched++
}

// await gives the response of a call, also where it waits for another process to make
// it; or else the claim under which this process is to make it, nil where a batch does. had
// is true for a call that this process had claimed before.
func (f *Live) await(ctx context.Context, h model.Hash, had bool) (response model.Response, ok bool, mine *claim, err error) {
	for waited := had; ; waited = true {
		s, err := f.finder.find(ctx, h)
		switch {
		case err != nil:
			return model.Response{}, false, nil, err
		case s.batched:
			f.claims.end(s.claim)
			f.leaveToBatch(h)
			return model.Response{}, false, nil, nil
		case s.ok:
			f.count(func(s *Stats) {
				s.Present++
				if waited {
					s.Elsewhere++
				}
			})
			fallthrough
		case s.claim != nil:
			return s.response, s.ok, s.claim, nil
		}
		if err := Sleep(ctx, f.finder.again()); err != nil {
			return model.Response{}, false, nil, err
		}
	}
}

// dispatcher hands calls of a lane to its workers.
type dispatcher struct {
	*Lane
	work chan<- call
	// sent counts the calls that were missing.
	sent int
	// taken are calls that another process makes, as of the last look; so many of them
	// are enough to look again.
	taken  []call
	enough int
}

// again looks at the calls that another process makes: for those that it has answered or
// left.
func (d *dispatcher) again(ctx context.Context) error {
	calls := d.taken
	d.wait(-len(calls))
	d.taken = nil
	err := d.claimAll(ctx, calls, 0, nil)
	d.enough = max(lookAhead, 2*len(d.taken))
	return err
}

// leave lets go of calls that another process makes.
func (d *dispatcher) leave() {
	d.wait(-len(d.taken))
	for _, c := range d.taken {
		d.filler.busy.leave(c.hash)
	}
}

// wait changes the count of calls that are waited for.
func (d *dispatcher) wait(n int) { d.filler.count(func(s *Stats) { s.Waiting += n }) }

// claimAll claims busy calls, hands the workers those that are this process's to make, and
// keeps those that another process makes for later. After an error, which may have been
// there before, the calls are no longer busy. seen is as for claims.take.
func (d *dispatcher) claimAll(ctx context.Context, calls []call, seen int64, err error) error {
	for len(calls) > 0 {
		group := calls[:min(d.together(), len(calls))]
		calls = calls[len(group):]
		if ctx.Err() != nil {
			// Why the work ends says more than what ended for it.
			err = context.Cause(ctx)
		}
		if err == nil {
			err = d.claim(ctx, group, seen)
			continue
		}
		for _, c := range group {
			d.filler.busy.leave(c.hash)
		}
	}
	return err
}

// claim is claimAll for as many calls as are claimed together.
func (d *dispatcher) claim(ctx context.Context, group []call, seen int64) error {
	f := d.filler
	calls, hashes := group[:0], make([]model.Hash, 0, len(group))
	for _, c := range group {
		if d.about(c.ref()).givenUp() != nil {
			f.busy.leave(c.hash)
			continue
		}
		calls, hashes = append(calls, c), append(hashes, c.hash)
	}
	if len(calls) == 0 {
		return nil
	}
	mine, got, err := f.claims.take(ctx, hashes, seen)
	for _, c := range calls {
		switch {
		case got.Answered[c.hash]:
			// A busy call is made by nobody else in this process.
			d.sent++
			f.busy.leave(c.hash)
			f.count(func(s *Stats) {
				s.Elsewhere++
				s.Present++
			})
			continue
		case got.Taken[c.hash]:
			d.taken = append(d.taken, c)
			d.wait(1)
			continue
		case err == nil && got.Batched[c.hash]:
			f.leaveToBatch(c.hash)
		case err == nil:
			c.claim = mine
			select {
			case d.work <- c:
				d.sent++
				continue
			case <-ctx.Done():
				err = context.Cause(ctx)
			}
		}
		f.claims.end(mine)
		f.busy.leave(c.hash)
	}
	return err
}
