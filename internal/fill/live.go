package fill

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orbench/orbench/model"
)

// Ask gives the response to one request: the remembered one, or else that of a
// call. It is for work whose next request depends on this reply; gate, pace and
// budget of the request's lane hold for it as for Fill. It is safe for concurrent
// use, and equal requests that are asked at once are sent once.
//
// ok is false when the call failed, in this process or just now, or when its
// model was given up; Failures of the store and GivenUp say why. The error is
// that of Fill: the end of the context, a *BudgetError, a fault of the store.
func (f *Live) Ask(ctx context.Context, r model.Request) (response model.Response, ok bool, err error) {
	f.mu.Lock()
	i := slices.IndexFunc(f.lanes, func(l *Lane) bool { return l.serves(r.Provider, r.Endpoint) })
	var lane *Lane
	if i >= 0 {
		lane = f.lanes[i]
	}
	f.mu.Unlock()
	if lane == nil {
		return model.Response{}, false, fmt.Errorf("fill: there is no lane for %s/%s", r.Provider, r.Model)
	}
	return lane.ask(ctx, r)
}

// GiveBack gives back what was taken ahead of calls and not used, for who makes a pause
// between calls of Ask, or has ended: to LiveConfig.Account what is not spent, and to the store the
// claims that have ended.
func (f *Live) GiveBack(ctx context.Context) error {
	return errors.Join(f.budget.giveBack(ctx), f.claims.release(ctx))
}

// GivenUp lists the *GivenUpErrors so far, those of one lane joined.
func (f *Live) GivenUp() []error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, l := range f.lanes {
		if err := l.givenUp(); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// serves reports whether the lane leads to a provider's endpoint.
func (l *Lane) serves(provider, endpoint string) bool {
	return l.provider == provider && l.endpoint == endpoint
}

// servesAny reports whether the lane leads to one of some models.
func (l *Lane) servesAny(models []model.Ref) bool {
	return slices.ContainsFunc(models, func(m model.Ref) bool { return l.serves(m.Provider, m.Endpoint) })
}

// Fill has the missing requests called, on all lanes at once and each at its own
// pace; see Filler. Its error joins those of the lanes.
func (f *Live) Fill(ctx context.Context, w Work) error {
	for {
		sent, err := f.fillLanes(ctx, w)
		if !onlyGivenUp(err) || sent == 0 || !w.Interdependent {
			return err
		}
		// The next turn is about what replies decide.
		w.Fixed = nil
	}
}

// fillLanes fills all lanes, each until nothing is missing on it, and gives the
// number of requests that were.
func (f *Live) fillLanes(ctx context.Context, w Work) (int, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	f.mu.Lock()
	lanes := slices.Clone(f.lanes)
	f.mu.Unlock()
	errs := make([]error, len(lanes))
	var total atomic.Int64
	var firstPasses, all sync.WaitGroup
	firstPasses.Add(len(lanes))
	knownDone := make(chan struct{})
	for i, lane := range lanes {
		all.Go(func() {
			sent, err := lane.work(ctx, w, firstPasses.Done, knownDone)
			total.Add(int64(sent))
			if !onlyGivenUp(err) {
				// What stops one lane (the budget, a full disk) stops the rest.
				stop(err)
			}
			errs[i] = err
		})
	}
	go func() {
		firstPasses.Wait()
		close(knownDone)
	}()
	all.Wait()
	<-knownDone
	return int(total.Load()), joinDistinct(errs)
}

// restBetweenPasses is the least time between two passes of a lane while others
// still work on what is known beforehand.
const restBetweenPasses = time.Second

// work fills one lane. The first pass covers what is known beforehand; then
// firstPass is called. A lane whose models are asked what replies decide goes on
// until a pass that began after all first ones were done finds nothing to send.
func (l *Lane) work(ctx context.Context, w Work, firstPass func(), knownDone <-chan struct{}) (all int, err error) {
	rounds := l.servesAny(w.Models)
	first := sync.OnceFunc(firstPass)
	defer first()
	for known := l.own(ctx, w.Fixed); ; known = nil {
		last := false
		select {
		case <-knownDone:
			last = true
		default:
		}
		began := time.Now()
		var lacking iter.Seq2[model.Request, error]
		if rounds {
			lacking = l.own(ctx, w.Missing)
		}
		sent, err := l.fill(ctx, known, lacking)
		all += sent
		if !onlyGivenUp(err) || !rounds || last && sent == 0 {
			return all, err
		}
		first()
		if last || sent > 0 {
			continue
		}
		// A pass reads all prompts, so a rest in proportion keeps the share of
		// the processor that passes take small.
		rest := time.NewTimer(max(restBetweenPasses, 4*time.Since(began)))
		select {
		case <-knownDone:
		case <-rest.C:
		case <-ctx.Done():
		}
		rest.Stop()
	}
}

// own streams those of some requests, nil for none, that belong to the lane.
func (l *Lane) own(ctx context.Context, all Requests) iter.Seq2[model.Request, error] {
	if all == nil {
		return nil
	}
	return func(yield func(model.Request, error) bool) {
		for r, err := range all(ctx) {
			if (err != nil || l.serves(r.Provider, r.Endpoint)) && !yield(r, err) {
				return
			}
		}
	}
}

// joinDistinct joins errors, leaving out those that are or say the same as an
// earlier one: the cause that stopped several lanes.
func joinDistinct(errs []error) error {
	var distinct []error
	for _, err := range errs {
		same := func(d error) bool { return errors.Is(d, err) || d.Error() == err.Error() }
		if err != nil && !slices.ContainsFunc(distinct, same) {
			distinct = append(distinct, err)
		}
	}
	return errors.Join(distinct...)
}

// onlyGivenUp reports whether an error says no more than that models were given
// up, which is no reason to stop the others. It holds for nil.
func onlyGivenUp(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(joined.Unwrap(), func(e error) bool { return !onlyGivenUp(e) })
	}
	var gaveUp *GivenUpError
	return err == nil || errors.As(err, &gaveUp)
}
