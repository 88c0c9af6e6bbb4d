package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/batch"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/queue"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// fill makes the calls that a study lacks at once, and shows how it goes. The error is that
// of fill.Live. Of the budget of the account so much is spent.
func (e *Env) fill(ctx context.Context, r Running, d *batch.Manager, account *fill.Account, spent fill.Budget) (fill.Stats, error) {
	memory, prices := d.Store, d.Prices
	// What is left of a budget of which nothing is left is no bound to workers; here it is one.
	if r.Calls.ByWorkers && !r.Calls.Budget().Exhausted(spent) {
		return e.fillByWorkers(ctx, r, memory, prices, account)
	}
	config := r.Calls.Config(prices, e.Abort)
	config.Account, config.Limited = account, d.Limited
	live := fill.NewLive(memory, config)
	for _, m := range r.Job.Refs() {
		c := r.Clients.Client(m.Provider, m.Endpoint)
		live.Lane(m, c.Model, r.Calls.Limits(c))
	}
	shown := e.fillStatus(r.Job.Calls, live.Stats)
	if !e.Quiet {
		go shown.Run()
	}
	defer context.AfterFunc(ctx, func() {
		e.Infof("finishing %s under way; interrupt again to abandon them", table.Counted(live.Stats().UnderWay, "call", "calls"))
	})()
	err := r.Job.Fill(ctx, live, memory)
	err = errors.Join(err, live.GiveBack(context.WithoutCancel(ctx)))
	if !e.Quiet {
		shown.Close() // before anything else is said
	}
	stats := live.Stats()
	e.NoteSent(stats)
	// A text says it of a run without answers, and nothing else.
	if stats.Charged > 0 && (stats.FailedUSD > 0 || len(stats.Unpriced) > 0) && !e.Quiet && (stats.Found() > 0 || r.Study.Kind != study.Eval || r.Printed.Format != "table") {
		e.Infof("calls made now: %s that may have been charged", Spent(stats))
	}
	if stats.Batched > 0 && !r.Calls.byServices() {
		e.Infof("%d calls wait in a batch and are not paid for again: orbench batch status shows its progress; orbench batch cancel frees them", stats.Batched)
	}
	return stats, err
}

// sayUnlisted says of models that lack replies that their server does not list them, but others.
func (e *Env) sayUnlisted(ctx context.Context, r Running, m store.Reader) error {
	unlisted := slices.DeleteFunc(r.Job.Refs(), func(of model.Ref) bool { return len(r.Clients.Described(of).Listed) == 0 })
	if len(unlisted) == 0 {
		return nil
	}
	for call, err := range r.Job.All(ctx, m) {
		if err != nil {
			return err
		}
		unlisted = slices.DeleteFunc(unlisted, func(of model.Ref) bool {
			// A judge lacks the verdicts on answers that are lacking.
			judges := slices.ContainsFunc(r.Job.Models, func(a job.Asked) bool { return a.Ref == of && a.Role.Judges() })
			if call.Remembered || of != job.RefOf(call.Request) && !judges {
				return false
			}
			hint, listed := "", r.Clients.Described(of).Listed
			if near := settings.Nearest(of.Model, listed); near != "" {
				hint = fmt.Sprintf("did you mean %q? ", near)
			}
			server := r.Clients.Client(of.Provider, of.Endpoint).Recipient.Address
			e.Infof("%s", untrusted.Terminal(fmt.Sprintf("warning: %s does not list the model %q; %sit lists %s", server, of.Model, hint, untrusted.Shorten(strings.Join(listed, ", "), gaveUpWide))))
			return true
		})
	}
	return nil
}

// Workers gives the way to have the calls of a run made by workers, who spend on an account.
func (e *Env) Workers(ctx context.Context, run string, f Calls, memory *store.Store, prices price.Table, account *fill.Account) (*queue.Filler, error) {
	q, err := queue.Open(ctx, memory)
	if err != nil {
		return nil, err
	}
	config := f.Config(prices, nil)
	return queue.NewFiller(ctx, q, memory, queue.Settings{
		Run: run, Attempts: config.Attempts, Timeout: config.Timeout, RequestsPerMinute: f.rpm,
		Budget: config.Budget, Account: account.Name(), Prices: prices,
	})
}

// fillByWorkers is fill by workers, which go on when the context ends.
func (e *Env) fillByWorkers(ctx context.Context, r Running, memory *store.Store, prices price.Table, account *fill.Account) (stats fill.Stats, err error) {
	filler, err := e.Workers(ctx, r.Study.Name, r.Calls, memory, prices, account)
	if err != nil {
		return stats, err
	}
	if !e.Quiet {
		shown := e.fillStatus(r.Job.Calls, filler.Stats)
		go shown.Run()
		defer shown.Close()
	}
	err = r.Job.Fill(ctx, filler, memory)
	if ctx.Err() != nil {
		e.Infof("workers go on with what is queued")
	}
	stats = filler.Stats()
	e.NoteSent(stats)
	return stats, err
}
