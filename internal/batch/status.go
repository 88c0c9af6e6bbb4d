package batch

import (
	"context"
	"errors"

	"github.com/orbench/orbench/model"
)

// Status is how far the batches of a run are, and what it lacks besides.
type Status struct {
	Run     string   `json:"run"`
	Batches []*Batch `json:"batches"`
	// Out counts the lacking calls that are out in a batch or planned, Ready those of
	// targets that are not, and Judging those of judges that are known now.
	Out     int `json:"out"`
	Ready   int `json:"ready"`
	Judging int `json:"judges_calls"`
	// Further is true where more calls become known when replies are there: of judges that
	// are models, and of targets that are asked step by step.
	Further bool `json:"further"`
}

// Status tells how far everything is. A batch whose provider cannot be asked now has the
// reason as its Problem.
func (d *Manager) Status(ctx context.Context) (Status, error) {
	s := Status{Run: d.Job.Name, Batches: []*Batch{}}
	batches, err := d.Batches(ctx)
	if err != nil {
		return s, err
	}
	for _, b := range batches {
		if b.Stage == Out && b.Service != Files {
			if _, err := d.look(ctx, b); err != nil {
				return s, err
			}
		}
	}
	s.Batches = append(s.Batches, batches...)
	out, err := OpenCalls(ctx, d.Store)
	if err != nil {
		return s, err
	}
	for call, err := range d.Job.All(ctx, d.Store) {
		switch {
		case err != nil:
			return s, err
		case call.Remembered:
		case out[call.Hash]:
			s.Out++
		case d.judging(call):
			s.Judging++
		default:
			s.Ready++
		}
	}
	s.Further = s.Out+s.Ready > 0 && d.Job.Further
	return s, nil
}

// Cancel calls off what is out or planned. Calls in files, and those of which nothing has
// left, are free again at once; a provider first ends the batch, and what it has answered
// by then is there for Collect. forget frees all calls without a word to the provider.
func (d *Manager) Cancel(ctx context.Context, forget bool) (canceled []*Batch, err error) {
	batches, err := d.live(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range batches {
		canceled = append(canceled, b)
		if b.Service != Files && !forget && (b.Stage == Out || !b.Tried.IsZero()) {
			if over, err := d.end(ctx, b); err != nil {
				return canceled, err
			} else if !over {
				continue
			}
		}
		b.Stage, b.Ended = Canceled, d.now()
		if err := d.count(ctx, b); err != nil {
			return canceled, err
		}
		if err := d.keep(ctx, b); err != nil {
			return canceled, err
		}
	}
	return canceled, nil
}

// end has a provider end a batch. over is true for one that was never started; any other
// ends when the provider says so, and one that could not be asked for has a Problem.
func (d *Manager) end(ctx context.Context, b *Batch) (over bool, err error) {
	if err := d.checkKey(b); err != nil {
		return false, err
	}
	s := d.service(b.Ref())
	if b.Stage == Planned {
		if s == nil {
			return true, nil
		}
		j, err := d.job(ctx, b)
		if err != nil {
			return false, err
		}
		found, ok, err := s.Find(ctx, j)
		switch {
		case err != nil:
			return false, d.problem(ctx, b, err)
		case !ok:
			return true, nil
		}
		if err := d.started(ctx, b, found); err != nil {
			return false, err
		}
	}
	if s == nil {
		return false, d.problem(ctx, b, unserved(b))
	}
	if err := s.Cancel(ctx, b.Remote); err != nil {
		return false, d.problem(ctx, b, err)
	}
	b.Canceling = true
	_, err = d.look(ctx, b)
	return false, d.problem(ctx, b, err)
}

// problem keeps what a provider said to be wrong; any other error is given back.
func (d *Manager) problem(ctx context.Context, b *Batch, err error) error {
	failed, ok := errors.AsType[*model.Error](err)
	if !ok {
		return err
	}
	b.Problem = failed.Error()
	return d.keep(ctx, b)
}

// count counts those calls of an open batch that are answered.
func (d *Manager) count(ctx context.Context, b *Batch) error {
	b.Answered = 0
	for call, err := range callsOf(ctx, d.Store, b) {
		if err != nil {
			return err
		}
		if call.answered {
			b.Answered++
		}
	}
	return nil
}
