package fill

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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

// TestAskSendsEachRequestOnce has many askers want the same few requests, twice.
func TestAskSendsEachRequestOnce(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	defer closeMemo(t, m)
	var calls atomic.Int64
	f := NewLive(m, LiveConfig{})
	lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		calls.Add(1)
		return model.Response{Text: r.Messages[0].Content, Finish: model.Stop}, nil
	}), Limits{Concurrency: 8})
	for round := range 2 {
		var askers sync.WaitGroup
		for n := range 3000 {
			askers.Go(func() {
				r := request("m", n%1000)
				response, ok, err := lane.ask(t.Context(), r)
				if err != nil || !ok || response.Text != r.Messages[0].Content {
					t.Errorf("asked %q: %q, %t, %v", r.Messages[0].Content, response.Text, ok, err)
				}
			})
		}
		askers.Wait()
		if calls.Load() != 1000 || rememberedIn(t, m) != 1000 {
			t.Errorf("round %d: %d calls, %d records; want 1000 of each", round, calls.Load(), rememberedIn(t, m))
		}
	}
	if s := f.Stats(); s.Answered != 1000 || s.Present != 5000 {
		t.Errorf("stats %+v, want 1000 answered and 5000 from the store", s)
	}
}

// TestAskOfACallThatFails says so, and does not try again in this process.
func TestAskOfACallThatFails(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	defer closeMemo(t, m)
	var calls atomic.Int64
	f := NewLive(m, LiveConfig{})
	lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		calls.Add(1)
		return model.Response{}, &model.Error{Kind: model.Invalid, Provider: r.Provider, Model: r.Model, Message: "too long"}
	}), Limits{Concurrency: 2})
	for range 2 {
		if _, ok, err := lane.ask(t.Context(), request("m", 1)); ok || err != nil {
			t.Errorf("ok %t, %v; want a failed call", ok, err)
		}
	}
	if calls.Load() != 1 {
		t.Errorf("%d calls, want 1", calls.Load())
	}
}

// TestAskEndsWithItsContext finishes and remembers the call under way, and
// begins no other.
func TestAskEndsWithItsContext(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	defer closeMemo(t, m)
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(t.Context())
	f := NewLive(m, LiveConfig{})
	lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		stop(stopped)
		return answer(r)
	}), Limits{Concurrency: 1})
	if _, ok, err := lane.ask(ctx, request("m", 1)); !ok || err != nil {
		t.Errorf("ok %t, %v; want the answer of the call under way", ok, err)
	}
	if _, ok, err := lane.ask(ctx, request("m", 2)); ok || !errors.Is(err, stopped) {
		t.Errorf("ok %t, %v; want the cause of the end", ok, err)
	}
	if n := rememberedIn(t, m); n != 1 {
		t.Errorf("%d records, want 1", n)
	}
}

// slowStore keeps nothing until it may.
type slowStore struct {
	store.Backend
	may chan struct{}
}

func (s slowStore) Put(ctx context.Context, records []store.Record) error {
	<-s.may
	return s.Backend.Put(ctx, records)
}

// While answers are not durable no more calls are made than may be at once, so that no
// more are lost with the process.
func TestAskWaitsForWhatIsNotKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "m.db"))
		if err != nil {
			t.Fatal(err)
		}
		slow := slowStore{s, make(chan struct{})}
		m := store.New(slow)
		defer closeMemo(t, m)
		var calls atomic.Int64
		lane := NewLive(m, LiveConfig{}).Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
			calls.Add(1)
			return answer(r)
		}), Limits{Concurrency: 3})
		var askers sync.WaitGroup
		for n := range 10 {
			askers.Go(func() {
				if _, ok, err := lane.ask(t.Context(), request("m", n)); !ok || err != nil {
					t.Error(ok, err)
				}
			})
		}
		time.Sleep(time.Second)
		if n := calls.Load(); n != 3 {
			t.Errorf("%d calls are made before one is kept, want 3", n)
		}
		close(slow.may)
		askers.Wait()
		if n := calls.Load(); n != 10 {
			t.Errorf("%d calls, want 10", n)
		}
	})
}

// BenchmarkAsk asks one by one from many askers, what is new and what is
// remembered.
func BenchmarkAsk(b *testing.B) {
	m := newStore(b)
	defer closeMemo(b, m)
	f := NewLive(m, LiveConfig{})
	lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) { return answer(r) }), Limits{Concurrency: 256})
	ask := func(b *testing.B) {
		var next atomic.Int64
		b.SetParallelism(256)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, ok, err := lane.ask(b.Context(), request("m", int(next.Add(1)))); !ok || err != nil {
					b.Error(ok, err)
				}
			}
		})
	}
	b.Run("New", ask)
	b.Run("Remembered", ask)
}

// Two Lives that share bounds are of one process, whose claims are no bar to itself.
func TestAskOfTwoThatShare(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	defer closeMemo(t, m)
	server := metered(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		time.Sleep(100 * time.Millisecond)
		fmt.Fprint(w, says(`{"prompt_tokens":5,"completion_tokens":1}`))
	})
	bounds := NewLive(m, LiveConfig{})
	var both sync.WaitGroup
	for range 2 {
		f := NewLive(m, LiveConfig{With: bounds})
		lane := server.lane(f, 4)
		both.Go(func() {
			if _, ok, err := lane.ask(t.Context(), request("m", 0)); !ok || err != nil {
				t.Error(ok, err)
			}
		})
	}
	both.Wait()
	if n := server.served.Load(); n != 1 {
		t.Errorf("the call was made %d times", n)
	}
}
