package kinds_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench/internal/kinds"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/storetest"
)

// A merge takes over what is out, and a batch that one store has collected is over in both.
func TestMergeBatches(t *testing.T) {
	t.Parallel()
	put := func(id byte, open bool, n ...int) func(context.Context, *store.Store) error {
		return func(ctx context.Context, m *store.Store) error {
			var calls []store.BatchCall
			for _, n := range n {
				calls = append(calls, store.BatchCall{Hash: storetest.Record(n).Hash, Request: storetest.Record(n).Request})
			}
			return m.PutBatch(ctx, store.Batch{ID: store.BatchID{id}, About: []byte{'{', '}'}, Open: open}, calls)
		}
	}
	into := filled(t, put(1, true, 1, 2))
	from := filled(t, put(1, false))
	if err := put(2, true, 3, 4)(t.Context(), from); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := kinds.Merge(t.Context(), into, from, false); err != nil {
			t.Fatal(err)
		}
		all, err := into.Batches(t.Context())
		want := []store.Batch{{ID: store.BatchID{1}, About: []byte("{}")}, {ID: store.BatchID{2}, About: []byte("{}"), Open: true}}
		if err != nil || !cmp.Equal(all, want) {
			t.Errorf("got %v, %v; want %v", all, err, want)
		}
		out := 0
		for range into.AllBatchCalls(t.Context(), store.BatchID{2}) {
			out++
		}
		if out != 2 {
			t.Errorf("%d calls are out, want 2", out)
		}
	}
}
