package fill

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/internal/memo/sqlite"
	"github.com/orbench/orbench/model"
)

// shareMemo opens a store as so many processes do.
func shareMemo(t *testing.T, processes int) []*memo.Memo {
	t.Helper()
	var all []*memo.Memo
	path := filepath.Join(t.TempDir(), "m.db")
	for range processes {
		s, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		m := memo.New(s)
		t.Cleanup(func() { closeMemo(t, m) })
		all = append(all, m)
	}
	return all
}

// Of several that want the same calls one makes each, the others wait for it, and what
// failed for one is tried by another.
func TestSharedFill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n, first = 150, 7
		var mu sync.Mutex
		asked := map[model.Hash]int{}
		var all sync.WaitGroup
		var fills []*Live
		for i, m := range shareMemo(t, 3) {
			f := NewLive(m, Config{})
			fills = append(fills, f)
			lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
				mu.Lock()
				asked[r.Hash()]++
				times := asked[r.Hash()]
				mu.Unlock()
				time.Sleep(time.Second)
				if r.Hash() == request("m", first).Hash() && times == 1 {
					// Longer than a claim lasts that is not renewed.
					time.Sleep(2 * claimTerm)
					return model.Response{}, &model.Error{Kind: model.Invalid, Message: "no"}
				}
				return answer(r)
			}), Limits{Concurrency: 8})
			all.Go(func() {
				if i < 2 {
					if _, err := lane.fill(t.Context(), requests("m", 0, n), nil); err != nil {
						t.Error(err)
					}
					return
				}
				for k := range 20 {
					all.Go(func() {
						if _, ok, err := lane.ask(t.Context(), request("m", 80+k)); !ok || err != nil {
							t.Errorf("asked %d: %t, %v", 80+k, ok, err)
						}
					})
				}
			})
		}
		all.Wait()
		for k := range n {
			want := 1
			if k == first {
				want = 2
			}
			if got := asked[request("m", k).Hash()]; got != want {
				t.Errorf("call %d was made %d times, want %d", k, got, want)
			}
		}
		var answered int
		for i, f := range fills {
			s := f.Stats()
			answered += s.Answered
			// The third may find everything answered, or be the first to claim what it asks.
			if s.Waiting != 0 || i < 2 && (s.Elsewhere == 0 || s.Answered == 0) {
				t.Errorf("process %d: %d answered, %d elsewhere, %d waiting", i, s.Answered, s.Elsewhere, s.Waiting)
			}
			if len(f.claims.held) > 0 {
				t.Errorf("process %d still holds %d claims", i, len(f.claims.held))
			}
		}
		if answered != n {
			t.Errorf("%d answered, want %d", answered, n)
		}
	})
}

// A process whose claim has ended, as when its machine slept, looks again before it sends:
// another may have made the call.
func TestLapsedClaim(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]struct {
		answers bool
		calls   int
	}{"answered by another": {true, 1}, "still to be made": {false, 2}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ms := shareMemo(t, 2)
				r := request("m", 1)
				f := NewLive(ms[0], Config{})
				var calls int
				lane := f.Lane(model.Ref{}, model.Func(func(context.Context, model.Request) (model.Response, error) {
					if calls++; calls > 1 {
						return answer(r)
					}
					for _, c := range f.claims.held {
						c.until = time.Time{}
					}
					if other.answers {
						if err := ms[1].Remember(memo.Record{Hash: r.Hash(), Request: r.Canonical(), Response: model.Response{Text: "other", Finish: model.Stop}}); err != nil {
							t.Error(err)
						}
					}
					return model.Response{}, &model.Error{Kind: model.Transient, RetryAfter: time.Millisecond}
				}), Limits{Concurrency: 1})
				if _, err := lane.fill(t.Context(), requests("m", 1, 2), nil); err != nil || calls != other.calls || rememberedIn(t, ms[0]) != 1 {
					t.Errorf("%v, with %d calls; want %d", err, calls, other.calls)
				}
			})
		})
	}
}

// A fill that is stopped leaves nothing claimed, neither what waits to be sent nor what
// another process makes.
func TestStoppedFillReleases(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ms := shareMemo(t, 2)
		c, err := ms[1].Claim(t.Context(), []model.Hash{request("m", 0).Hash()}, time.Hour)
		if err != nil || c.ID == 0 {
			t.Fatal(c, err)
		}
		ctx, stop := context.WithCancel(t.Context())
		f := NewLive(ms[0], Config{})
		lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
			stop()
			return answer(r)
		}), Limits{Concurrency: 1})
		if _, err := lane.fill(ctx, requests("m", 0, 100), nil); err == nil {
			t.Error("a stopped fill says nothing")
		}
		var hashes []model.Hash
		for r := range requests("m", 1, 100) {
			hashes = append(hashes, r.Hash())
		}
		got, err := ms[1].Claim(t.Context(), hashes, time.Hour)
		if err != nil || len(got.Taken) > 0 || len(got.Answered) != 1 || len(f.busy) > 0 || f.Stats().Waiting != 0 {
			t.Errorf("%d taken, %d answered, %v; %d busy, %d waiting", len(got.Taken), len(got.Answered), err, len(f.busy), f.Stats().Waiting)
		}
	})
}
