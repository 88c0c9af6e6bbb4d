package address_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/store/storetest"
	"github.com/orbench/orbench/model"
)

// TestMillionCalls has 256 callers remember a million answers of a kilobyte in each kind of
// store, and read some of them. It prints what docs/scale.md has, fails where memory grows
// with what is stored, and runs for make bench only.
func TestMillionCalls(t *testing.T) {
	if os.Getenv("ORBENCH_BENCH") == "" {
		t.Skip("a benchmark: run it with make bench")
	}
	database := storetest.StartPostgres(t, "").Database(t)
	for name, at := range map[string]string{"SQLite": filepath.Join(t.TempDir(), "m.db"), "Postgres": database} {
		t.Run(name, func(t *testing.T) {
			const calls, callers, steps, probed = 1_000_000, 256, 4, 20_000
			m, err := address.Open(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			var first int
			for step := range steps {
				began := time.Now()
				var next atomic.Int64
				next.Store(int64(step * calls / steps))
				var all sync.WaitGroup
				for range callers {
					all.Go(func() {
						for n := int(next.Add(1)) - 1; n < (step+1)*calls/steps; n = int(next.Add(1)) - 1 {
							r := storetest.Record(n)
							r.Response.Text = strings.Repeat("An answer of some length. ", 40)
							if err := m.Remember(r); err != nil {
								t.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
				now := residentMB(t)
				if step == 0 {
					first = now
				}
				t.Logf("%d calls: %.0f a second, %d MB", (step+1)*calls/steps, calls/steps/time.Since(began).Seconds(), now)
				if now > 2*first {
					t.Errorf("memory has grown from %d MB to %d", first, now)
				}
			}
			var hashes []model.Hash
			for n := range probed {
				hashes = append(hashes, storetest.Record(n*(calls/probed)).Hash)
			}
			began := time.Now()
			found, err := m.Get(t.Context(), hashes)
			if err != nil || len(found) != probed {
				t.Errorf("found %d, %v", len(found), err)
			}
			t.Logf("%d answers from all over, %.0f a second", probed, probed/time.Since(began).Seconds())
			if n, err := m.Count(t.Context()); err != nil || n != calls {
				t.Errorf("%d calls, %v; want %d", n, err, calls)
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// residentMB is how much memory the process has, in megabytes.
func residentMB(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	_, rest, _ := bytes.Cut(status, []byte("VmRSS:"))
	kb, err := strconv.Atoi(string(bytes.Fields(rest)[0]))
	if err != nil {
		t.Fatal(fmt.Errorf("VmRSS: %w", err))
	}
	return kb / 1024
}
