package measurement

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/batch"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/moderation"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/moderate"
	"github.com/orbench/orbench/policy"
)

// moderateFlags are the flags of moderate.
type moderateFlags struct {
	policies, moderators []string
	rule                 string
	maxTokens, limit     int
	columns              dataset.Options
	changed, all         string
	format, store        string
	full                 bool
	batch, wait          bool
	calls                command.Calls
}

func (a app) moderateCommand() *cobra.Command {
	var f moderateFlags
	c := &cobra.Command{
		Use:   "moderate DATASET",
		Short: "Have moderators label prompts, under one policy or several",
		Long: `Put the prompts of a dataset to the vote of moderators, under one policy or
several, and print how the labels fall, which change from the first policy to each
other one, and how far the policies agree (Cohen's kappa). With one policy its
labels are held against the dataset's own.

Policies are names (see "orbench policy list") or YAML files. Moderators are models;
they are asked by the questions of "orbench build", so what a build paid for is not
paid for again. Every reply is kept in the store before it counts, and the same
command goes on after an interruption.

--batch has votes asked by batch: it submits what is lacking and takes back what has
come. Give the same command again until all votes are there, or say --wait. Moderators
whose provider has no batch service are asked at once.

--changed writes the prompts whose label changes, --all every prompt with its labels
and votes; both files are datasets again, with the labels that they had.`,
		Example: `  orbench moderate starter --policy paper,security --moderator sim/moderator-a,sim/moderator-b,sim/moderator-c
  orbench moderate or-bench-80k --policy paper,mine.yaml --moderator openai/gpt-4o-mini --limit 500 --dry-run
  orbench moderate mine.csv --policy medical --moderator anthropic/claude-sonnet-4-5 --changed changed.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.moderate(c.Context(), args[0], f) },
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.policies, "policy", []string{policy.Default}, "`POLICY` to vote by, a name or a YAML file; repeatable or comma separated")
	flags.StringSliceVar(&f.moderators, "moderator", nil, "`PROVIDER/MODEL` that votes; repeatable or comma separated")
	flags.StringVar(&f.rule, "rule", string(moderate.Majority), "how votes decide, a `RULE`: majority or unanimous")
	command.CompleteFlag(c, "rule", []string{string(moderate.Majority), string(moderate.Unanimous)})
	flags.IntVar(&f.maxTokens, "max-tokens", 1000, "most output tokens of a moderator's explanation")
	command.DrawFlags(c, &f.limit, &f.columns)
	command.ColumnFlags(c, &f.columns)
	command.ClusterFlag(c, &f.columns)
	flags.StringVar(&f.changed, "changed", "", "write the prompts whose label changes to this new .csv or .jsonl `FILE`")
	flags.StringVar(&f.all, "all", "", "write every prompt with its labels and votes to this new .csv or .jsonl `FILE`")
	command.FormatFlag(c, &f.format, command.Formats)
	command.FullFlag(c, &f.full)
	flags.BoolVar(&f.batch, "batch", false, "have votes asked by the batch services of their providers, at about half the price")
	flags.BoolVar(&f.wait, "wait", false, "with --batch, wait until the batches have ended")
	a.StoreFlag(c, &f.store)
	f.calls.Register(c)
	f.calls.RegisterWorkers(c)
	return c
}

// prepareModeration checks everything that a user can get wrong, before anything is
// asked or written.
func (a app) prepareModeration(ctx context.Context, ref string, f moderateFlags) (*moderation.Run, *client.Set, error) {
	fail := func(err error) (*moderation.Run, *client.Set, error) { return nil, nil, err }
	rule, err := command.VotingRule(f.rule)
	switch {
	case err != nil:
		return fail(err)
	case f.changed != "" && f.changed == f.all:
		return fail(command.InputError("--changed, --all", "both name the same file", "name two"))
	case f.wait && !f.batch:
		return fail(command.InputError("--wait", "no batch is waited for", "say --batch too, or leave it out"))
	case f.maxTokens < 1:
		return fail(command.InputError("--max-tokens", "the value is too small", "give a positive one"))
	}
	err = errors.Join(
		command.CheckFormat(f.format, command.Formats), f.calls.Check(), command.CheckDraw(f.limit, f.columns),
		fileEnding("--changed", f.changed, ".csv", ".jsonl"), fileEnding("--all", f.all, ".csv", ".jsonl"),
	)
	if err != nil {
		return fail(err)
	}
	r := &moderation.Run{Limit: f.limit, Rule: rule}
	for _, name := range f.policies {
		p, err := policy.Open(name)
		if err != nil {
			return fail(err)
		}
		if slices.ContainsFunc(r.Policies, func(other policy.Policy) bool { return other.Name == p.Name }) {
			return fail(command.InputError("--policy", fmt.Sprintf("two policies are called %q", p.Name), "name each once, and files differently"))
		}
		r.Policies = append(r.Policies, p)
	}
	clients, err := a.Clients(f.calls, experiment.Providers(f.moderators), nil)
	if err != nil {
		return fail(err)
	}
	if r.Moderators, err = command.Moderators(clients, f.moderators, f.maxTokens); err != nil {
		return fail(err)
	}
	f.columns.Cache = a.CacheDir()
	if r.Dataset, err = dataset.Open(ctx, ref, f.columns); err != nil {
		return fail(err)
	}
	for path, of := range f.files(r) {
		if err := folder.VacantFile(path, of); err != nil {
			return fail(err)
		}
	}
	a.SayDraw(f.limit, r.Dataset)
	return r, clients, nil
}

// files gives the files to write, with what they are of.
func (f moderateFlags) files(r *moderation.Run) iter.Seq2[string, folder.Subject] {
	return func(yield func(string, folder.Subject) bool) {
		if f.changed != "" && !yield(f.changed, r.Subject("changed labels")) {
			return
		}
		if f.all != "" {
			yield(f.all, r.Subject("labels"))
		}
	}
}

// moderate puts a dataset to the vote and shows what came of it.
func (a app) moderate(ctx context.Context, ref string, f moderateFlags) (err error) {
	r, clients, err := a.prepareModeration(ctx, ref, f)
	if err != nil {
		return err
	}
	prices, err := f.calls.Prices()
	if err != nil {
		return err
	}
	if err := f.calls.CheckPrices(r.Models(), prices); err != nil {
		return err
	}
	if f.calls.DryRun {
		return a.planModeration(ctx, r, f, prices, clients)
	}
	memory, err := a.OpenStore(ctx, f.store, f.calls.Quiet)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	if f.calls.Bounded() && !f.calls.Quiet {
		plans, err := r.SampledPlan(ctx, memory, command.PlannedPrompts)
		if err == nil {
			err = a.SayExpected(ctx, memory, plans, prices, "")
		}
		if err != nil {
			return err
		}
	}
	var byBatch fill.Budget
	if f.batch {
		if byBatch, err = a.moderateByBatch(ctx, r, f, memory, clients, prices); err != nil {
			return err
		}
	}
	// What no batch takes is asked at once.
	stats, filled := a.Fill(ctx, f.calls, memory, clients, prices, command.Filling{
		Work: r.Work(memory), Models: r.Models(), Calls: r.Calls(), ByBatch: f.batch, Spent: byBatch, Role: command.Role("moderator"),
	})
	if filled != nil && !stopped(filled) {
		return filled
	}
	// What was paid for is shown even when the votes are not complete.
	unfinished := filled != nil || stats.Lacking() > 0
	if err := a.showModeration(context.WithoutCancel(ctx), r, memory, f, unfinished); err != nil {
		return errors.Join(filled, err)
	}
	if unfinished {
		a.sayUnfinished(f.changed, f.all)
	}
	return a.finish(filled, stats, score.Result{})
}

// mostRounds is how often what batches leave without an answer is submitted again before it
// is asked at once.
const mostRounds = 3

// moderateByBatch takes back the votes that batches bring, and submits what is lacking; with
// --wait until nothing of it is out. It gives what was spent by what it submitted, the most
// that this can take where that is not known.
func (a app) moderateByBatch(ctx context.Context, r *moderation.Run, f moderateFlags, memory *store.Store, clients *client.Set, prices price.Table) (sent fill.Budget, err error) {
	d := &batch.Desk{Store: memory, Work: batch.Work{Name: r.WorkName(), Calls: r.Lacking, Further: true}, Clients: clients, Prices: prices, Now: time.Now}
	tell := func(t *batch.Taken) {
		if t.Answered+t.Failed > 0 {
			a.Sayf("%s came back by batch, %s; %s failed", table.Counted(t.Answered, "vote", "votes"), table.Price(t.USD, t.Unpriced), table.Count(t.Failed))
		}
	}
	for range mostRounds {
		done, err := d.Collect(ctx)
		if err != nil {
			return sent, err
		}
		tell(done)
		plan, err := d.Plan(ctx, d.ToServices(false))
		if err == nil {
			err = plan.Check(f.calls.Budget(), sent)
		}
		if err != nil {
			return sent, err
		}
		_, batches, err := d.Send(ctx, d.ToServices(false))
		if err != nil {
			return sent, err
		}
		before := sent
		sent.Add(plan.Most())
		for _, b := range batches {
			a.Sayf("%s of %s/%s: %s", table.Counted(b.Calls, "vote", "votes"), b.Provider, b.Model, strings.TrimSpace(string(b.Stage)+" "+untrusted.Terminal(b.Problem)))
		}
		out, err := d.Outstanding(ctx)
		switch {
		case err != nil || out == 0:
			return sent, err
		case !f.wait:
			a.Sayf("%s out by batch; give the same command again to take them back, or say --wait", table.Counted(out, "vote is", "votes are"))
			return sent, nil
		}
		done, err = d.Wait(ctx, time.Minute, func(t *batch.Taken, next time.Duration) {
			if n, back, failed := t.Progress(); next > 0 && !f.calls.Quiet {
				a.Sayf("%s of %s votes are back, %s of them failed; looking again in %s", table.Count(back), table.Count(n), table.Count(failed), next)
			}
		})
		if done != nil {
			tell(done)
		}
		if err != nil || done.Waiting > 0 {
			return sent, err
		}
		if took, ok := done.Spent(); ok {
			sent = before
			sent.Add(took)
		}
	}
	return sent, nil
}

// planModeration prints what the votes would take.
func (a app) planModeration(ctx context.Context, r *moderation.Run, f moderateFlags, prices price.Table, clients *client.Set) error {
	plans, err := command.Plans(ctx, f.store, r.Plan)
	if err != nil {
		return err
	}
	return evaluate.Planned{Plans: plans, Prices: prices, Asked: clients.Recipients()}.Print(a.Stdout, f.format)
}

// showModeration derives the labels, shows them and writes the files, from which some
// votes may be missing.
func (a app) showModeration(ctx context.Context, r *moderation.Run, memory store.Reader, f moderateFlags, unfinished bool) error {
	files := map[string]*moderation.Rows{}
	for path, changed := range map[string]bool{f.changed: true, f.all: false} {
		if path != "" {
			files[path] = moderation.NewRows(r, changed)
		}
	}
	result, err := r.Derive(ctx, memory, func(row moderation.Row) error {
		for _, rows := range files {
			rows.Add(row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for path, of := range f.files(r) {
		rows, lines := files[path], strings.EqualFold(filepath.Ext(path), ".jsonl")
		file, err := folder.CreateFile(path, of)
		if err != nil {
			return err
		}
		if err := rows.Write(file, lines); err != nil {
			return errors.Join(err, file.Discard())
		}
		if err := file.Finish(unfinished); err != nil {
			return err
		}
		a.Sayf("wrote %d prompts to %s", rows.Len(), path)
	}
	return a.Show(f.format, f.full, result)
}
