package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/construct"
)

// TestBuildKilledFiveTimes kills a build with SIGKILL at five random moments and
// runs it to the end: every file of the benchmark is, byte for byte, that of a
// build which was left alone.
//
// It runs with ORBENCH_LONG=1. With ORBENCH_LONG=2 it has the paper's size: 2,000 seeds for each of ten
// categories, five rewrites of each, three votes on each of those. It then logs
// the time and the peak memory of the build that was left alone.
func TestBuildKilledFiveTimes(t *testing.T) {
	if os.Getenv("ORBENCH_LONG") == "" {
		t.Skip("a long proof: set ORBENCH_LONG=1, as .ci/run does")
	}
	long := os.Getenv("ORBENCH_LONG") == "2"
	config := strings.Replace(construct.Template, "per_category: 40 ", "per_category: 10 ", 1)
	if long {
		config = strings.NewReplacer("per_category: 40 ", "per_category: 2000 ", "size: 100 ", "size: 650 ", "check_seeds: 10 ", "check_seeds: 100 ").
			Replace(construct.Template)
	} else {
		t.Parallel()
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "build.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	args := func(out, store string) []string {
		return []string{"build", "--config", file, "--out", filepath.Join(dir, out), "--store", filepath.Join(dir, store), "--quiet", "--format", "json"}
	}

	whole, _, stderr := orbench(args("whole", "whole.db")...)
	began := time.Now()
	if err := whole.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	took, calls := time.Since(began), remembered(t, filepath.Join(dir, "whole.db"))
	peak := whole.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	t.Logf("%d replies in %v, %.0f a second; peak memory %d MB", calls, took.Round(time.Second), float64(calls)/took.Seconds(), peak>>10)

	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	store := filepath.Join(dir, "killed.db")
	const kills = 5
	killed := 0
	for killed < kills {
		c, _, stderr := orbench(args("killed", "killed.db")...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		// The moment is chosen by the build's progress: somewhere in each sixth.
		until := (killed + 1) * calls / (kills + 1) * (90 + random.IntN(20)) / 100
		for running := true; running; {
			select {
			case err := <-ended:
				t.Fatalf("the build ended with %v before it was killed: %s", err, stderr)
			case <-time.After(5 * time.Millisecond):
			}
			if _, err := os.Stat(store); err == nil && remembered(t, store) >= until {
				running = false
			}
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-ended
		killed++
		if _, err := os.Stat(filepath.Join(dir, "killed")); err == nil {
			t.Fatal("a killed build left a benchmark")
		}
	}
	last, _, stderr := orbench(args("killed", "killed.db")...)
	if err := last.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	files, err := os.ReadDir(filepath.Join(dir, "whole"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		want, err := os.ReadFile(filepath.Join(dir, "whole", f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "killed", f.Name()))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs (%v)", f.Name(), err)
		}
	}
	if n := remembered(t, store); n != calls {
		t.Errorf("the killed build remembers %d replies, the other %d", n, calls)
	}
	if len(files) != 14 {
		t.Errorf("%d files, want 14", len(files))
	}
}
