package fill

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestGate has calls wait for places, and the bound follow what becomes of them.
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
		began := time.Now()
		time.Sleep(time.Second)
		g.limited(began)
		g.limited(began) // sent before the bound was lowered: it says nothing of the new one
		if g.limit != 1.5 || g.width() != 1 {
			t.Errorf("the bound is %g after a reject, want 1.5", g.limit)
		}
		time.Sleep(time.Second)
		g.limited(time.Now())
		if g.limit != 1.125 {
			t.Errorf("the bound is %g after two rejects, want 1.125", g.limit)
		}
		time.Sleep(time.Second)
		g.limited(time.Now())
		if g.limit != 1 {
			t.Errorf("the bound is %g after three rejects, want 1", g.limit)
		}
		g.leave()
		go enter()
		synctest.Wait()
		if n := entered.Load(); n != 3 {
			t.Error("a second call entered a gate that rejects have narrowed to one")
		}
		g.leave()
		synctest.Wait()
		if n := entered.Load(); n != 4 {
			t.Error("a gate of one lets none in")
		}
		go enter()
		g.answered(false) // 2 again
		synctest.Wait()
		if n := entered.Load(); n != 5 || g.limit != 2 {
			t.Errorf("%d entered, the bound is %g; want an answer to have widened it", n, g.limit)
		}
		g.answered(false)
		if g.limit != 2 {
			t.Errorf("the bound is %g, above what was given", g.limit)
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
		h := newGate(8)
		h.limit = 4
		h.answered(false) // as at first
		if h.limit != 5 {
			t.Errorf("the bound is %g before any reject, want one more than 4", h.limit)
		}
		h.limit, h.lastCut = 4, time.Now()
		h.answered(false)
		if math.Abs(h.limit-4.25) > 1e-9 {
			t.Errorf("the bound is %g, want a quarter more than 4", h.limit)
		}
	})
}
