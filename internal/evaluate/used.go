package evaluate

import (
	"context"
	"runtime"

	"github.com/orbench/orbench/internal/inorder"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
)

// Used counts the replies that the run rests on so far, whoever had them asked, each once
// for the prompts of a dataset: of a run that asks no target (Recorded) those to its judges.
// Of a Shard it is the part.
func (r *Run) Used(ctx context.Context, m store.Reader) (price.Usage, error) {
	judging := r.Recorded
	r, _, err := r.asked(ctx, m)
	if err != nil {
		return nil, err
	}
	all := price.Usage{}
	count := func(ctx context.Context, piece []chunk) (price.Usage, error) {
		used := &usage{of: price.Usage{}, judging: judging}
		_, err := r.judgePiece(ctx, m, piece, asking(r.Judges), used)
		return used.of, err
	}
	err = inorder.Do(ctx, runtime.GOMAXPROCS(0), r.pieces(), count, func(of price.Usage) error {
		all.AddUsage(of)
		return nil
	})
	return all, err
}
