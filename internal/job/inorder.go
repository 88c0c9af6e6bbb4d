package job

import (
	"context"
	"iter"
	"sync"
)

// InOrder works on up to width items of a sequence at once and has the results used
// one by one, in the order of the items, so that what runs at once still gives the same
// bytes. It stops at the first error and returns
// it, or the cause of the context's end. When it returns, nothing works on any
// item.
func InOrder[Item, Done any](ctx context.Context, width int, items iter.Seq2[Item, error], work func(context.Context, Item) (Done, error), use func(Done) error) error {
	ctx, stop := context.WithCancel(ctx)
	var working sync.WaitGroup
	defer func() {
		stop()
		working.Wait()
	}()
	type outcome struct {
		done Done
		err  error
	}
	// Each item has a channel for its outcome, and the channels queue up in the
	// order of the items: so the work is shared out and the order kept.
	queue := make(chan chan outcome, width)
	working.Go(func() {
		defer close(queue)
		for item, err := range items {
			slot := make(chan outcome, 1)
			select {
			case queue <- slot:
			case <-ctx.Done():
				return
			}
			if err != nil {
				slot <- outcome{err: err}
				return
			}
			working.Go(func() {
				done, err := work(ctx, item)
				slot <- outcome{done, err}
			})
		}
	})
	for slot := range queue {
		o := <-slot
		if o.err != nil {
			return o.err
		}
		if err := use(o.done); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// Pieces gives the items of a sequence in pieces of a size, of which the last may be
// shorter. It ends at the first error, without the items of the piece that was begun.
func Pieces[T any](all iter.Seq2[T, error], size int) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		var piece []T
		for one, err := range all {
			if err != nil {
				yield(nil, err)
				return
			}
			if piece = append(piece, one); len(piece) == size {
				if !yield(piece, nil) {
					return
				}
				piece = nil
			}
		}
		if len(piece) > 0 {
			yield(piece, nil)
		}
	}
}

// Each gives the items of a list as a sequence that has no error.
func Each[T any](items []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}
