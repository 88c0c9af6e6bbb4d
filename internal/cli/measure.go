package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/progress"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// measurement is a run with everything that measuring it takes.
type measurement struct {
	*run.Run
	clients *client.Set
	calls   callFlags
	out     outFlags
	store   string
}

// measure fills what is missing of a run, derives its figures and shows them.
// All input has been checked before.
func (a *app) measure(ctx context.Context, m measurement) error {
	prices, err := loadPrices(m.calls.prices)
	if err != nil {
		return err
	}
	if err := m.calls.checkPrices(m.Models(), prices); err != nil {
		return err
	}
	if m.calls.dryRun {
		return a.dryRun(ctx, m, prices)
	}
	memory, err := store.Open(ctx, m.store)
	if err != nil {
		return err
	}
	err = a.fillAndShow(ctx, m, memory, prices)
	return errors.Join(err, memory.Close())
}

// fillAndShow is measure with an open memo.
func (a *app) fillAndShow(ctx context.Context, m measurement, memory *memo.Memo, prices price.Table) error {
	if err := m.Save(ctx, memory); err != nil {
		return err
	}
	stats, filled := a.fill(ctx, m, memory, prices)
	if filled != nil && !stopped(filled) {
		return filled
	}
	// What was paid for is shown even when the run was stopped.
	result, err := a.derive(context.WithoutCancel(ctx), []*run.Run{m.Run}, memory, m.out, run.Cost(stats), nil)
	if err != nil {
		return errors.Join(filled, err)
	}
	if m.out.out == "" && !m.calls.quiet {
		a.sayf("run %s is kept in %s; pages, plots and answers: orbench report%s %s --out DIR", m.Name, m.store, a.storeArgument(m.store), m.Name)
	}
	return a.finish(filled, stats, result)
}

// stopped reports whether an error ended a fill in an orderly way, so that its
// results are worth showing.
func stopped(err error) bool {
	var (
		budget *fill.BudgetError
		gaveUp *fill.GivenUpError
	)
	return errors.Is(err, errInterrupted) || errors.As(err, &budget) || errors.As(err, &gaveUp)
}

// fill makes the missing calls and shows how it goes.
func (a *app) fill(ctx context.Context, m measurement, memory *memo.Memo, prices price.Table) (fill.Stats, error) {
	config := m.calls.config(prices, a.abort)
	var shown *progress.Fill
	var live *fill.Live
	if !m.calls.quiet {
		shown = progress.NewFill(a.env.Stderr, m.ExpectedCalls(), func() fill.Stats { return live.Stats() })
		config.Observe = shown.Observer(m.Targets)
	}
	live = m.calls.live(memory, config, m.clients, m.Models())
	if shown != nil {
		go shown.Run()
		defer shown.Close()
	}
	defer context.AfterFunc(ctx, func() {
		if shown != nil {
			shown.Leave()
		}
		a.sayf("finishing the calls under way; interrupt again to abandon them")
	})()
	err := live.Fill(ctx, m.Work(memory))
	return live.Stats(), err
}

// derive computes the figures of runs, corrected where there is a calibration, and
// shows them as the flags say.
func (a *app) derive(ctx context.Context, runs []*run.Run, memory *memo.Memo, out outFlags, cost score.Cost, calibration *score.Calibration) (score.Result, error) {
	var folder *report.Folder
	var sinks evaluate.Sinks
	if out.out != "" {
		var err error
		if folder, err = report.Create(out.out); err != nil {
			return score.Result{}, err
		}
		defer folder.Discard()
		sinks.Row, sinks.PromptRate = folder.Add, folder.AddPromptRate
	}
	for _, r := range runs {
		r.MostUnjudged = out.mostUnjudged
	}
	result, err := run.Derive(ctx, memory, runs, sinks)
	if err != nil {
		return result, err
	}
	result.Cost = cost
	if calibration != nil {
		result.Correct(*calibration)
	}
	if err := writeAs(a.env.Stdout, out.format, report.View{Result: result}); err != nil {
		return result, err
	}
	if folder == nil {
		return result, nil
	}
	if err := folder.Finish(result); err != nil {
		return result, err
	}
	a.sayf("wrote %s", filepath.Join(out.out, report.PageFile))
	return result, nil
}

// finish says what is missing and how to go on, and turns what ended the fill
// into the command's error.
func (a *app) finish(filled error, s fill.Stats, r score.Result) error {
	missing := 0
	for _, run := range r.Runs {
		if n := run.Unanswered; n > 0 {
			missing += n
			a.sayf("missing: %d of %d answers of %s on %s (%s)", n, run.N, run.Target, run.Dataset, run.Label)
		}
	}
	var budget *fill.BudgetError
	switch {
	case errors.Is(filled, errInterrupted), errors.As(filled, &budget):
		what := "everything paid for is saved; the same command goes on from here"
		if budget != nil {
			what += ", with a larger budget"
		}
		a.sayf("%s:\n  %s", what, a.commandLine())
		return filled
	case filled != nil:
		a.sayf("orbench: %s", errorText(filled))
	case s.Failed == 0:
		return nil
	}
	a.sayf("%d calls failed; the same command tries them again:\n  %s", s.Failed, a.commandLine())
	return errFailures
}

// commandLine is the command as it was typed, quoted for a shell.
func (a *app) commandLine() string {
	words := []string{"orbench"}
	for _, arg := range a.args {
		words = append(words, untrusted.Shell(arg))
	}
	return strings.Join(words, " ")
}

// checkPrices refuses a limit on costs that cannot be kept.
func (f *callFlags) checkPrices(models []model.Ref, prices price.Table) error {
	if f.maxCost == 0 {
		return nil
	}
	for _, ref := range models {
		if _, ok := prices.Price(ref.Provider, ref.Model); !ok {
			return inputError("--max-cost", fmt.Sprintf("the price of %s is unknown", ref),
				"give it in a file with --prices, or leave --max-cost out")
		}
	}
	return nil
}

// dryRun prints what measuring would send.
func (a *app) dryRun(ctx context.Context, m measurement, prices price.Table) error {
	memory, err := store.OpenExisting(ctx, m.store)
	switch {
	case err == nil:
		defer memory.Close()
	case !errors.Is(err, memo.ErrNoStore):
		return err
	}
	plans, err := m.Plan(ctx, memory)
	if err != nil {
		return err
	}
	if err := evaluate.PrintPlan(a.env.Stdout, m.out.format, plans, prices); err != nil || m.out.format == "json" {
		return err
	}
	_, err = fmt.Fprintln(a.env.Stdout, m.Describe(plans))
	return err
}
