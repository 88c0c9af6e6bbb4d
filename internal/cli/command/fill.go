package command

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/orbench/orbench/internal/batch"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/progress"
	"github.com/orbench/orbench/internal/queue"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/telemetry"
	"github.com/orbench/orbench/model"
)

// fill makes the calls that a study lacks at once, and shows how it goes. The error is that
// of fill.Live. Of the budget so much is spent.
func (e *Env) fill(ctx context.Context, r Running, d *batch.Manager, spent fill.Budget) (fill.Stats, error) {
	memory, prices := d.Store, d.Prices
	// What is left of a budget of which nothing is left is no bound to workers; here it is one.
	if r.Calls.ByWorkers && !r.Calls.Budget().Exhausted(spent) {
		return e.fillByWorkers(ctx, r, memory, prices, spent)
	}
	config := r.Calls.Config(prices, e.Abort)
	config.Spent, config.Limited = spent, d.Limited
	var shown *progress.Fill
	var live *fill.Live
	if !r.Calls.Quiet {
		shown = progress.NewFill(e.Stderr, r.Job.Calls, func() fill.Stats { return live.Stats() })
		config.Observe = shown.Observer(r.Targets)
		if r.Tell != nil {
			r.Tell(shown.Label)
		}
	}
	live = fill.NewLive(memory, config)
	limits := e.Limits(r.Calls, r.Clients)
	ctx, told := e.Traced(ctx)
	role := func(q model.Request) string { return string(r.Job.Role(q)) }
	for _, m := range r.Job.Refs() {
		c := r.Clients.Client(m.Provider, m.Endpoint)
		live.Lane(m, told.Model(c.Model, telemetry.Server{Ref: m, Endpoint: c.Endpoint, Role: role}), limits(c))
	}
	var over atomic.Bool
	told.Watch(func() telemetry.Counts {
		s := live.Stats()
		c := telemetry.Counts{Stats: s, Load: live.Load()}
		if !over.Load() {
			c.Open = max(0, r.Job.Calls-s.Present-s.Answered-s.Failed)
		}
		return c
	})
	if shown != nil {
		go shown.Run()
		defer shown.Close()
	}
	defer context.AfterFunc(ctx, func() {
		if shown != nil {
			shown.Leave()
		}
		e.Infof("finishing %s under way; interrupt again to abandon them", table.Counted(live.Stats().UnderWay, "call", "calls"))
	})()
	kept := keepFailed(live, e.failed(ctx, memory, r.Study, r.Job.Judging()))
	err := fillRounds(ctx, live, r, memory)
	over.Store(true)
	err = errors.Join(err, kept())
	stats := live.Stats()
	e.NoteSent(stats)
	// A text says it of a run without answers, and nothing else.
	if stats.Charged > 0 && !r.Calls.Quiet && (stats.Found() > 0 || r.Study.Kind != study.Eval || r.Printed.Format != "table") {
		e.Infof("calls made now: %s that may have been charged", progress.Spent(stats))
	}
	if stats.Batched > 0 && !r.Calls.byBatch {
		e.Infof("%d calls wait for a batch that is out, and are not paid for again: orbench batch status says how far it is; --set ask_batched=true asks them now", stats.Batched)
	}
	return stats, err
}

// Workers gives the way to have calls made by workers, until end is called. Of the budget of
// the flags so much is spent.
func (e *Env) Workers(ctx context.Context, f Calls, memory *store.Store, prices price.Table, spent fill.Budget) (filler *queue.Filler, end func(), err error) {
	q, err := queue.Open(ctx, memory)
	if err != nil {
		return nil, nil, err
	}
	config := f.Config(prices, nil)
	filler, err = queue.NewFiller(ctx, q, memory, queue.Settings{
		Attempts: config.Attempts, Timeout: config.Timeout, RequestsPerMinute: f.rpm, TokensPerMinute: f.tpm,
		AskBatched: config.AskBatched, Budget: config.Budget.Left(spent), Prices: prices.All(),
	})
	if err != nil {
		q.Close()
		return nil, nil, err
	}
	return filler, q.Close, nil
}

// fillByWorkers is fill by workers, which go on when the context ends.
func (e *Env) fillByWorkers(ctx context.Context, r Running, memory *store.Store, prices price.Table, spent fill.Budget) (stats fill.Stats, err error) {
	filler, end, err := e.Workers(ctx, r.Calls, memory, prices, spent)
	if err != nil {
		return stats, err
	}
	defer end()
	if !r.Calls.Quiet {
		shown := progress.NewFill(e.Stderr, r.Job.Calls, filler.Stats)
		go shown.Run()
		defer shown.Close()
		defer context.AfterFunc(ctx, shown.Leave)()
	}
	failed := e.failed(ctx, memory, r.Study, r.Job.Judging())
	ctx, _ = e.Traced(ctx)
	err = fillRounds(ctx, filler, r, memory)
	var stopped *fill.BudgetError
	if errors.As(err, &stopped) {
		*stopped = stopped.After(r.Calls.Budget(), spent)
	}
	if ctx.Err() != nil {
		e.Infof("workers go on with what is queued")
	}
	stats = filler.Stats()
	e.NoteSent(stats)
	if stats.Unanswered() > 0 {
		err = errors.Join(err, failed(stats))
	}
	return stats, err
}

// fillRounds fills round after round: what is asked next may depend on answers.
func fillRounds(ctx context.Context, by fill.Filler, r Running, memory store.Reader) error {
	next := r.Job.Next(memory)
	for {
		w, more, err := next(ctx)
		if err != nil || !more {
			return err
		}
		if err := by.Fill(ctx, w); err != nil {
			return err
		}
	}
}

// keepFailed has keep called with what failed attempts may have cost, while there are more
// and more, at most once a second, until the function that it returns is called for the end.
func keepFailed(live *fill.Live, keep func(fill.Stats) error) (end func() error) {
	kept := 0
	look := func() error {
		s := live.Stats()
		if s.Charged+s.Unanswered() == kept {
			return nil
		}
		kept = s.Charged + s.Unanswered()
		return keep(s)
	}
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				// What cannot be kept now is tried again, and told at the end.
				if look() != nil {
					kept = 0
				}
			case <-stop:
				stopped <- look()
				return
			}
		}
	}()
	return func() error {
		close(stop)
		return <-stopped
	}
}
