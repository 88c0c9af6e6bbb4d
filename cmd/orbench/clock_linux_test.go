package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/store/sqlite"
)

// elsewhere has a command run as on another machine: its processes have other numbers, and its
// clock is off by some time.
func elsewhere(c *exec.Cmd, clock time.Duration) {
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
	c.Env = append(c.Environ(), "TEST_CLOCK="+clock.String())
}

// TestClocks has commands on one store whose clocks differ, each in its own space of processes.
// No call is paid for twice, and a bound is kept. With ORBENCH_LONG there are two commands,
// too, and one is killed: what it had claimed is free within a minute, and only its calls under
// way are paid for twice.
func TestClocks(t *testing.T) {
	t.Parallel()
	try := exec.Command("true")
	elsewhere(try, 0)
	if err := try.Run(); err != nil {
		t.Skip("processes cannot have a space of their own here:", err)
	}
	start := func(m *metered, clock time.Duration, bound float64) *process {
		p := m.command(bound)
		elsewhere(p.Cmd, clock)
		return m.started(p)
	}
	each := [][]time.Duration{{0, 45 * time.Second, -45 * time.Second, time.Hour}}
	if long() {
		for _, other := range each[0][1:] {
			each = append(each, []time.Duration{0, other})
		}
	}
	for _, clocks := range each {
		t.Run(fmt.Sprint(clocks), func(t *testing.T) {
			const prompts, bound = 600, 0.3
			m := newMetered(t, 1, 0, filepath.Join(t.TempDir(), "orbench.db"), prompts)
			all := func(bound float64) (ps []*process) {
				for i, clock := range clocks {
					if i > 0 && bound > 0 {
						// The first has a share of what is spent by now.
						within(t, time.Minute, "50 calls", func() bool { return m.answered() > 50 })
					}
					ps = append(ps, start(m, clock, bound))
				}
				return ps
			}
			for _, p := range all(bound) {
				m.holds("bound", bound, 0, m.stopped(p), false)
			}
			for _, p := range all(0) {
				done(t, p, time.Minute)
			}
			if again := m.again(); again != 0 {
				t.Errorf("%d of %d calls were paid for twice", again, prompts)
			}
			if !long() {
				return
			}
			m = newMetered(t, 1, 0, m.store+"-killed", 4*prompts)
			first := start(m, cmp.Or(clocks[1:]...), 0)
			within(t, time.Minute, "100 calls", func() bool { return m.answered() > 100 })
			others := all(0)
			within(t, time.Minute, "200 calls", func() bool { return m.answered() > 200 })
			_ = first.Process.Kill()
			_ = first.Wait()
			killed := time.Now()
			for _, p := range others {
				done(t, p, 2*time.Minute)
			}
			again := m.again()
			t.Logf("all were answered %.1f s after one was killed, %d again", time.Since(killed).Seconds(), again)
			if again > 32 || time.Since(killed) > time.Minute {
				t.Errorf("all were answered %.1f s after one was killed, and %d were paid for twice", time.Since(killed).Seconds(), again)
			}
		})
	}
}

// again counts the calls that were made more than once. What each command asks first, to try the
// model, is shorter.
func (m *metered) again() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for body, times := range m.asked {
		if strings.Contains(body, fmt.Sprintf(`"max_tokens":%d`, meteredOutput)) {
			n += times - 1
		}
	}
	return n
}

// atClock is orbench, whose clock the environment may change.
func atClock() {
	if by, err := time.ParseDuration(os.Getenv("TEST_CLOCK")); err == nil {
		sqlite.Now = func() time.Time { return time.Now().Add(by) }
	}
	main()
}
