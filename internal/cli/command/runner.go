package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/batch"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// Running is a study that a command asks, with all that asking and showing it takes.
type Running struct {
	Study   *study.Study
	Job     *job.Job
	Clients *client.Set
	Calls   Calls
	// Store is the address of the store, and Memory the store itself where it is open
	// already, nil where it is not.
	Store  string
	Memory *store.Store
	// Format is that of what is printed.
	Format string
	// Replace lets the study take the place of another of its name.
	Replace bool
	// Check refuses what the command cannot write, before anything is asked; nil checks
	// nothing.
	Check func() error
	// Foretell says more of a plan; nil says nothing.
	Foretell func(plans []job.Plan) []string
	// Known says how many calls are remembered of a study of which it is known that none is
	// lacking, so that nothing is walked. ok is false where that is not known; nil knows it of
	// nothing.
	Known func(ctx context.Context, m *store.Store) (remembered int, ok bool)
	// Targets are those whose refusals are counted as their answers come, and Tell makes the
	// walk tell the labels of prompts, nil where it does not.
	Targets []evaluate.Target
	Tell    func(func(text string, label orbench.Label))
	// Show derives what the store has and shows it, and says what is missing.
	Show func(ctx context.Context, m store.Reader, f Filled) (missing []string, err error)
	// Again says how to see the study again, after its name and store; empty says nothing.
	Again string
	// Words are what the command lacks to mean the same study later.
	Words []string
}

// Filled is what came of filling.
type Filled struct {
	fill.Stats
	// Stopped is what ended it before all was there, nil for nothing.
	Stopped error
}

// Halted reports whether it was stopped before all was tried, by a budget or an interrupt.
func (f Filled) Halted() bool {
	var budget *fill.BudgetError
	return errors.Is(f.Stopped, ErrInterrupted) || errors.As(f.Stopped, &budget)
}

// Unfinished reports whether something is lacking.
func (f Filled) Unfinished() bool { return f.Stopped != nil || f.Lacking() > 0 }

// Run asks what a study lacks, and shows what there is, also when it was stopped. All input
// has been checked before.
func (e *Env) Run(ctx context.Context, r Running) (err error) {
	prices, err := e.checked(r)
	if err != nil {
		return err
	}
	if r.Calls.DryRun {
		return e.dryRun(ctx, r, prices)
	}
	memory := r.Memory
	if memory == nil {
		if memory, err = e.OpenStore(ctx, r.Store, r.Calls.Quiet); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, memory.Close()) }()
	}
	kept, err := e.Keep(ctx, memory, r.Study, r.Replace, prices.Of(r.Job.Refs()))
	if err != nil {
		return err
	}
	desk := &batch.Desk{Store: memory, Job: r.Job, Study: r.Study, Clients: r.Clients, Prices: prices, Now: time.Now}
	purse := purse{of: r.Calls.Budget(), desk: desk}
	if err := e.forecast(ctx, purse, r.Calls.Quiet); err != nil {
		return err
	}
	if r.Calls.byBatch {
		if err := e.fillByBatch(ctx, purse, r.Calls.wait, r.Calls.Quiet); err != nil {
			return err
		}
	}
	filling := Filling{
		Next: r.Job.Next(memory), Models: r.Job.Refs(), Calls: r.Job.Calls, Targets: r.Targets, Tell: r.Tell, ByBatch: r.Calls.byBatch,
		Role: func(q model.Request) string { return string(r.Job.Role(q)) }, Failed: e.failed(ctx, memory, r.Study, r.Job.Judging()),
	}
	if filling.Spent, err = purse.spent(ctx); err != nil {
		return err
	}
	stats, stopped := e.fillUnknown(ctx, r, memory, prices, filling)
	if err := e.paid(ctx, memory, r.Study, stats); err != nil {
		return errors.Join(stopped, err)
	}
	if stopped != nil && !Stopped(stopped) {
		return stopped
	}
	missing, err := r.Show(context.WithoutCancel(ctx), memory, Filled{stats, stopped})
	if err != nil {
		return errors.Join(stopped, err)
	}
	e.sayKept(r.Study, r.Store, kept, r.Again)
	return e.Finish(stopped, stats, missing, r.Study.Kind.Noun(), r.Words...)
}

// fillUnknown fills, unless it is known that nothing is lacking.
func (e *Env) fillUnknown(ctx context.Context, r Running, memory *store.Store, prices price.Table, f Filling) (fill.Stats, error) {
	if r.Known != nil {
		if n, ok := r.Known(ctx, memory); ok {
			e.Told(ctx) // a command that has nothing to ask is told of too
			return fill.Stats{Present: n}, nil
		}
	}
	return e.Fill(ctx, r.Calls, memory, r.Clients, prices, f)
}

// checked gives the prices of a study whose bounds and files are good.
func (e *Env) checked(r Running) (price.Table, error) {
	prices, err := r.Calls.Prices()
	if err == nil {
		err = r.Calls.CheckPrices(r.Job.Refs(), prices)
	}
	if err == nil && r.Check != nil {
		err = r.Check()
	}
	return prices, err
}

// Keep keeps a study as the command begins to ask for it, which goes by some prices. It
// refuses one that would silently take the place of another of its name, unless replace is
// true. kept is false where the store cannot be written to.
func (e *Env) Keep(ctx context.Context, memory *store.Store, s *study.Study, replace bool, prices []price.Price) (kept bool, err error) {
	if err := e.checkName(ctx, memory, s, replace); err != nil {
		return false, err
	}
	err = s.Start(ctx, memory, e.Command(), prices)
	if errors.Is(err, store.ErrReadOnly) {
		return false, nil
	}
	return err == nil, err
}

// checkName refuses a study that would silently take the place of another of its name.
func (e *Env) checkName(ctx context.Context, memory store.Reader, s *study.Study, replace bool) error {
	if replace {
		return nil
	}
	note, err := s.CheckName(ctx, memory)
	if err == nil && note != "" {
		e.Sayf("%s", settings.Rename(note, FlagName))
	}
	return err
}

// Spent says what earlier commands spent of a budget of a study, whose job is j.
func (e *Env) Spent(ctx context.Context, memory *store.Store, s *study.Study, j *job.Job, prices price.Table, f Calls) (fill.Budget, error) {
	p := purse{of: f.Budget(), desk: &batch.Desk{Store: memory, Job: j, Study: s, Prices: prices}}
	if p.bounded() && !f.Quiet {
		spent, err := p.look(ctx)
		if line := spent.Line(p.of); err == nil && line != "" {
			e.Sayf("%s", settings.Rename(line, FlagName))
		}
	}
	return p.spent(ctx)
}

// Charge keeps with a study what a command paid, and what failed attempts may have cost, once
// it has come to its end.
func (e *Env) Charge(ctx context.Context, memory *store.Store, s *study.Study) func(fill.Stats) error {
	failed := e.failed(ctx, memory, s, false)
	return func(stats fill.Stats) error {
		err := e.paid(ctx, memory, s, stats)
		if stats.Charged+stats.Unanswered() > 0 {
			err = errors.Join(err, failed(stats))
		}
		return err
	}
}

// purse is a budget, and what was spent of it.
type purse struct {
	of   fill.Budget
	desk *batch.Desk
}

// bounded reports whether there is a budget.
func (p purse) bounded() bool { return p.of != fill.Budget{} }

// spent is what was spent of the budget so far, nothing where nothing is bounded.
func (p purse) spent(ctx context.Context) (fill.Budget, error) {
	if !p.bounded() {
		return fill.Budget{}, nil
	}
	s, err := p.look(ctx)
	if err != nil {
		return fill.Budget{}, err
	}
	return s.Of(p.of)
}

// look says what was spent on the study so far.
func (p purse) look(ctx context.Context) (study.Spent, error) {
	return batch.Spent(ctx, p.desk.Store, p.desk.Study, p.desk.Job, p.desk.Prices)
}

// forecast says what was spent of a budget before, and what the rest is expected to take, by
// a sample of the prompts.
func (e *Env) forecast(ctx context.Context, p purse, quiet bool) error {
	if !p.bounded() {
		return nil
	}
	s, err := p.look(ctx)
	if err != nil || quiet {
		return err
	}
	if line := s.Line(p.of); line != "" {
		e.Sayf("%s", settings.Rename(line, FlagName))
	}
	if _, err := s.Of(p.of); err != nil {
		return err
	}
	plans, err := p.desk.Job.SampledPlan(ctx, p.desk.Store, PlannedPrompts)
	if err != nil {
		return err
	}
	more := ""
	if p.desk.Job.Rounds != nil {
		more = "; fewer where the rates are known before"
	}
	return e.SayExpected(ctx, p.desk.Store, plans, p.desk.Prices, more)
}

// failed keeps what failed attempts may have cost a study.
func (e *Env) failed(ctx context.Context, memory *store.Store, s *study.Study, judging bool) func(fill.Stats) error {
	began := time.Now().UTC()
	return func(stats fill.Stats) error {
		return s.Failed(context.WithoutCancel(ctx), memory, began, stats, judging)
	}
}

// paid keeps that the command paid for calls, where it did.
func (e *Env) paid(ctx context.Context, memory *store.Store, s *study.Study, stats fill.Stats) error {
	if stats.Requests == 0 {
		return nil
	}
	c := e.Command()
	return s.Paid(context.WithoutCancel(ctx), memory, c, c.Date)
}

// Stopped reports whether an error ended a fill in an orderly way, so that its
// results are worth showing.
func Stopped(err error) bool {
	var (
		budget *fill.BudgetError
		gaveUp *fill.GivenUpError
	)
	return errors.Is(err, ErrInterrupted) || errors.As(err, &budget) || errors.As(err, &gaveUp)
}

// sayKept says where a study is kept, and how to see it again.
func (e *Env) sayKept(s *study.Study, at string, kept bool, again string) {
	switch {
	case !kept:
		e.Sayf("%s cannot be written to: it keeps %s %s as it was", address.Shown(at), s.Kind.Noun(), s.Name)
	case again != "":
		e.Sayf("%s %s is kept in %s; %s", s.Kind.Noun(), s.Name, address.Shown(at), again)
	}
}

// SeenAgain says how to see a study again that is no run, nothing where that is not wanted.
func (e *Env) SeenAgain(at string, s *study.Study, calls Calls) string {
	if calls.Quiet {
		return ""
	}
	return fmt.Sprintf("to see it again:\n  orbench report%s %s", e.StoreArgument(at), untrusted.Shell(s.Name))
}

// Finish says what is missing and how to go on, by the command and the words that it
// lacks, and turns what ended the fill into the command's error. noun is what the work is,
// empty for work that is not kept.
func (e *Env) Finish(filled error, s fill.Stats, missing []string, noun string, again ...string) error {
	for _, line := range missing {
		e.Sayf("%s", line)
	}
	var budget *fill.BudgetError
	switch {
	case errors.Is(filled, ErrInterrupted), errors.As(filled, &budget):
		what := "everything paid for is saved; the same command goes on from here"
		if budget != nil {
			what += ", with a larger budget"
			if noun != "" {
				what += ", which is that of the whole " + noun
			}
		}
		e.Sayf("%s:\n  %s", what, e.CommandLine(again...))
		return filled
	case filled != nil:
		e.Sayf("orbench: %s", ErrorText(filled))
	case s.Lacking() == 0:
		return nil
	}
	if filled == nil && s.Failed == 0 {
		return ErrFailures // what waits for a batch has been told
	}
	e.Sayf("%s failed; the same command tries again:\n  %s", table.Counted(s.Failed, "call", "calls"), e.CommandLine(again...))
	return ErrFailures
}

// dryRun prints what asking a study would send.
func (e *Env) dryRun(ctx context.Context, r Running, prices price.Table) error {
	var least []job.Plan
	var spent *study.Spent
	plans, err := Plans(ctx, r.Store, func(ctx context.Context, memory store.Reader) ([]job.Plan, error) {
		if memory != nil {
			if err := e.checkName(ctx, memory, r.Study, r.Replace); err != nil {
				return nil, err
			}
		}
		if memory != nil && r.Calls.Bounded() {
			if err := r.Study.Resume(ctx, memory); err != nil {
				return nil, err
			}
			s, err := batch.Spent(ctx, memory, r.Study, r.Job, prices)
			if err != nil {
				return nil, err
			}
			spent = &s
		}
		if r.Job.Rounds != nil && !r.Job.Judging() {
			var err error
			if least, err = r.Job.Plan(ctx, memory, job.AtLeast); err != nil {
				return nil, err
			}
		}
		return r.Job.Plan(ctx, memory, job.AtMost)
	})
	if err != nil {
		return err
	}
	if least != nil && job.TotalCalls(least) == 0 {
		// It has ended.
		plans = least
	}
	shown := job.Planned{Plans: plans, Least: least, Prices: prices, Asked: r.Clients.Recipients()}
	var lines []string
	if spent != nil {
		shown.Spent = spent
		if line := spent.Line(r.Calls.Budget()); line != "" {
			lines = append(lines, settings.Rename(line, FlagName))
		}
	}
	if err := shown.Print(e.Stdout, r.Format); err != nil || r.Format == "json" {
		return err
	}
	if r.Foretell != nil {
		lines = append(lines, r.Foretell(plans)...)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(e.Stdout, line); err != nil {
			return err
		}
	}
	return nil
}

// NameFlags registers --name and --replace of commands that keep a study.
func NameFlags(c *cobra.Command, name *string, replace *bool) {
	c.Flags().StringVar(name, "name", "", "`NAME` of the study in the store (default: made from its settings)")
	c.Flags().BoolVar(replace, "replace", false, "redefine the study of that name, where its settings were others")
}
