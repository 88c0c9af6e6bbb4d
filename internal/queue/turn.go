package queue

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/store/postgres"
	"github.com/orbench/orbench/model"
)

const (
	// pause is how long a shard waits that could not be worked on.
	pause = 3 * time.Second
	// noted is how often it is noted what a shard has come to.
	noted = 2 * time.Second
)

// turn is the work of a worker on one shard.
type turn struct {
	worker   *Worker
	of       *filling
	shard    shardArgs
	requests []model.Request

	mu sync.Mutex
	// answered and failed are the hashes of the calls that ended so and are not noted yet.
	answered, failed [][]byte
	// stop is why no more calls are made.
	stop error
}

// take makes the calls while within lasts, and notes what became of them, also where it ends.
func (t *turn) take(ctx, within context.Context) error {
	w := t.worker
	t.ask(ctx, within)
	cut := within.Err() != nil
	ctx = context.WithoutCancel(ctx)
	if err := t.note(ctx); err != nil {
		return err
	}
	if w.denied(t.of, t.requests) {
		return river.JobSnooze(pause)
	}
	var budget *fill.BudgetError
	switch {
	case errors.As(t.stop, &budget):
		// The fill ends: Next is the most that its next call could have cost.
		var batch pgx.Batch
		batch.Queue(`UPDATE fills SET stopped = true, tokens = $2, usd = $3 WHERE id = $1`, t.shard.Fill, budget.Next.Tokens, budget.Next.USD)
		batch.Queue(`DELETE FROM queued_calls WHERE fill = $1 AND NOT failed`, t.shard.Fill)
		return w.queue.pool.Send(ctx, &batch)
	case t.stop != nil && cut:
		return river.JobSnooze(0)
	}
	return t.stop
}

// ask makes the calls, and notes now and then what became of them. It returns when none is
// under way.
func (t *turn) ask(ctx, within context.Context) {
	var all sync.WaitGroup
	for _, r := range t.requests {
		all.Go(func() {
			_, ok, err := t.of.live.Ask(within, r)
			t.add(r.Hash(), ok, err, within.Err() != nil)
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		all.Wait()
	}()
	tick := time.NewTicker(noted)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			// What cannot be noted now is noted later.
			if err := t.note(ctx); err != nil && ctx.Err() == nil && !postgres.Away(err) {
				t.worker.Log.Warn("answers are not recorded yet", "error", err.Error())
			}
		}
	}
}

// add counts a call that ended. over says that the turn has ended: an error after that only
// counts if there was none before.
func (t *turn) add(h model.Hash, ok bool, err error, over bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil:
		if t.stop == nil || !over {
			t.stop = err
		}
	case ok:
		t.answered = append(t.answered, h[:])
	default:
		t.failed = append(t.failed, h[:])
	}
}

// note writes what became of calls. Those that failed for the key are another worker's.
func (t *turn) note(ctx context.Context) error {
	w := t.worker
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.denied(t.of, t.requests) {
		t.failed = nil
	}
	if err := w.note(ctx, t.shard, t.of, t.answered, t.failed); err != nil {
		return err
	}
	w.mu.Lock()
	w.failed += len(t.failed)
	w.mu.Unlock()
	t.answered, t.failed = nil, nil
	return nil
}
