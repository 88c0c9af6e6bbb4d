package job_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/orbench/orbench/internal/job"
)

// numbers streams 0 to n-1, then err if there is one.
func numbers(n int, err error) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			if !yield(i, nil) {
				return
			}
		}
		if err != nil {
			yield(0, err)
		}
	}
}

// TestInOrder keeps the order of the items and leaves nothing running, however
// it ends.
func TestInOrder(t *testing.T) {
	t.Parallel()
	fault := errors.New("fault")
	for name, tc := range map[string]struct {
		items iter.Seq2[int, error]
		// workFails and useFails are the items at which those fail.
		workFails, useFails int
		want                int
		err                 error
	}{
		"nothing":         {numbers(0, nil), -1, -1, 0, nil},
		"all":             {numbers(500, nil), -1, -1, 500, nil},
		"items end badly": {numbers(100, fault), -1, -1, 100, fault},
		"work fails":      {numbers(500, nil), 40, -1, 40, fault},
		"use fails":       {numbers(500, nil), -1, 40, 40, fault},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var running atomic.Int64
			var used []int
			err := job.InOrder(t.Context(), 4, tc.items, func(_ context.Context, i int) (int, error) {
				running.Add(1)
				defer running.Add(-1)
				if i == tc.workFails {
					return 0, fault
				}
				return i, nil
			}, func(i int) error {
				if i == tc.useFails {
					return fault
				}
				used = append(used, i)
				return nil
			})
			if n := running.Load(); n != 0 {
				t.Errorf("%d still at work", n)
			}
			if !errors.Is(err, tc.err) {
				t.Errorf("error %v, want %v", err, tc.err)
			}
			if len(used) != tc.want || !slices.IsSorted(used) {
				t.Errorf("used %v, want the first %d in order", used, tc.want)
			}
		})
	}
}
