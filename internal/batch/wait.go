package batch

import (
	"context"
	"errors"
	"slices"
	"time"

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
func (d *Desk) Wait(ctx context.Context, every time.Duration, told func(t *Taken, next time.Duration)) (*Taken, error) {
	all, err := d.Collect(ctx)
	if err != nil {
		return all, err
	}
	for next := every; ; {
		if !slices.ContainsFunc(all.Batches, d.awaited) {
			told(all, 0)
			return all, nil
		}
		told(all, next)
		timer := time.NewTimer(next)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return all, context.Cause(ctx)
		}
		answered, failed := all.progress()
		more, err := d.Collect(ctx)
		if more != nil {
			all.add(more)
		}
		if err != nil {
			return all, err
		}
		if a, f := all.progress(); a+f > answered+failed {
			next = every
		} else {
			next = min(time.Duration(float64(next)*slower), slowest*every)
		}
	}
}

// awaited reports whether more is to come of a batch from its provider.
func (d *Desk) awaited(b *Batch) bool {
	return b.Service != Files && b.Stage == Out && !b.gone && !b.Overdue(d.Now().Add(-lateness))
}

// gone reports whether an error says that a batch is not to be had, now or later.
func gone(err error) bool {
	failed, ok := errors.AsType[*model.Error](err)
	return ok && (failed.Kind == model.Denied || failed.Kind == model.NotFound)
}

// progress counts the calls that came back of the batches, as far as the providers tell.
func (t *Taken) progress() (answered, failed int) {
	for _, b := range t.Batches {
		answered += b.Answered
		failed += b.Failed
	}
	return answered, failed
}

// Progress counts the calls of the batches with providers, those that came back, and those
// of them that failed.
func (t *Taken) Progress() (calls, back, failed int) {
	answered, failed := t.progress()
	for _, b := range t.Batches {
		calls += b.Calls
	}
	return calls, answered + failed, failed
}

// add adds what was taken back later.
func (t *Taken) add(o *Taken) {
	t.Answered += o.Answered
	t.Blocked += o.Blocked
	t.Failed += o.Failed
	t.Unmade += o.Unmade
	t.Known += o.Known
	t.Unknown += o.Unknown
	t.Unread += o.Unread
	t.Faults = append(t.Faults, o.Faults...)
	t.Faults = t.Faults[:min(len(t.Faults), mostFaults)]
	t.InputTokens += o.InputTokens
	t.OutputTokens += o.OutputTokens
	if t.USD != nil && o.USD != nil {
		usd := *t.USD + *o.USD
		t.USD = &usd
	} else {
		t.USD = nil
	}
	for _, name := range o.Unpriced {
		if !slices.Contains(t.Unpriced, name) {
			t.Unpriced = append(t.Unpriced, name)
		}
	}
	for _, b := range o.Batches {
		i := slices.IndexFunc(t.Batches, func(old *Batch) bool { return old.ID == b.ID })
		if i < 0 {
			t.Batches = append(t.Batches, b)
			continue
		}
		t.Batches[i] = b
	}
	t.Waiting = 0
	for _, b := range t.Batches {
		t.Waiting += b.Waiting()
	}
}
