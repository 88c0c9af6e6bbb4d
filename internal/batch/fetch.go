package batch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// look asks how far a batch is that is out with a provider, and keeps it; it gives nil
// where the provider does not answer, which Problem then tells.
func (d *Manager) look(ctx context.Context, b *Batch) (*Remote, error) {
	if err := d.checkKey(b); err != nil {
		return nil, err
	}
	if words := d.Limited[b.Provider]; words != "" {
		b.Problem, b.gone = words, true
		return nil, nil
	}
	s := d.service(b.Ref())
	if s == nil {
		b.Problem, b.gone = noService(b.Ref()), true
		return nil, nil
	}
	r, err := s.Get(ctx, b.Remote)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		d.limit(b.Provider, err)
		b.Problem, b.gone = err.Error(), gone(err)
		return nil, nil
	}
	b.progress(r)
	b.Problem = ""
	if b.Lost > 0 {
		b.Problem = b.outputGone()
	}
	if r.Refused != "" {
		b.Problem = r.Refused
	}
	if !r.Ended && b.Overdue(d.Now()) {
		b.Problem = "its window ended " + b.Expires.Format(time.DateTime) + " UTC, and the provider still says " + r.Word
	}
	return &r, d.keep(ctx, b)
}

// outputGone says what is lost.
func (b *Batch) outputGone() string {
	return fmt.Sprintf("its output is gone: %s cannot be fetched", table.Counted(b.Lost, "paid answer", "paid answers"))
}

// Overdue reports whether a batch is out for longer than its provider promised.
func (b *Batch) Overdue(now time.Time) bool {
	return b.Stage == Out && !b.Expires.IsZero() && now.After(b.Expires)
}

// Collect remembers what the batches have answered that have ended, and frees the calls
// that they have not. A batch that could not be read whole stays out, with the reason as
// its Problem: what was read is kept, and the next command reads the rest.
func (d *Manager) Collect(ctx context.Context) (*Taken, error) {
	live, err := d.live(ctx)
	if err != nil {
		return nil, err
	}
	c := d.collection(live)
	err = c.collect(ctx, live)
	return c.sum(), err
}

// live lists the batches of which more may come.
func (d *Manager) live(ctx context.Context) ([]*Batch, error) {
	batches, err := d.Batches(ctx)
	return slices.DeleteFunc(batches, func(b *Batch) bool { return !b.Open() }), err
}

// collect takes back what has come of batches as they are now.
func (c *collection) collect(ctx context.Context, live []*Batch) error {
	for _, b := range live {
		if i := slices.IndexFunc(c.Taken.Batches, func(old *Batch) bool { return old.ID == b.ID }); i >= 0 {
			c.Taken.Batches[i] = b
		} else {
			c.Taken.Batches = append(c.Taken.Batches, b)
		}
	}
	for _, b := range live {
		if b.Service == Files || b.Stage != Out {
			continue
		}
		r, err := c.look(ctx, b)
		if err == nil && r != nil && r.Ended {
			err = c.fetch(ctx, b, *r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fetch takes the results of a batch that has ended.
func (c *collection) fetch(ctx context.Context, b *Batch, r Remote) error {
	if r.Refused != "" && r.Again {
		// Nothing was made of it, and it can be started as it is.
		b.Stage, b.Remote, b.Tried, b.Answered, b.Failed = Planned, "", time.Time{}, 0, 0
		return c.keep(ctx, b)
	}
	s := c.service(b.Ref())
	seen, ours := 0, false
	for result, err := range s.Results(ctx, r) {
		var line *LineError
		switch {
		case errors.As(err, &line):
			c.fault(fmt.Sprintf("batch %s: %v", b.ID, err))
			continue
		case ctx.Err() != nil:
			return errors.Join(c.take(ctx, b), context.Cause(ctx))
		case err != nil:
			// What was read counts; the rest is read by the next command.
			told := b.Answered
			if err := c.take(ctx, b); err != nil {
				return err
			}
			c.limit(b.Provider, err)
			b.Problem = err.Error()
			if failed, ok := errors.AsType[*model.Error](err); !ok || failed.Kind != model.NotFound {
				return c.keep(ctx, b)
			}
			if err := c.count(ctx, b); err != nil {
				return err
			}
			if told == 0 { // not every provider counts
				told = b.Calls - b.Failed
			}
			b.Lost = max(0, told-b.Answered)
			b.Problem = b.outputGone()
			return c.keep(ctx, b)
		}
		if seen++; !ours && seen <= together {
			if h, ok := hashOf(result.ID); ok {
				found, err := c.Store.BatchCalls(ctx, b.id, []model.Hash{h})
				if err != nil {
					return err
				}
				ours = len(found) > 0
			}
		}
		if err := c.add(ctx, result, b); err != nil {
			return err
		}
	}
	if seen > 0 && !ours {
		// A service that keeps no name of ours told of another batch of the same size.
		b.NotOurs = append(b.NotOurs, b.Remote)
		b.Stage, b.Remote, b.Word, b.Problem = Planned, "", "", "the provider's batch "+b.Remote+" is a different one; the next such batch will look for it again"
		return c.keep(ctx, b)
	}
	if err := c.take(ctx, b); err != nil {
		return err
	}
	if err := c.count(ctx, b); err != nil {
		return err
	}
	// What has no answer now will have none: it failed, expired or was called off.
	b.Failed, b.Lost, b.Problem = b.Calls-b.Answered, 0, ""
	b.Stage, b.Ended = Collected, c.now()
	if b.Canceling {
		b.Stage = Canceled
	}
	return c.keep(ctx, b)
}

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
