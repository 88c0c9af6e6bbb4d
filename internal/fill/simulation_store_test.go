package fill_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// errStore is that of a store that fails.
var errStore = errors.New("the store does not answer")

// store is the real store as a process sees it: it takes its time, and is not there for
// who is killed, frozen or cut off.
type faulty struct {
	store.Backend
	p *process
	// asked counts how often the same was asked, guarded by w.mu.
	asked map[string]int
	// left is true once the process has closed it.
	left bool
}

// patience is how long a patient store is asked again.
const patience = 2 * time.Minute

// do has something done with the store, about some calls. Where it fails, nobody knows
// whether it was done.
func (s *faulty) do(what string, writes bool, about []model.Hash, f func() error) error {
	w, p := s.p.w, s.p
	of := fmt.Sprintf("%s %x", what, sum(about))
	for began := time.Now(); ; {
		w.mu.Lock()
		s.asked[of]++
		n := s.asked[of]
		ended := p.ended
		w.mu.Unlock()
		if ended {
			// What is looked up for a call that was canceled, and claims, may come late.
			if what == "put" || what == "put failures" {
				w.problem("%s: %s after the process ended", p.name, what)
			}
			return errStore
		}
		for range 2 {
			if err := p.wait(); err != nil {
				return err
			}
			// Claims that end together are released together or one by one, as the
			// scheduler has it, so that takes no time.
			if what == "release" {
				break
			}
			time.Sleep(w.between(100*time.Microsecond, time.Millisecond, p.name, of, n))
		}
		if err := p.wait(); err != nil {
			return err
		}
		fails, surely := w.storeFault(p, writes)
		if !fails {
			return f()
		}
		if writes && !surely && w.uniform("done", p.name, of, n) < 0.3 {
			w.logf("%s: %s is done, and the word of it lost", p.name, what)
			if err := f(); err != nil {
				return err
			}
		}
		if !w.patient || time.Since(began) > patience {
			w.logf("%s: %s fails", p.name, what)
			w.mu.Lock()
			p.failed = true
			w.mu.Unlock()
			return errStore
		}
		time.Sleep(w.between(200*time.Millisecond, time.Second, "again", p.name, of, n))
	}
}

// sum tells some calls from others, in whatever order they are.
func sum(calls []model.Hash) (all uint64) {
	for _, h := range calls {
		all += binary.BigEndian.Uint64(h[:])
	}
	return all
}

func (s *faulty) Put(ctx context.Context, records []store.Record) error {
	var hashes []model.Hash
	for _, r := range records {
		hashes = append(hashes, r.Hash)
	}
	err := s.do("put", true, hashes, func() error {
		if err := s.Backend.Put(ctx, records); err != nil {
			return err
		}
		w := s.p.w
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, r := range records {
			w.note("%s keeps %s", s.p.name, w.names[r.Hash])
			for _, of := range []*provider{w.targets, w.judges} {
				for _, c := range of.charges {
					if c.of == s.p && c.call == w.names[r.Hash] && !c.replied.IsZero() && c.kept.IsZero() {
						c.kept = time.Now()
					}
				}
			}
		}
		return nil
	})
	if err == nil {
		w := s.p.w
		w.mu.Lock()
		s.p.told += len(records)
		w.mu.Unlock()
	}
	return err
}

func (s *faulty) Get(ctx context.Context, hashes []model.Hash) (found map[model.Hash]model.Response, err error) {
	return found, s.do("get", false, hashes, func() error { found, err = s.Backend.Get(ctx, hashes); return err })
}

func (s *faulty) Has(ctx context.Context, hashes []model.Hash) (present map[model.Hash]bool, err error) {
	return present, s.do("has", false, hashes, func() error { present, err = s.Backend.Has(ctx, hashes); return err })
}

func (s *faulty) PutFailures(ctx context.Context, failures []store.Failure) error {
	return s.do("put failures", true, []model.Hash{failures[0].Hash}, func() error { return s.Backend.PutFailures(ctx, failures) })
}

func (s *faulty) Claim(ctx context.Context, hashes []model.Hash, term time.Duration, seen int64) (c store.Claim, err error) {
	return c, s.do("claim", true, hashes, func() error {
		if c, err = s.Backend.Claim(ctx, hashes, term, seen); err != nil || c.ID == 0 && len(c.Answered) == 0 {
			return err
		}
		s.p.w.logf("%s claims %d: %d are answered, %d taken", s.p.name, len(hashes), len(c.Answered), len(c.Taken))
		return s.p.learnOwner(ctx)
	})
}

func (s *faulty) Renew(ctx context.Context, term time.Duration) (held []int64, err error) {
	return held, s.do("renew", true, nil, func() error {
		held, err = s.Backend.Renew(ctx, term)
		s.p.w.logf("%s renews its claims", s.p.name)
		return err
	})
}

func (s *faulty) Release(ctx context.Context, claims []int64) error {
	return s.do("release", true, nil, func() error { return s.Backend.Release(ctx, claims) })
}

func (s *faulty) ChangeShares(ctx context.Context, study string, term time.Duration, change func([]store.Share) ([]store.Share, []string)) error {
	return s.do("change shares", true, nil, func() error {
		var kept []store.Share
		err := s.Backend.ChangeShares(ctx, study, term, func(all []store.Share) (put []store.Share, drop []string) {
			kept, drop = change(all)
			return kept, drop
		})
		if err != nil {
			return err
		}
		w := s.p.w
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, share := range kept {
			s.p.shares[share.ID] = share
		}
		return nil
	})
}

// Close closes the store for good, unless the process was killed or is cut off: then the
// file stays open until the end, so that its claims end as those of one that is no more.
func (s *faulty) Close() error {
	fails, _ := s.p.w.storeFault(s.p, true)
	if s.p.wait() != nil || fails {
		return nil
	}
	return s.leave()
}

// leave closes what is not closed.
func (s *faulty) leave() error {
	if s.left {
		return nil
	}
	s.left = true
	return s.Backend.Close()
}
