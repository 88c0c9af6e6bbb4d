package store

import (
	"maps"
	"sync"
	"time"
)

// Term is how long the calls and the share of a process that died are left to it where the
// store cannot tell that it did. Renewal must not be late for a slow disk, or for a machine
// with much else to do.
const Term = 30 * time.Second

// Watch tells which leases of others are over, without a clock that they share. A lease is a
// claim or a share. It holds a number that is raised whenever it is renewed, and is over when
// this process has seen the number stand still for the term, by its own monotonic clock. So a
// lease is never over too soon, and one that is seen for the first time lasts for the term.
//
// The number is the time at which the term ends by the holder's clock, or the last number and
// one where that is more. So an older program, which compares it with its own clock, reads the
// store as before.
type Watch struct {
	mu   sync.Mutex
	seen map[string]sight
	// most is how many there may be before those that were not seen for long are forgotten.
	most int
}

// sight is a lease as it was seen: since when it holds a number, and when it was seen last.
type sight struct {
	number      int64
	since, last time.Time
}

// Over reports whether a lease of that name, which holds a number now, is over.
func (w *Watch) Over(lease string, number int64, term time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	s, known := w.seen[lease]
	if !known && len(w.seen) >= w.most {
		maps.DeleteFunc(w.seen, func(_ string, s sight) bool { return now.Sub(s.last) > 2*Term })
		w.most = max(256, 2*len(w.seen))
	}
	if w.seen == nil {
		w.seen = map[string]sight{}
	}
	if !known || s.number != number {
		s = sight{number: number, since: now}
	}
	s.last = now
	w.seen[lease] = s
	return now.Sub(s.since) >= term
}
