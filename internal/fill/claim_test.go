package fill

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/sqlite"
	"github.com/orbench/orbench/model"
)

// shareMemo opens a store as so many processes do.
func shareMemo(t *testing.T, processes int) []*store.Store {
	t.Helper()
	var all []*store.Store
	path := filepath.Join(t.TempDir(), "m.db")
	for range processes {
		s, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		m := store.New(s)
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
			f := NewLive(m, LiveConfig{})
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
				f := NewLive(ms[0], LiveConfig{})
				var calls int
				lane := f.Lane(model.Ref{}, model.Func(func(context.Context, model.Request) (model.Response, error) {
					if calls++; calls > 1 {
						return answer(r)
					}
					for _, c := range f.claims.held {
						c.until = time.Time{}
					}
					if other.answers {
						if err := ms[1].Remember(store.Record{Hash: r.Hash(), Request: r.Canonical(), Response: model.Response{Text: "other", Finish: model.Stop}}); err != nil {
							t.Error(err)
						}
					}
					return model.Response{}, &model.Error{Kind: model.Transient, RetryAfter: time.Millisecond}
				}), Limits{Concurrency: 1})
				if _, err := lane.fill(t.Context(), requests("m", 1, 2), nil); err != nil || calls != other.calls || rememberedIn(t, ms[0]) != 1 {
					t.Errorf("%v, with %d calls; want %d", err, calls, other.calls)
				}
				if s := f.Stats(); s.Present != 2-other.calls || s.Elsewhere != 2-other.calls {
					t.Errorf("%d are present and %d made elsewhere, with %d calls", s.Present, s.Elsewhere, calls)
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
		c, err := ms[1].Claim(t.Context(), []model.Hash{request("m", 0).Hash()}, time.Hour, 0)
		if err != nil || c.ID == 0 {
			t.Fatal(c, err)
		}
		ctx, stop := context.WithCancel(t.Context())
		f := NewLive(ms[0], LiveConfig{})
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
		got, err := ms[1].Claim(t.Context(), hashes, time.Hour, 0)
		if err != nil || len(got.Taken) > 0 || len(got.Answered) != 1 || len(f.busy.calls) > 0 || f.Stats().Waiting != 0 {
			t.Errorf("%d taken, %d answered, %v; %d busy, %d waiting", len(got.Taken), len(got.Answered), err, len(f.busy.calls), f.Stats().Waiting)
		}
	})
}

// probedStore counts what a real store is asked, and can be made to fail.
type probedStore struct {
	store.Backend
	has, gets, claims  atomic.Int64
	hasFault, putFault error
}

// probe has a store ask its backend through a probe.
func probe(m *store.Store) *probedStore {
	s := &probedStore{Backend: m.Backend}
	m.Backend = s
	return s
}

func (s *probedStore) Put(ctx context.Context, records []store.Record) error {
	if s.putFault != nil {
		return s.putFault
	}
	return s.Backend.Put(ctx, records)
}

func (s *probedStore) Has(ctx context.Context, hashes []model.Hash) (map[model.Hash]bool, error) {
	if s.has.Add(1); s.hasFault != nil {
		return nil, s.hasFault
	}
	return s.Backend.Has(ctx, hashes)
}

func (s *probedStore) Get(ctx context.Context, hashes []model.Hash) (map[model.Hash]model.Response, error) {
	s.gets.Add(1)
	return s.Backend.Get(ctx, hashes)
}

func (s *probedStore) Claim(ctx context.Context, hashes []model.Hash, term time.Duration, seen int64) (store.Claim, error) {
	s.claims.Add(1)
	return s.Backend.Claim(ctx, hashes, term, seen)
}

// remember notes an answer to the n-th request.
func remember(t *testing.T, m *store.Store, n int) {
	t.Helper()
	r := request("m", n)
	response, _ := answer(r)
	if err := m.Remember(store.Record{Hash: r.Hash(), Request: r.Canonical(), Response: response}); err != nil {
		t.Error(err)
	}
}

// hashes are those of the requests from to to-1.
func hashes(from, to int) (all []model.Hash) {
	for r := range requests("m", from, to) {
		all = append(all, r.Hash())
	}
	return all
}

// What another process makes is waited for and counted apart: three calls that are known
// beforehand, and one that is asked for.
func TestWaitsForAnotherProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ms := shareMemo(t, 2)
		if c, err := ms[1].Claim(t.Context(), hashes(0, 4), time.Hour, 0); err != nil || c.ID == 0 {
			t.Fatal(c, err)
		}
		f := NewLive(ms[0], LiveConfig{})
		lane := f.Lane(model.Ref{Provider: "test"}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) { return answer(r) }), Limits{})
		var all sync.WaitGroup
		all.Go(func() {
			if _, ok, err := lane.ask(t.Context(), request("m", 3)); !ok || err != nil {
				t.Errorf("ok %t, %v", ok, err)
			}
		})
		known := func(yield func(model.Request, error) bool) {
			for _, n := range []int{0, 1, 2, 4, 5} {
				if !yield(request("m", n), nil) {
					return
				}
			}
		}
		all.Go(func() {
			w := Work{Fixed: func(context.Context) iter.Seq2[model.Request, error] { return known }}
			if err := f.Fill(t.Context(), w); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(5*claimPoll + claimPoll/2)
		if s := f.Stats(); s.Waiting != 3 || s.Elsewhere != 0 || s.Answered != 2 {
			t.Errorf("%d are waited for, %d made elsewhere, %d here; want 3, 0, 2", s.Waiting, s.Elsewhere, s.Answered)
		}
		for n := range 4 {
			remember(t, ms[1], n)
		}
		all.Wait()
		if s := f.Stats(); s.Waiting != 0 || s.Elsewhere != 4 || s.Present != 4 || s.Answered != 2 {
			t.Errorf("%d are waited for, %d made elsewhere, %d present, %d here; want 0, 4, 4, 2", s.Waiting, s.Elsewhere, s.Present, s.Answered)
		}
	})
}

// Of 600 calls that another process makes, those so far are looked at again when there are
// 256 and 512 of them, and all while nothing else is to do; they are missing, all the same.
func TestTakenCallsAreLookedAtAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ms := shareMemo(t, 2)
		if c, err := ms[1].Claim(t.Context(), hashes(0, 600), time.Hour, 0); err != nil || c.ID == 0 {
			t.Fatal(c, err)
		}
		s := probe(ms[0])
		lane := NewLive(ms[0], LiveConfig{}).Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) { return answer(r) }), Limits{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			if sent, err := lane.fill(t.Context(), requests("m", 0, 600), nil); sent != 600 || err != nil {
				t.Errorf("%d were missing, %v", sent, err)
			}
		}()
		time.Sleep(claimPoll / 2)
		// 32 at once: 8 and 8 again, 8 and 16 again, 3.
		if n := s.claims.Load(); n != 43 {
			t.Errorf("claimed %d times before the first rest, want 43", n)
		}
		if n := s.has.Load(); n != 3 {
			t.Errorf("asked %d times which are there, want 3", n)
		}
		for n := range 600 {
			remember(t, ms[1], n)
		}
		<-done
	})
}

// A single call that is new is not fetched, and one that is there is not claimed.
func TestAskAsksLittle(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	defer closeMemo(t, m)
	s := probe(m)
	lane := NewLive(m, LiveConfig{}).Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) { return answer(r) }), Limits{})
	for round := range int64(2) {
		if _, ok, err := lane.ask(t.Context(), request("m", 1)); !ok || err != nil {
			t.Errorf("ok %t, %v", ok, err)
		}
		if has, gets, claims := s.has.Load(), s.gets.Load(), s.claims.Load(); has != round+1 || gets != round || claims != 1 {
			t.Errorf("asked %d times whether it is there, fetched %d times, claimed %d times", has, gets, claims)
		}
	}
}

// A store that cannot be read stops a fill before anything is sent, and one that cannot be
// written to is told of though nothing was left to be sent.
func TestFaultOfTheStore(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is broken")
	m := newStore(t)
	defer closeMemo(t, m)
	s := probe(m)
	s.hasFault = broken
	f := NewLive(m, LiveConfig{})
	lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) { return answer(r) }), Limits{})
	if sent, err := lane.fill(t.Context(), requests("m", 0, 10), nil); sent != 0 || !errors.Is(err, broken) {
		t.Errorf("sent %d, %v", sent, err)
	}
	if _, ok, err := lane.ask(t.Context(), request("m", 1)); ok || !errors.Is(err, broken) {
		t.Errorf("ok %t, %v", ok, err)
	}
	if sent := f.Stats().Requests; sent != 0 || len(f.busy.calls) > 0 {
		t.Errorf("%d requests were sent, %d are busy", sent, len(f.busy.calls))
	}
	s.hasFault, s.putFault = nil, broken
	if sent, err := lane.fill(t.Context(), requests("m", 0, 1), nil); sent != 1 || !errors.Is(err, broken) {
		t.Errorf("sent %d, %v", sent, err)
	}
	// What the fill had ended for does not hide it.
	enough := errors.New("it is enough")
	ctx, stop := context.WithCancelCause(t.Context())
	lane = NewLive(m, LiveConfig{}).Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		stop(enough)
		return answer(r)
	}), Limits{})
	if _, err := lane.fill(ctx, requests("m", 0, 1), nil); !errors.Is(err, enough) || !errors.Is(err, broken) {
		t.Errorf("%v, which lacks a cause", err)
	}
}

// A claim lasts until the calls under it have ended, and eight are released together.
func TestClaims(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ms := shareMemo(t, 2)
		remember(t, ms[1], 0)
		if c, err := ms[1].Claim(t.Context(), hashes(1, 2), time.Hour, 0); err != nil || c.ID == 0 {
			t.Fatal(c, err)
		}
		cs := newClaims(ms[0])
		take := func(from, to int) *claim {
			mine, _, err := cs.take(t.Context(), hashes(from, to), 0)
			if err != nil {
				t.Fatal(err)
			}
			return mine
		}
		if mine := take(0, 2); mine != nil {
			t.Errorf("%+v for calls that are answered and taken", mine)
		}
		last := take(0, 4)
		if last.open != 2 {
			t.Errorf("%d calls are to be made, want 2", last.open)
		}
		cs.end(last)
		for n := range mostEnded {
			cs.end(take(10+n, 11+n))
			if len(cs.ended) != n+1 || len(cs.held) != 1 {
				t.Errorf("%d claims have ended and %d are held, want %d and 1", len(cs.ended), len(cs.held), n+1)
			}
		}
		one := take(30, 31)
		if len(cs.ended) != 0 {
			t.Errorf("%d claims are not released", len(cs.ended))
		}
		cs.end(one)
		cs.end(last)
		if err := cs.release(t.Context()); err != nil || cs.renew != nil {
			t.Errorf("%v; renewed later: %t", err, cs.renew != nil)
		}
	})
}
