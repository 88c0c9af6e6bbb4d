package command

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/batch"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// The values of --batch, beside the folder of files.
const (
	batchServices = "services"
	batchWait     = "wait"
)

// RegisterBatch gives a command the flag that has its calls made by batch: by the
// services of the providers, or by files in a folder.
func (f *Calls) RegisterBatch(c *cobra.Command) {
	c.Flags().StringVar(&f.batch, "batch", "", "have the providers' batch services make the calls, at about half the price; repeat the command to collect the answers, or wait for them with --batch=wait. --batch=`DIR` writes the calls to files in this new folder, or collects the answers to the files of an older one")
	c.Flags().Lookup("batch").NoOptDefVal = batchServices
}

// byServices and byFiles report whether the calls go by batch services, or by files.
func (f *Calls) byServices() bool { return f.batch == batchServices || f.batch == batchWait }
func (f *Calls) byFiles() bool    { return f.batch != "" && !f.byServices() }

// mostRounds is how often what batches leave without an answer is submitted again before it
// is asked at once.
const mostRounds = 3

// fillByBatch takes back what batches bring, and submits what is lacking; with wait until
// nothing of it is out. What no batch takes is left.
func (e *Env) fillByBatch(ctx context.Context, d *batch.Manager, f Calls) error {
	one, many := nounOf(d.Job)
	lost := map[string]bool{}
	for range mostRounds {
		done, err := d.Collect(ctx)
		if err := e.took(ctx, d, done, err); err != nil {
			return err
		}
		e.sayLost(d, done, lost)
		asked := d.ToServices
		if err := e.checkBatches(ctx, d, f, asked); err != nil {
			return err
		}
		_, batches, err := d.Send(ctx, asked)
		if err != nil {
			return err
		}
		for _, b := range batches {
			e.Infof("%s of %s/%s: %s", table.Counted(b.Calls, one, many), b.Provider, b.Model, strings.TrimSpace(string(b.Stage)+" "+untrusted.Terminal(b.Problem)))
		}
		out, err := d.Outstanding(ctx)
		switch {
		case err != nil || out == 0, f.batch != batchWait && len(d.Limited) > 0:
			return err
		case f.batch != batchWait:
			e.Infof("%s in a batch; run the same command again to collect them, or wait with --batch=wait", table.Counted(out, one+" is", many+" are"))
			return nil
		}
		done, err = d.Wait(ctx, time.Minute, func(t *batch.Taken, next time.Duration) {
			if n, back, failed := t.Progress(); next > 0 && !e.Quiet {
				e.Infof("%s of %s %s are back, %s of them failed; next look in %s", table.Count(back), table.Count(n), many, table.Count(failed), next)
			}
		})
		if err := e.took(ctx, d, done, err); err != nil || done.Waiting > 0 {
			return err
		}
		e.sayLost(d, done, lost)
	}
	return nil
}

// sayLost tells of batches whose output is gone, unless it was said of them.
func (e *Env) sayLost(d *batch.Manager, t *batch.Taken, said map[string]bool) {
	for _, b := range t.Batches {
		if b.Lost > 0 && !said[b.ID] {
			said[b.ID] = true
			e.Infof("batch %s: %s; to ask its calls again: orbench batch cancel %s --forget, then the same command", b.ID, b.Problem, untrusted.Shell(d.Job.Name))
		}
	}
}

// fillByFiles writes the calls that are lacking to files in a folder, or where there is the
// folder, takes back what its files bring. more reports that nothing is lacking that files
// can bring, so that the rest is to be asked.
func (e *Env) fillByFiles(ctx context.Context, d *batch.Manager, f Calls) (more bool, err error) {
	one, many := nounOf(d.Job)
	asked := d.ToFiles
	if _, err := os.Stat(f.batch); err == nil {
		done, err := d.ReadFrom(ctx, f.batch)
		if err := e.took(ctx, d, done, err); err != nil {
			return false, err
		}
		if done.Waiting > 0 {
			e.Infof("%s no answer yet; repeat the command when there are more, or free them: orbench batch cancel", table.Counted(done.Waiting, one+" has", many+" have"))
			return false, ErrFailures
		}
		plan, err := d.Plan(ctx, asked)
		if n := plan.Calls(); err == nil && n > 0 {
			e.Infof("%s still missing: name a new folder to write them to, or leave --batch out to ask them now", table.Counted(n, one+" is", many+" are"))
			err = ErrFailures
		}
		return err == nil, err
	}
	if err := e.checkBatches(ctx, d, f, asked); err != nil {
		return false, err
	}
	plan, batches, err := d.Write(ctx, asked, f.batch)
	if err != nil {
		return false, err
	}
	for _, w := range plan.Without {
		e.Infof("%s to %s cannot be written to files: %s", table.Counted(w.Calls, one, many), untrusted.Terminal(w.Model), w.Reason)
	}
	switch {
	case len(batches) > 0:
	case plan.Out > 0:
		e.Infof("%s in a batch already", table.Counted(plan.Out, one+" is", many+" are"))
		return false, ErrFailures
	default:
		return true, nil
	}
	for _, b := range batches {
		e.Infof("%s of %s/%s: %s", table.Counted(b.Calls, one, many), b.Provider, b.Model, b.File)
	}
	first := batches[0]
	e.Infof("process them, for example with\n  vllm run-batch -i %s -o %s --model %s\nthen run the same command again to collect the answers",
		untrusted.Shell(first.File), untrusted.Shell(strings.TrimSuffix(first.File, ".jsonl")+"-results.jsonl"), untrusted.Shell(first.Model))
	return false, nil
}

// checkBatches refuses batches with which the study could exceed the budget of the flags.
func (e *Env) checkBatches(ctx context.Context, d *batch.Manager, f Calls, asked batch.Asked) error {
	if !f.Bounded() {
		return nil
	}
	spent, err := batch.Spent(ctx, d.Store, d.Study, d.Job, d.Prices)
	if err != nil {
		return err
	}
	so, err := spent.Of(f.Budget())
	if err != nil {
		return err
	}
	plan, err := d.Plan(ctx, asked)
	return cmp.Or(err, plan.Check(f.Budget(), so))
}

// took says what came back, and keeps that the command paid for it. The error is that of
// taking it back.
func (e *Env) took(ctx context.Context, d *batch.Manager, t *batch.Taken, err error) error {
	if t == nil || t.Answered+t.Failed+t.Unread+t.Unknown == 0 {
		return err
	}
	one, many := nounOf(d.Job)
	e.Infof("%s came back by batch, %s; %s failed", table.Counted(t.Answered, one, many), table.Price(t.USD, t.Unpriced), table.Count(t.Failed))
	if t.Unknown > 0 {
		e.Infof("%s to no call of this study", table.Counted(t.Unknown, "result belongs", "results belong"))
	}
	if t.Unread > 0 {
		e.Infof("%s no result and left out: %s", table.Counted(t.Unread, "line is", "lines are"), strings.Join(t.Faults, "; "))
	}
	return errors.Join(err, e.Paid(ctx, d.Store, d.Study, fill.Stats{Requests: t.Answered}))
}

// nounOf is what the calls of a job are called.
func nounOf(j *job.Job) (one, many string) {
	if slices.ContainsFunc(j.Models, func(m job.Asked) bool { return m.Role != job.Moderator }) {
		return "call", "calls"
	}
	return "vote", "votes"
}
