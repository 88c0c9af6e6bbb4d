package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/batch"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model/replay"
)

// batchCommand has what is done with calls that go out together.
func batchCommand(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "batch",
		Short: "Have what a run lacks asked by batch, from files",
		Long: `Have the calls that a run lacks made by batch: they are written to files in the
format of OpenAI's batches, which "vllm run-batch" and jobs of one's own work through,
and what comes back is remembered like any answer. The same "orbench eval" then
finishes without a call.

A run is made by "orbench eval --save-only", which keeps it and asks nothing. Calls
that are out are not paid for again: other commands leave them to the batch and say
so, unless --ask-batched is given.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	b := batchCommands{env}
	c.AddCommand(b.submit(), b.status(), b.collect(), b.cancel())
	return c
}

// batchCommands are the commands below batch.
type batchCommands struct{ *command.Env }

// batchFlags are the flags that they share.
type batchFlags struct {
	store, format string
	full          bool
	calls         command.Calls
}

func (b batchCommands) register(c *cobra.Command, f *batchFlags) {
	f.calls = command.DefaultCalls()
	b.StoreFlag(c, &f.store)
	f.calls.RegisterServers(c)
	command.FormatFlag(c, &f.format, command.TwoFormats)
	command.FullFlag(c, &f.full)
}

// atDesk opens a run of a store (the newest without a name) and does something with its
// batches. unasked says that no server is asked, so that nobody needs a key.
func (b batchCommands) atDesk(ctx context.Context, f *batchFlags, names []string, unasked bool, do func(*batch.Desk, *memo.Memo) error) (err error) {
	if err := command.CheckFormat(f.format, command.TwoFormats); err != nil {
		return err
	}
	prices, err := f.calls.Prices()
	if err != nil {
		return err
	}
	memory, err := b.OpenExisting(ctx, f.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	name := ""
	if len(names) > 0 {
		name = names[0]
	}
	r, err := b.OpenRun(ctx, memory, f.store, name)
	if err != nil {
		return err
	}
	// A stored run is opened to be judged. Here its targets are asked too.
	r.Recorded = false
	f.calls.DryRun = unasked
	clients, err := b.Clients(f.calls, nil, nil)
	if err != nil {
		return err
	}
	for _, m := range r.Models() {
		if m.Provider == replay.Provider || clients.Classifies(m.Provider) {
			continue // nothing of these goes by batch
		}
		if _, err := clients.Model(m.Provider+"/"+m.Model, m.Endpoint); err != nil {
			return err
		}
	}
	return do(&batch.Desk{Memo: memory, Run: r, Clients: clients, Prices: prices, Now: time.Now, Say: b.Sayf}, memory)
}

func (b batchCommands) submit() *cobra.Command {
	var f batchFlags
	var to string
	var judges, dryRun bool
	c := &cobra.Command{
		Use:   "submit [RUN] --to DIR",
		Short: "Write the calls that a run lacks to files",
		Long: `Write the calls that a run lacks (the newest without a name) to a new folder, a
file for each model and each 50,000 calls or 200 MB. What is answered, or out in
another batch, is not among them; what failed is.

The calls of judges are left to "orbench eval", which makes them at once; --judges has
them go by batch too, as far as the answers are there. Calls that depend on replies,
as behind a defense or in a dialog, are submitted when these are there: submit again.`,
		Example: `  orbench eval --target vllm/my-model --dataset xstest --name batched --save-only
  orbench batch submit batched --dry-run
  orbench batch submit batched --to calls`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			if to == "" && !dryRun {
				return command.InputError("--to", "where to write the calls is not said", "name a new folder, such as calls")
			}
			return b.atDesk(c.Context(), &f, names, true, func(d *batch.Desk, _ *memo.Memo) error {
				if dryRun {
					plan, err := d.Plan(c.Context(), d.ToFiles(judges))
					if err != nil {
						return err
					}
					return b.showPlan(f, d, plan)
				}
				return b.write(c.Context(), f, d, judges, to)
			})
		},
	}
	c.Flags().StringVar(&to, "to", "", "new `DIR` to write the calls to")
	c.Flags().BoolVar(&judges, "judges", false, "have the calls of judges go by batch too, where the answers are there")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print the batches, calls, tokens and cost; send and write nothing")
	b.register(c, &f)
	return c
}

// write writes a run's calls to files, and says how to have them worked through.
func (b batchCommands) write(ctx context.Context, f batchFlags, d *batch.Desk, judges bool, to string) error {
	plan, batches, err := d.Write(ctx, d.ToFiles(judges), to)
	if err != nil {
		return err
	}
	if len(batches) == 0 {
		return b.showPlan(f, d, plan)
	}
	if err := b.showSubmitted(f, d, plan, batches); err != nil || f.format == "json" {
		return err
	}
	first := batches[0]
	b.Sayf("have them worked through, such as by\n  vllm run-batch -i %s -o %s --model %s\nand take the answers back:\n  orbench batch collect%s %s --from %s",
		untrusted.Shell(first.File), untrusted.Shell(strings.TrimSuffix(first.File, ".jsonl")+"-results.jsonl"), untrusted.Shell(first.Model),
		b.StoreArgument(f.store), d.Run.Name, untrusted.Shell(to))
	return nil
}

// showPlan shows what a submission would send.
func (b batchCommands) showPlan(f batchFlags, d *batch.Desk, plan batch.Plan) error {
	if f.format == "json" {
		return table.JSON(b.Stdout, plan)
	}
	if plan.Calls()+plan.Out == 0 && len(plan.Without) > 0 {
		w := plan.Without[0]
		return command.InputError("run "+d.Run.Name, fmt.Sprintf("no call of it can go by batch; of %s: %s", w.Model, w.Reason), "see what can in docs/batch.md")
	}
	s := table.Section{
		Header: []string{"model", "calls", "size", "input tokens", "output tokens", "cost"}, Left: 1,
	}
	for _, p := range plan.Parts {
		s.Rows = append(s.Rows, []string{
			p.Provider + "/" + p.Model, table.Count(p.Calls), size(p.Bytes), "about " + table.Count(p.InputTokens),
			"at most " + table.Count(p.MaxOutputTokens), atMost(d.Prices, p),
		})
	}
	out := table.NewPrinter(b.Stdout, b.Screen(f.full))
	if len(s.Rows) > 0 {
		out.Section(s)
	}
	b.explainPlan(out, d, plan, "to submit")
	return out.Flush()
}

// atMost is the most that a part of a plan costs, and by which discount.
func atMost(prices price.Table, p batch.Part) string {
	if p.MaxUSD == nil {
		return "unknown"
	}
	text := "at most " + table.Money(*p.MaxUSD)
	if discount, ok := prices.Discount(p.Provider, p.Model); ok && *p.MaxUSD > 0 {
		text += fmt.Sprintf(", %g of the list price", discount.Factor)
	}
	return text
}

// size is a number of bytes for people.
func size(n int64) string {
	if n < 100_000 {
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// explainPlan says in lines what a plan has and leaves out.
func (b batchCommands) explainPlan(out io.Writer, d *batch.Desk, plan batch.Plan, what string) {
	fmt.Fprintf(out, "%s calls %s in %d batches; run %s\n", table.Count(plan.Calls()), what, len(plan.Parts), d.Run.Name)
	if plan.Out > 0 {
		fmt.Fprintf(out, "%s more are out in batches already\n", table.Count(plan.Out))
	}
	for _, w := range plan.Without {
		fmt.Fprintf(out, "%s calls to %s are not among them: %s\n", table.Count(w.Calls), untrusted.Terminal(w.Model), w.Reason)
	}
	if plan.Judging > 0 {
		fmt.Fprintf(out, "%s calls of judges are left to orbench eval, which makes them at once; --judges has them go by batch\n", table.Count(plan.Judging))
	}
	if plan.Unwritten > 0 {
		fmt.Fprintf(out, "%s calls cannot be written in their model's format and count as failed\n", table.Count(plan.Unwritten))
	}
}

// showSubmitted shows what was submitted.
func (b batchCommands) showSubmitted(f batchFlags, d *batch.Desk, plan batch.Plan, batches []*batch.Batch) error {
	if f.format == "json" {
		return table.JSON(b.Stdout, batch.Submitted{Plan: plan, Batches: batches})
	}
	out := table.NewPrinter(b.Stdout, b.Screen(f.full))
	out.Section(batchTable(batches))
	b.explainPlan(out, d, plan, "submitted")
	return out.Flush()
}

// batchTable is batches as a table.
func batchTable(batches []*batch.Batch) table.Section {
	s := table.Section{
		Header: []string{"batch", "model", "stage", "where", "calls", "answered", "failed", "waiting"}, Left: 4,
		Spare: []string{"where"}, WrapNames: true,
	}
	for _, x := range batches {
		where := x.Service
		if x.File != "" {
			where = filepath.ToSlash(x.File)
		}
		s.Rows = append(s.Rows, []string{
			x.ID, x.Provider + "/" + x.Model, string(x.Stage), where,
			table.Count(x.Calls), table.Count(x.Answered), table.Count(x.Failed), table.Count(x.Waiting()),
		})
	}
	return s
}

func (b batchCommands) status() *cobra.Command {
	var f batchFlags
	c := &cobra.Command{
		Use:   "status [RUN]",
		Short: "Tell how far the batches of a run are, and what it lacks besides",
		Long: `Tell how far the batches of a run (the newest without a name) are: how many of their
calls were answered, how many failed, and how many have not come back; and which calls
the run lacks that are in no batch.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			return b.atDesk(c.Context(), &f, names, true, func(d *batch.Desk, _ *memo.Memo) error {
				s, err := d.Status(c.Context())
				if err != nil {
					return err
				}
				return b.showStatus(f, s)
			})
		},
	}
	b.register(c, &f)
	return c
}

// showStatus shows how far batches are, and what to do next.
func (b batchCommands) showStatus(f batchFlags, s batch.Status) error {
	if f.format == "json" {
		return table.JSON(b.Stdout, s)
	}
	out := table.NewPrinter(b.Stdout, b.Screen(f.full))
	if len(s.Batches) > 0 {
		out.Section(batchTable(s.Batches))
	}
	fmt.Fprintf(out, "run %s: %s calls are out, %s are in no batch", s.Run, table.Count(s.Out), table.Count(s.Ready))
	if s.Judging > 0 {
		fmt.Fprintf(out, ", and %s of judges, which orbench eval makes at once, or submit --judges by batch", table.Count(s.Judging))
	}
	fmt.Fprintln(out)
	if s.Further {
		fmt.Fprintln(out, "more calls become known when replies are there, those of judges and of targets that are asked step by step: submit again then")
	}
	if s.Out+s.Ready+s.Judging == 0 {
		fmt.Fprintln(out, "nothing is lacking: orbench eval finishes without a call")
	}
	return out.Flush()
}

func (b batchCommands) collect() *cobra.Command {
	var f batchFlags
	var from string
	c := &cobra.Command{
		Use:   "collect [RUN] --from DIR|FILE",
		Short: "Remember what has come back of the batches of a run",
		Long: `Remember what has come back of the batches of a run (the newest without a name), out
of all .jsonl and .json files of a folder, in any order: output files of "vllm
run-batch", and of whatever writes lines of the same form. Every answer counts, also
of a file that is cut or has lines that are none, and of a batch that was called off;
doing it again changes nothing. What failed is free for the next submit.

The exit code is 0 when nothing is out any more and nothing failed, and 1 otherwise.`,
		Example: `  orbench batch collect batched --from calls`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			if from == "" {
				return command.InputError("--from", "where the results are is not said", "name the folder with the files that came back")
			}
			return b.atDesk(c.Context(), &f, names, true, func(d *batch.Desk, m *memo.Memo) error {
				done, err := d.ReadFrom(c.Context(), from)
				if done == nil {
					return err
				}
				return errors.Join(err, b.collected(c.Context(), f, d, m, done))
			})
		},
	}
	c.Flags().StringVar(&from, "from", "", "`DIR or FILE` with the results")
	b.register(c, &f)
	return c
}

// collected shows what was taken back.
func (b batchCommands) collected(ctx context.Context, f batchFlags, d *batch.Desk, m *memo.Memo, done *batch.Taken) error {
	if done.Answered > 0 {
		typed := b.Command()
		if err := d.Run.Paid(context.WithoutCancel(ctx), m, typed, typed.Date); err != nil {
			return err
		}
	}
	show := func() error { return b.showCollected(f, d, done) }
	if f.format == "json" {
		show = func() error { return table.JSON(b.Stdout, done) }
	}
	if err := show(); err != nil {
		return err
	}
	if done.Failed+done.Unread+done.Unknown+done.Waiting > 0 {
		return command.ErrFailures
	}
	return nil
}

// showCollected shows it as text.
func (b batchCommands) showCollected(f batchFlags, d *batch.Desk, done *batch.Taken) error {
	out := table.NewPrinter(b.Stdout, b.Screen(f.full))
	if len(done.Batches) > 0 {
		out.Section(batchTable(done.Batches))
	}
	fmt.Fprintf(out, "%s answers for run %s, %s", table.Count(done.Answered), d.Run.Name, cost(done))
	if done.Blocked > 0 {
		fmt.Fprintf(out, "; %s of them were withheld by the provider", table.Count(done.Blocked))
	}
	fmt.Fprintln(out)
	for _, line := range []struct {
		n    int
		text string
	}{
		{done.Known, "results were remembered before"},
		{done.Failed - done.Unmade, "calls failed; orbench batch submit sends them again, and orbench report says why"},
		{done.Unmade, "calls were not made, and cost nothing; orbench batch submit sends them again"},
		{done.Unknown, "results are of no call of the run"},
		{done.Unread, "lines are no results:"},
	} {
		if line.n > 0 {
			fmt.Fprintf(out, "%s %s\n", table.Count(line.n), line.text)
		}
	}
	for _, fault := range done.Faults {
		fmt.Fprintf(out, "  %s\n", fault)
	}
	return out.Flush()
}

// cost says what was taken back costs.
func cost(done *batch.Taken) string {
	return fmt.Sprintf("%s input and %s output tokens, %s", table.Count(done.InputTokens), table.Count(done.OutputTokens), table.Price(done.USD, done.Unpriced))
}

func (b batchCommands) cancel() *cobra.Command {
	var f batchFlags
	c := &cobra.Command{
		Use:   "cancel [RUN]",
		Short: "Call off the batches of a run that are out",
		Long: `Call off the batches of a run (the newest without a name) that are out: their calls
are free again, for "orbench eval" and for the next submit. What files bring later is
still taken by collect --from.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			return b.atDesk(c.Context(), &f, names, true, func(d *batch.Desk, _ *memo.Memo) error {
				canceled, err := d.Cancel(c.Context())
				if err != nil {
					return err
				}
				if f.format == "json" {
					return table.JSON(b.Stdout, append([]*batch.Batch{}, canceled...))
				}
				if len(canceled) == 0 {
					_, err := fmt.Fprintf(b.Stdout, "no batch of run %s is out\n", d.Run.Name)
					return err
				}
				out := table.NewPrinter(b.Stdout, b.Screen(f.full))
				out.Section(batchTable(canceled))
				return out.Flush()
			})
		},
	}
	b.register(c, &f)
	return c
}
