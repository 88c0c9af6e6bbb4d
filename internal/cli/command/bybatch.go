package command

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/batch"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// RegisterBatch gives a command the flags that have its calls made by batch.
func (f *Calls) RegisterBatch(c *cobra.Command) {
	flags := c.Flags()
	flags.BoolVar(&f.byBatch, "batch", false, "have calls made by the batch services of their providers, at about half the price")
	flags.BoolVar(&f.wait, "wait", false, "with --batch, wait until the batches have ended")
}

// mostRounds is how often what batches leave without an answer is submitted again before it
// is asked at once.
const mostRounds = 3

// fillByBatch takes back what batches bring, and submits what is lacking; with wait until
// nothing of it is out. What no batch takes is left.
func (e *Env) fillByBatch(ctx context.Context, d *batch.Desk, f Calls) error {
	one, many := nounOf(d.Job)
	tell := func(t *batch.Taken) {
		if t.Answered+t.Failed > 0 {
			e.Sayf("%s came back by batch, %s; %s failed", table.Counted(t.Answered, one, many), table.Price(t.USD, t.Unpriced), table.Count(t.Failed))
		}
	}
	for range mostRounds {
		done, err := d.Collect(ctx)
		if err != nil {
			return err
		}
		tell(done)
		spent, err := e.spent(ctx, d, f, false)
		if err != nil {
			return err
		}
		plan, err := d.Plan(ctx, d.ToServices(false))
		if err == nil {
			err = plan.Check(f.Budget(), spent)
		}
		if err != nil {
			return err
		}
		_, batches, err := d.Send(ctx, d.ToServices(false))
		if err != nil {
			return err
		}
		for _, b := range batches {
			e.Sayf("%s of %s/%s: %s", table.Counted(b.Calls, one, many), b.Provider, b.Model, strings.TrimSpace(string(b.Stage)+" "+untrusted.Terminal(b.Problem)))
		}
		out, err := d.Outstanding(ctx)
		switch {
		case err != nil || out == 0:
			return err
		case !f.wait:
			e.Sayf("%s out by batch; give the same command again to take them back, or say --wait", table.Counted(out, one+" is", many+" are"))
			return nil
		}
		done, err = d.Wait(ctx, time.Minute, func(t *batch.Taken, next time.Duration) {
			if n, back, failed := t.Progress(); next > 0 && !f.Quiet {
				e.Sayf("%s of %s %s are back, %s of them failed; looking again in %s", table.Count(back), table.Count(n), many, table.Count(failed), next)
			}
		})
		if done != nil {
			tell(done)
		}
		if err != nil || done.Waiting > 0 {
			return err
		}
	}
	return nil
}

// nounOf is what the calls of a job are called.
func nounOf(j *job.Job) (one, many string) {
	if slices.ContainsFunc(j.Models, func(m job.Asked) bool { return m.Role != job.Moderator }) {
		return "call", "calls"
	}
	return "vote", "votes"
}
