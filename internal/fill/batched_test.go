package fill

import (
	"context"
	"testing"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// What is out in a batch is not paid for again.
func TestBatched(t *testing.T) {
	t.Parallel()
	m := shareMemo(t, 1)[0]
	const n, out = 40, 7
	var calls []store.BatchCall
	for i := range out {
		r := request("m", i)
		calls = append(calls, store.BatchCall{Hash: r.Hash(), Request: r.Canonical()})
	}
	if err := m.PutBatch(t.Context(), store.Batch{ID: store.BatchID{1}, About: []byte("{}"), Open: true}, calls); err != nil {
		t.Fatal(err)
	}
	f := NewLive(m, LiveConfig{})
	lane := f.Lane(model.Ref{}, model.Func(func(_ context.Context, r model.Request) (model.Response, error) { return answer(r) }), Limits{Concurrency: 4})
	for range 2 { // a second pass finds nothing to do
		if _, err := lane.fill(t.Context(), requests("m", 0, n), nil); err != nil {
			t.Fatal(err)
		}
		if s := f.Stats(); s.Answered != n-out || s.Batched != out || s.Failed != 0 {
			t.Errorf("%d answered, %d left to the batch, %d failed; want %d, %d, 0", s.Answered, s.Batched, s.Failed, n-out, out)
		}
	}
	if _, ok, err := NewLive(m, LiveConfig{}).Lane(model.Ref{}, lane.model, lane.limits).ask(t.Context(), request("m", 0)); ok || err != nil {
		t.Errorf("asked alone: %t, %v; want that it is left to the batch", ok, err)
	}
	if len(f.claims.held) > 0 {
		t.Errorf("%d claims are held", len(f.claims.held))
	}
}
