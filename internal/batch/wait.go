package batch

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/model"
)

const (
	// slower is by how much the wait between two looks grows while nothing moves, and
	// slowest how many times the first one it comes to.
	slower, slowest = 1.5, 10
	// lateness is for how long after its window a batch is waited for: its provider has to
	// notice, and to write down what was answered.
	lateness = time.Hour
)

// Wait takes back what batches bring that are out with a provider, as Collect does, until
// none is. It looks again after a time, and less and less often, up to ten times that, while
// nothing moves. A batch is waited for no longer that its provider does not know or does not
// give to this key, or whose window ended an hour ago; its Problem says so. told is called
// after every look, with what was taken back so far and when it looks again, 0 for never.
// When the context ends, what was taken back is kept, and given with the error.
func (d *Manager) Wait(ctx context.Context, every time.Duration, told func(t *Taken, next time.Duration)) (*Taken, error) {
	live, err := d.live(ctx)
	if err != nil {
		return nil, err
	}
	c := d.collection(live)
	if err := c.collect(ctx, live); err != nil {
		return c.sum(), err
	}
	for next := every; ; {
		all := c.sum()
		if !slices.ContainsFunc(all.Batches, d.awaited) {
			told(all, 0)
			return all, nil
		}
		told(all, next)
		if err := fill.Sleep(ctx, next); err != nil {
			return all, err
		}
		_, before, _ := all.Progress()
		if live, err = d.live(ctx); err == nil {
			err = c.collect(ctx, live)
		}
		if err != nil {
			return c.sum(), err
		}
		if _, back, _ := all.Progress(); back > before {
			next = every
		} else {
			next = min(time.Duration(float64(next)*slower), slowest*every)
		}
	}
}

// awaited reports whether more is to come of a batch from its provider.
func (d *Manager) awaited(b *Batch) bool {
	return b.Service != Files && b.Stage == Out && b.Lost == 0 && !b.gone && !b.Overdue(d.Now().Add(-lateness))
}

// gone reports whether an error says that a batch is not to be had, now or later.
func gone(err error) bool {
	failed, ok := errors.AsType[*model.Error](err)
	return ok && (failed.Kind == model.Denied || failed.Kind == model.NotFound || failed.Kind == model.Limited)
}

// Progress counts the calls of the batches with providers, those that came back, and those
// of them that failed, as far as the providers tell.
func (t *Taken) Progress() (calls, back, failed int) {
	for _, b := range t.Batches {
		calls += b.Calls
		back += b.Answered + b.Failed
		failed += b.Failed
	}
	return calls, back, failed
}
