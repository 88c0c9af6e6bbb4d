package fill_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/orbench/orbench/internal/store/sqlite"
)

// These tests prove that no schedule of faults loses a call, has one paid for twice that was
// not under way at a fault, or breaks a limit or a budget.
//
// A seed decides a schedule: how many processes fill one store, with what limits and
// budget, which of them is killed, frozen or interrupted when, when the store and the
// providers fail, and what becomes of each call. All of it happens in virtual time, in
// memory alone but for the store, which is a real SQLite file. The fills, their claims,
// gates, pacers, budgets and leases are the real ones; simulated are the providers,
// which count what they charge for, and the faults, which stand between a process and
// everything else. After the faults an undisturbed process fills what is left, and then
// rows, charges and counts are held against each other.
//
// What goroutines do at one virtual instant is up to Go's scheduler. So that little is,
// every call and every access to the store takes a time of its own, drawn from the seed
// down to nanoseconds, and one processor runs all: the same seed gives the same trace.

// newStore is the file of a store that is empty.
var newStore = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "m.db")
	s, err := sqlite.Open(context.Background(), path)
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// simulate has the schedule of a seed happen.
func simulate(t *testing.T, seed uint64) *world {
	t.Helper()
	empty, err := newStore()
	if err != nil {
		t.Fatal(err)
	}
	dir := "/dev/shm"
	if _, err := os.Stat(dir); err != nil {
		dir = ""
	}
	dir, err = os.MkdirTemp(dir, "simulation")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "m.db")
	if err := os.WriteFile(path, empty, 0o600); err != nil {
		t.Fatal(err)
	}
	// With one processor, what becomes able to run at once runs in the same order each time.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var w *world
	defer func() {
		if failed := recover(); failed != nil {
			t.Fatalf("%v, with ORBENCH_SEED=%d\n%s", failed, seed, w.text())
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(draw(seed), path)
		w.run(t)
	})
	return w
}

// TestSchedules has the schedules of many seeds happen, or of ORBENCH_SEED alone, whose trace
// it prints. ORBENCH_LONG=1 takes 150 seeds, 2 takes 10,000.
func TestSchedules(t *testing.T) {
	from, to := uint64(1), uint64(20)
	switch os.Getenv("ORBENCH_LONG") {
	case "1":
		to = 150
	case "2":
		to = 10_000
	}
	asked := os.Getenv("ORBENCH_SEED")
	if asked != "" {
		seed, err := strconv.ParseUint(asked, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		from, to = seed, seed
	}
	var calls, faulty int
	again := map[string]int{}
	for seed := from; seed <= to; seed++ {
		w := simulate(t, seed)
		calls += len(w.targets.charges) + len(w.judges.charges)
		for cause, n := range w.again {
			again[cause] += n
		}
		if len(w.problems) > 0 || asked != "" {
			t.Log(w.text())
		}
		if len(w.problems) > 0 {
			t.Errorf("%s\nrepeat it with ORBENCH_SEED=%d go test ./internal/fill -run TestSchedules -v", strings.Join(w.problems, "\n"), seed)
			if faulty++; faulty == mostFaulty {
				t.Fatal("there may be more")
			}
		}
	}
	t.Logf("%d schedules: %d calls were paid for; again or for nothing, since %v", to-from+1, calls, again)
}

// mostFaulty is how many seeds are shown that find something.
const mostFaulty = 3

// TestSeedsRepeat has the same happen twice: in the same order, too, where nothing waits for
// the same place at one instant. Elsewhere what comes first is the scheduler's to choose.
func TestSeedsRepeat(t *testing.T) {
	left := 4
	for seed := uint64(1); left > 0; seed++ {
		if !draw(seed).repeats() {
			continue
		}
		left--
		one, other := simulate(t, seed).text(), simulate(t, seed).text()
		if one != other {
			t.Errorf("seed %d gives two traces, which differ where one has\n%s", seed, parting(one, other))
		}
	}
}

// parting shows two traces where they begin to differ.
func parting(one, other string) string {
	a, b := strings.Split(one, "\n"), strings.Split(other, "\n")
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	around := func(lines []string) string { return strings.Join(lines[max(0, i-3):min(len(lines), i+3)], "\n") }
	return around(a) + "\nand the other\n" + around(b)
}
