package fill

import (
	"context"
	"iter"

	"github.com/orbench/orbench/model"
)

// Requests is a stream of requests, made anew whenever it is walked. The first
// error ends it.
type Requests func(ctx context.Context) iter.Seq2[model.Request, error]

// Work is what replies are wanted for, as a Filler sees it: requests. Both streams
// may repeat requests, and are safe to walk side by side.
type Work struct {
	// Fixed has the requests that are known beforehand, remembered ones among them.
	Fixed Requests
	// Missing has those whose replies are found to be lacking while it is walked, of the
	// models that are served.
	// What is asked next depends on replies, so it is walked until a walk that
	// began after the last reply finds nothing but what failed; nil for work that
	// is known beforehand.
	Missing func(ctx context.Context, serves func(model.Ref) bool) iter.Seq2[model.Request, error]
	// Held reports whether the last walk of Missing held calls back until those that it gave are
	// answered; nil for never.
	Held func(serves func(model.Ref) bool) bool
	// Models lists the models that Missing may ask.
	Models []model.Ref
	// Interdependent is true if a reply of one model may make new calls to another, as
	// where a guard, the model and a check follow each other.
	Interdependent bool
}

// Alternate takes from the lists in turn: the first element of each, then the second of
// each, and so on. No list waits for the end of another.
func Alternate[T any](lists [][]T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for i, more := 0, true; more; i++ {
			more = false
			for _, list := range lists {
				if i >= len(list) {
					continue
				}
				more = true
				if !yield(list[i]) {
					return
				}
			}
		}
	}
}

// Filler is a way to get replies into the store. Live is one.
type Filler interface {
	// Fill returns when nothing is lacking but what failed, or when it was stopped:
	// by the end of the context, a *BudgetError, a fault of the store or of the work.
	// A model that is given up does not stop the others; the *GivenUpError is
	// returned at the end.
	Fill(ctx context.Context, w Work) error
}
