package transfer_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/internal/memo/memotest"
	"github.com/orbench/orbench/internal/transfer"
)

// A merge takes over what is out, and a batch that one store has collected is over in both.
func TestMergeBatches(t *testing.T) {
	t.Parallel()
	put := func(id byte, open bool, n ...int) func(context.Context, *memo.Memo) error {
		return func(ctx context.Context, m *memo.Memo) error {
			var calls []memo.BatchCall
			for _, n := range n {
				calls = append(calls, memo.BatchCall{Hash: memotest.Record(n).Hash, Request: memotest.Record(n).Request})
			}
			return m.PutBatch(ctx, memo.Batch{ID: memo.BatchID{id}, About: []byte{'{', '}'}, Open: open}, calls)
		}
	}
	into := filled(t, put(1, true, 1, 2))
	from := filled(t, put(1, false))
	if err := put(2, true, 3, 4)(t.Context(), from); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := transfer.Merge(t.Context(), into, from, false); err != nil {
			t.Fatal(err)
		}
		all, err := into.Batches(t.Context())
		want := []memo.Batch{{ID: memo.BatchID{1}, About: []byte("{}")}, {ID: memo.BatchID{2}, About: []byte("{}"), Open: true}}
		if err != nil || !cmp.Equal(all, want) {
			t.Errorf("got %v, %v; want %v", all, err, want)
		}
		out := 0
		for range into.AllBatchCalls(t.Context(), memo.BatchID{2}) {
			out++
		}
		if out != 2 {
			t.Errorf("%d calls are out, want 2", out)
		}
	}
}
