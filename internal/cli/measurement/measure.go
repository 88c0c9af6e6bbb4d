package measurement

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/batch"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/judge"
)

// measurement is a run with everything that measuring it takes.
type measurement struct {
	*run.Run
	clients *client.Set
	calls   command.Calls
	out     command.Output
	store   string
	// again are words that the command lacks to mean the same run later.
	again []string
	// memory is the store where it is open already, nil where it is not.
	memory *store.Store
	// redefine lets the run take the place of another of its name.
	redefine bool
}

// measure fills what is missing of a run, derives its figures and shows them.
// All input has been checked before.
func (a app) measure(ctx context.Context, m measurement) error {
	prices, err := m.calls.Prices()
	if err != nil {
		return err
	}
	if err := m.calls.CheckPrices(m.Models(), prices); err != nil {
		return err
	}
	if err := m.out.CheckDir(run.Subject(m.Run)); err != nil {
		return err
	}
	if m.calls.DryRun {
		return a.dryRun(ctx, m, prices)
	}
	if m.memory != nil {
		return a.fillAndShow(ctx, m, m.memory, prices)
	}
	memory, err := a.OpenStore(ctx, m.store, m.calls.Quiet)
	if err != nil {
		return err
	}
	err = a.fillAndShow(ctx, m, memory, prices)
	return errors.Join(err, memory.Close())
}

// fillAndShow is measure with an open store.
func (a app) fillAndShow(ctx context.Context, m measurement, memory *store.Store, prices price.Table) error {
	if err := a.checkName(ctx, m, memory); err != nil {
		return err
	}
	typed := a.Command()
	err := m.Start(ctx, memory, typed, prices)
	readOnly := errors.Is(err, store.ErrReadOnly)
	if err != nil && !readOnly {
		return err
	}
	spent, err := a.spent(ctx, m, memory, prices)
	if err != nil {
		return err
	}
	if m.calls.Bounded() && !m.calls.Quiet {
		if err := a.sayExpected(ctx, m, memory, prices); err != nil {
			return err
		}
	}
	began := time.Now().UTC()
	stats, filled := a.Fill(ctx, m.calls, memory, m.clients, prices, command.Filling{
		Next: m.Rounds(memory), Models: m.Models(), Calls: m.ExpectedCalls(), Targets: m.Targets, Role: m.Role,
		Tell: func(told func(string, orbench.Label)) { m.Told = told },
		Failed: func(s fill.Stats) error {
			return m.Failed(context.WithoutCancel(ctx), memory, began, s)
		},
		Spent: spent,
	})
	m.Told = nil
	if stats.Requests > 0 {
		if err := m.Paid(context.WithoutCancel(ctx), memory, typed, a.Command().Date); err != nil {
			return errors.Join(filled, err)
		}
	}
	if filled != nil && !stopped(filled) {
		return filled
	}
	if m.Shard.Of > 1 {
		return a.showShard(context.WithoutCancel(ctx), m, memory, filled, stats)
	}
	// What was paid for is shown even when the run was stopped.
	result, err := a.derive(context.WithoutCancel(ctx), []*run.Run{m.Run}, memory, m.out, run.Cost(stats), nil)
	if err != nil {
		return errors.Join(filled, err)
	}
	switch {
	case readOnly:
		a.Sayf("%s cannot be written to: it keeps run %s as it was", address.Shown(m.store), m.Name)
	case m.out.Dir == "" && !m.calls.Quiet:
		a.Sayf("run %s is kept in %s; for pages, plots and answers:\n  orbench report%s %s --out DIR", m.Name, address.Shown(m.store), a.StoreArgument(m.store), m.Name)
	}
	return a.finish(filled, stats, result, m.again...)
}

// spent is what earlier commands have spent of the run's budget, and says so.
func (a app) spent(ctx context.Context, m measurement, memory store.Reader, prices price.Table) (fill.Budget, error) {
	if !m.calls.Bounded() {
		return fill.Budget{}, nil
	}
	s, err := batch.Spent(ctx, memory, m.Run, prices)
	if err != nil {
		return fill.Budget{}, err
	}
	if line := s.Line(m.calls.Budget()); line != "" && !m.calls.Quiet {
		a.Sayf("%s", settings.Rename(line, command.FlagName))
	}
	return s.Of(m.calls.Budget())
}

// sayExpected says what a run with a bound is expected to take, by a sample of its prompts.
func (a app) sayExpected(ctx context.Context, m measurement, memory store.Reader, prices price.Table) error {
	plans, err := m.SampledPlan(ctx, memory, command.PlannedPrompts)
	if err != nil {
		return err
	}
	more := ""
	if m.Config.Ends() {
		more = "; fewer where the rates are known before"
	}
	return a.SayExpected(ctx, memory, plans, prices, more)
}

// checkName refuses a run that would silently take the place of another of its name.
func (a app) checkName(ctx context.Context, m measurement, memory store.Reader) error {
	if m.redefine {
		return nil
	}
	unjudged, err := m.CheckName(ctx, memory)
	if err == nil && len(unjudged) > 0 {
		a.Sayf("run %s was judged by %s too, which --judge does not name now: its reports leave that out, and the verdicts stay in the store", m.Name, strings.Join(unjudged, ", "))
	}
	return err
}

// stopped reports whether an error ended a fill in an orderly way, so that its
// results are worth showing.
func stopped(err error) bool {
	var (
		budget *fill.BudgetError
		gaveUp *fill.GivenUpError
	)
	return errors.Is(err, command.ErrInterrupted) || errors.As(err, &budget) || errors.As(err, &gaveUp)
}

// derive computes the figures of runs, corrected where there is a calibration, and
// shows them as the flags say.
func (a app) derive(ctx context.Context, runs []*run.Run, memory store.Reader, out command.Output, cost score.Cost, calibration *score.Calibration) (score.Result, error) {
	var folder *report.Folder
	var sinks evaluate.Sinks
	if out.Dir != "" {
		var err error
		if folder, err = report.Create(out.Dir, run.Subject(runs...)); err != nil {
			return score.Result{}, err
		}
		defer folder.Discard()
		sinks.Row, sinks.Propensity = folder.Add, folder.AddPropensity
	}
	for _, r := range runs {
		r.MostUnjudged = out.MostUnjudged
	}
	result, err := run.Derive(ctx, memory, runs, sinks)
	if err != nil {
		return result, err
	}
	result.Cost, result.Provenance.Program = cost, a.Version
	if calibration != nil {
		result.Correct(*calibration)
	}
	if err := a.Show(out.Format, out.Full, report.View{Result: result}); err != nil {
		return result, err
	}
	if folder == nil {
		return result, nil
	}
	if err := folder.Finish(result); err != nil {
		return result, err
	}
	a.Sayf("wrote %s", filepath.Join(out.Dir, report.PageFile))
	return result, nil
}

// finish says what is missing and how to go on, by the command and the words that it
// lacks, and turns what ended the fill into the command's error.
func (a app) finish(filled error, s fill.Stats, r score.Result, again ...string) error {
	missing := 0
	for _, run := range r.Runs {
		if n := run.Unanswered; n > 0 {
			missing += n
			a.Sayf("missing: %d of %d answers of %s on %s (%s)", n, run.N, run.Target, run.Dataset, run.Label)
		}
	}
	var budget *fill.BudgetError
	switch {
	case errors.Is(filled, command.ErrInterrupted), errors.As(filled, &budget):
		what := "everything paid for is saved; the same command goes on from here"
		if budget != nil {
			what += ", with a larger budget"
			if len(r.Runs) > 0 {
				what += ", which is that of the whole run"
			}
		}
		a.Sayf("%s:\n  %s", what, a.CommandLine(again...))
		return filled
	case filled != nil:
		a.Sayf("orbench: %s", command.ErrorText(filled))
	case s.Lacking() == 0:
		return nil
	}
	if filled == nil && s.Failed == 0 {
		return command.ErrFailures // what waits for a batch has been told
	}
	a.Sayf("%s failed; the same command tries again:\n  %s", table.Counted(s.Failed, "call", "calls"), a.CommandLine(again...))
	return command.ErrFailures
}

// dryRun prints what measuring would send.
func (a app) dryRun(ctx context.Context, m measurement, prices price.Table) error {
	var least []evaluate.Plan
	var spent *run.Spent
	plans, err := command.Plans(ctx, m.store, func(ctx context.Context, memory store.Reader) ([]evaluate.Plan, error) {
		if memory != nil {
			if err := a.checkName(ctx, m, memory); err != nil {
				return nil, err
			}
		}
		if memory != nil && m.calls.Bounded() {
			if err := m.Resume(ctx, memory); err != nil {
				return nil, err
			}
			s, err := batch.Spent(ctx, memory, m.Run, prices)
			if err != nil {
				return nil, err
			}
			spent = &s
		}
		if m.Config.Ends() && !m.Recorded {
			var err error
			if least, err = m.LeastPlan(ctx, memory); err != nil {
				return nil, err
			}
		}
		return m.Plan(ctx, memory)
	})
	if err != nil {
		return err
	}
	if least != nil && evaluate.TotalCalls(least) == 0 {
		// It has ended.
		plans = least
	}
	shown := evaluate.Planned{Plans: plans, Least: least, Prices: prices, Asked: m.clients.Recipients()}
	if spent != nil {
		shown.Spent = spent
	}
	if err := shown.Print(a.Stdout, m.out.Format); err != nil || m.out.Format == "json" {
		return err
	}
	if spent != nil {
		if line := spent.Line(m.calls.Budget()); line != "" {
			if _, err := fmt.Fprintln(a.Stdout, settings.Rename(line, command.FlagName)); err != nil {
				return err
			}
		}
	}
	for _, name := range m.Config.JudgeNames() {
		if judge.Unfenced(name) {
			if _, err := fmt.Fprintf(a.Stdout, "%s has no room for a fence around the answer: one that imitates its format may mislead it\n", name); err != nil {
				return err
			}
		}
	}
	_, err = fmt.Fprintln(a.Stdout, m.Describe(plans))
	return err
}
