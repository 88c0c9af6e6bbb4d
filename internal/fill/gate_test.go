package fill

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestGate has calls wait for places.
func TestGate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(2)
		ctx, stop := context.WithCancelCause(t.Context())
		var entered atomic.Int32
		enter := func() {
			if _, err := g.enter(ctx); err == nil {
				entered.Add(1)
			}
		}
		for range 3 {
			go enter()
		}
		synctest.Wait()
		if n := entered.Load(); n != 2 {
			t.Errorf("%d entered a gate of 2", n)
		}
		g.leave()
		synctest.Wait()
		if n := entered.Load(); n != 3 {
			t.Errorf("%d entered after one left", n)
		}
		stopped := errors.New("stopped")
		var err error
		go func() { _, err = g.enter(ctx) }()
		synctest.Wait()
		stop(stopped)
		synctest.Wait()
		if !errors.Is(err, stopped) {
			t.Errorf("got %v, want the cause", err)
		}
	})
}

// fillGate has a gate used in full for a number of rounds, of which each answer takes a time.
func fillGate(t *testing.T, g *gate, rounds int, took func(limit int) time.Duration) {
	t.Helper()
	for range rounds {
		limit := g.width()
		var places []place
		for range limit {
			p, err := g.enter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			places = append(places, p)
		}
		time.Sleep(took(limit))
		for _, p := range places {
			g.answered(p, took(limit))
			g.leave()
		}
	}
}

// The bound is doubled while answers a second rise with it, and else goes back.
func TestGateFollowsTheThroughput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		took func(limit int) time.Duration
		want int
	}{
		"scales":          {func(int) time.Duration { return time.Second }, 256},
		"peaks at 64":     {func(n int) time.Duration { return time.Second * time.Duration(max(64, n)) / 64 }, 64},
		"peaks at once":   {func(n int) time.Duration { return time.Second * time.Duration(n) }, 32},
		"rises by little": {func(n int) time.Duration { return time.Second + time.Duration(n-32)*time.Second*9/10/32 }, 32},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate(256)
			fillGate(t, g, 12, c.took)
			if w := g.width(); w != c.want {
				t.Errorf("%s: %d places, want %d", name, w, c.want)
			}
		})
	}
}

// A provider with room for some calls gets as many, and one more after so many answers, then two.
func TestGateLeavesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(64)
		g.takes(16)
		time.Sleep(time.Second)
		if g.takes(20); g.width() != 16 {
			t.Errorf("%d places, want 16", g.width())
		}
		second := func(int) time.Duration { return time.Second }
		fillGate(t, g, 7, second)
		if w := g.width(); w != 17 {
			t.Errorf("%d places after 35 answers with the last places, want 17", w)
		}
		fillGate(t, g, 7, second)
		if w := g.width(); w != 19 {
			t.Errorf("%d places after 35 more, want 19", w)
		}
	})
}
