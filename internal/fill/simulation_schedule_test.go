package fill_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/fill"
)

// schedule is what a seed decides before anything happens.
type schedule struct {
	seed uint64
	// calls is how many calls each process wants. judged has the replies of those be judged,
	// by calls to another provider that are known once the replies are.
	calls  int
	judged bool
	// starts are when processes start, and works how each of them works.
	starts []time.Duration
	works  []work
	// concurrency is how many calls each process makes at once to each provider. Where there
	// is room, a process that asks one by one may make all at once that it waits for.
	concurrency int
	room        bool
	// perMinute are the requests that all processes together may send to each provider, 0
	// for any number.
	perMinute int
	// takes is how many requests each provider takes in ten seconds, rejected ones included,
	// 0 for any number; says is true where it tells when to come back.
	takes int
	says  bool
	// budget is that of all processes together.
	budget fill.Budget
	// patient is true for a store that is asked again until it is there, as a database is.
	patient bool
	faults  []fault
}

// work is a way in which a process has calls made.
type work string

const (
	fills work = "fills"        // as eval does
	asks  work = "asks"         // as a worker does, shard by shard
	both  work = "asks by twos" // as a worker does that has shards of two fills
)

// fault is something that goes wrong.
type fault struct {
	at, lasts time.Duration
	kind      kind
	// of is the number of the process or the provider.
	of int
}

// kind is that of a fault.
type kind string

const (
	killed      kind = "killed"                     // on another machine, whose processes nobody knows of
	killedHere  kind = "killed here"                // where it can be told that it is no more
	frozen      kind = "frozen"                     // does nothing, and knows nothing of it
	interrupted kind = "interrupted"                // finishes what is under way
	aborted     kind = "aborted"                    // does not
	cutOff      kind = "cut off from the store"     // for one process
	restarted   kind = "the store is restarted"     // for all
	diskFull    kind = "the disk is full"           // what is written fails
	outage      kind = "the provider does not work" // all calls fail
)

// kinds are all kinds, as often as each shall come.
var kinds = []kind{killed, killed, killedHere, frozen, frozen, frozen, interrupted, aborted, cutOff, restarted, diskFull, outage}

// draw gives the schedule of a seed.
func draw(seed uint64) schedule {
	r := rand.New(rand.NewPCG(seed, 1))
	between := func(from, to time.Duration) time.Duration { return from + time.Duration(r.Int64N(int64(to-from))) }
	s := schedule{
		seed: seed, calls: 20 + r.IntN(50), judged: r.IntN(2) == 0, concurrency: 2 + r.IntN(9), patient: r.IntN(3) == 0,
	}
	s.room = r.IntN(4) > 0
	switch r.IntN(4) {
	case 0:
		s.perMinute = 40 + r.IntN(250)
	case 1:
		s.takes, s.says = 15+r.IntN(40), r.IntN(4) > 0
	}
	switch r.IntN(6) {
	case 0:
		s.budget.Requests = s.calls/2 + r.IntN(s.calls)
	case 1:
		s.budget.Tokens = s.calls * (10 + r.IntN(40))
	case 2:
		s.budget.USD = float64(s.calls*(10+r.IntN(40))) / 1e6
	}
	for i := range 1 + r.IntN(4) {
		s.works = append(s.works, []work{fills, fills, asks, both}[r.IntN(4)])
		if i == 0 {
			s.starts = append(s.starts, 0)
			continue
		}
		s.starts = append(s.starts, between(0, 8*time.Second))
	}
	for range 1 + r.IntN(4) {
		f := fault{kind: kinds[r.IntN(len(kinds))], at: between(0, 15*time.Second), of: r.IntN(len(s.works))}
		switch f.kind {
		case frozen:
			// Most sleep longer than their claims last.
			if f.lasts = between(31*time.Second, 45*time.Second); r.IntN(4) == 0 {
				f.lasts = between(time.Second, 29*time.Second)
			}
		case outage:
			f.of, f.lasts = r.IntN(2), between(2*time.Second, 20*time.Second)
		case cutOff, restarted, diskFull:
			f.lasts = between(50*time.Millisecond, 5*time.Second)
			if r.IntN(4) == 0 {
				f.lasts = between(10*time.Second, 40*time.Second)
			}
		}
		s.faults = append(s.faults, f)
	}
	return s
}

// repeats reports whether what happens does not depend on the order in which goroutines run
// at one instant: none wait for the same place, for what is left of a limit, or for the
// first call that a budget lets go alone. Who asks for more at once than calls begin with has
// some wait for the same place.
func (s schedule) repeats() bool {
	asked := slices.ContainsFunc(s.works, func(w work) bool { return w != fills })
	return s.room && !asked && s.takes == 0 && s.perMinute == 0 && s.budget == (fill.Budget{})
}

// String is the schedule as a reader of a trace wants it.
func (s schedule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d calls, judged: %t, %d at once", s.seed, s.calls, s.judged, s.concurrency)
	if s.perMinute > 0 {
		fmt.Fprintf(&b, ", %d a minute", s.perMinute)
	}
	if s.takes > 0 {
		fmt.Fprintf(&b, ", %d taken in %v, says when: %t", s.takes, window, s.says)
	}
	if s.budget != (fill.Budget{}) {
		fmt.Fprintf(&b, ", budget %+v", s.budget)
	}
	fmt.Fprintf(&b, ", patient: %t\n", s.patient)
	for i, w := range s.works {
		fmt.Fprintf(&b, "  process %d %s from %v\n", i, w, s.starts[i])
	}
	for _, f := range s.faults {
		fmt.Fprintf(&b, "  %v: %s", f.at, f.kind)
		if f.lasts > 0 {
			fmt.Fprintf(&b, " for %v", f.lasts)
		}
		fmt.Fprintf(&b, " (%d)\n", f.of)
	}
	return b.String()
}
