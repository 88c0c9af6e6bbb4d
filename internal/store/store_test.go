package store_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/sqlite"
	"github.com/orbench/orbench/internal/store/storetest"
	"github.com/orbench/orbench/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(storetest.Tests{M: m}) }

// record is the n-th record.
func record(n int) store.Record {
	r := model.Request{Provider: "test", Model: fmt.Sprint("m", n)}
	canonical := r.Canonical()
	return store.Record{Hash: model.HashCanonical(canonical), Request: canonical, Response: model.Response{Text: fmt.Sprint("answer ", n), Finish: model.Stop}}
}

// diskStore is a real store whose writes can be made to fail or to wait.
type diskStore struct {
	store.Backend
	// put is called before a write, which fails with its error.
	put func(records int) error
}

func (s diskStore) Put(ctx context.Context, records []store.Record) error {
	if err := s.put(len(records)); err != nil {
		return err
	}
	return s.Backend.Put(ctx, records)
}

func newStore(t *testing.T, path string) store.Backend {
	t.Helper()
	s, err := sqlite.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// countIn opens a store again and counts its records.
func countIn(t *testing.T, path string) int {
	t.Helper()
	s := newStore(t, path)
	defer s.Close()
	n, err := s.Count(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A full disk is told to everyone whose record was lost, and a disk that has
// room again takes the next.
func TestRememberTellsOfFailures(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m.db")
	full := errors.New("the disk is full")
	var mu sync.Mutex
	failing := true
	m := store.New(diskStore{newStore(t, path), func(int) error {
		mu.Lock()
		defer mu.Unlock()
		if failing {
			return full
		}
		return nil
	}})
	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			if err := m.Remember(record(n)); !errors.Is(err, full) {
				t.Errorf("record %d: %v, want the store's error", n, err)
			}
		})
	}
	all.Wait()
	mu.Lock()
	failing = false
	mu.Unlock()
	for n := range 10 {
		if err := m.Remember(record(n)); err != nil {
			t.Error(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if n := countIn(t, path); n != 10 {
		t.Errorf("%d records, want the 10 that were written", n)
	}
}

// Records that wait while the store is busy are written together, and Close
// waits for them.
func TestCloseWritesWhatIsQueued(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "m.db")
		busy := make(chan struct{})
		var groups []int
		m := store.New(diskStore{newStore(t, path), func(records int) error {
			groups = append(groups, records)
			if len(groups) == 1 {
				<-busy
			}
			return nil
		}})
		var all sync.WaitGroup
		remember := func(n int) {
			all.Go(func() {
				if err := m.Remember(record(n)); err != nil {
					t.Errorf("record %d: %v", n, err)
				}
			})
		}
		remember(0)
		synctest.Wait() // the first is being written
		for n := 1; n < 40; n++ {
			remember(n)
		}
		synctest.Wait() // the others are queued
		all.Go(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		close(busy)
		all.Wait()
		if len(groups) != 2 || groups[1] != 39 {
			t.Errorf("groups of %v records were written, want 1 and 39", groups)
		}
		if n := countIn(t, path); n != 40 {
			t.Errorf("%d records, want 40", n)
		}
	})
}

func TestRememberAfterClose(t *testing.T) {
	t.Parallel()
	m := store.New(newStore(t, filepath.Join(t.TempDir(), "m.db")))
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	// More than the queue holds.
	for n := range 1000 {
		if err := m.Remember(record(n)); !errors.Is(err, store.ErrClosed) {
			t.Fatalf("record %d: %v, want ErrClosed", n, err)
		}
	}
}

// Whatever Remember says beside a Close is true: what it took is there, and what
// it refused is not lost unseen.
func TestRememberBesideClose(t *testing.T) {
	t.Parallel()
	for round := range 20 {
		path := filepath.Join(t.TempDir(), "m.db")
		m := store.New(newStore(t, path))
		var (
			mu    sync.Mutex
			taken int
			all   sync.WaitGroup
		)
		for n := range 30 {
			all.Go(func() {
				switch err := m.Remember(record(n)); {
				case err == nil:
					mu.Lock()
					taken++
					mu.Unlock()
				case !errors.Is(err, store.ErrClosed):
					t.Errorf("record %d: %v", n, err)
				}
			})
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
		if n := countIn(t, path); n != taken {
			t.Errorf("round %d: %d records are there, %d were taken", round, n, taken)
		}
	}
}
