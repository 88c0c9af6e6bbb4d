package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/batch"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// batchCommand has what is done with calls that go out together.
func batchCommand(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "batch",
		Short: "Have what a run lacks asked by batch, at half the price",
		Long: `Have the calls that a run lacks made by batch: by the batch service of their
provider, within a day and at about half the price, or from files in the format of
OpenAI's batches, which "vllm run-batch" and jobs of one's own work through. What comes
back is remembered like any answer, and the same "orbench eval" then finishes without a
call.

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
	store   string
	printed command.Printed
	// unasked has no server asked, whatever is out.
	unasked bool
	calls   command.Calls
}

func (b batchCommands) register(c *cobra.Command, f *batchFlags) {
	f.calls = command.DefaultCalls()
	b.StoreFlag(c, &f.store)
	f.calls.RegisterServers(c)
	f.printed.Register(c, command.TwoFormats)
}

// atDesk opens a run of a store (the newest without a name) and does something with its
// batches. Servers are asked, which takes their keys, where sends is true or a batch is out
// with a provider.
func (b batchCommands) atDesk(ctx context.Context, f *batchFlags, names []string, sends bool, do func(*batch.Desk) error) (err error) {
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
	if ending := strings.ToLower(filepath.Ext(name)); ending == ".yaml" || ending == ".yml" {
		return command.InputError(name, "a run is named here, and a build cannot go by batch: each of its rounds depends on the replies to the one before",
			"orbench build asks at once; votes on the prompts of a finished dataset can go by batch: orbench moderate FILE --batch")
	}
	s, err := b.OpenStudy(ctx, memory, f.store, name)
	if err != nil {
		return err
	}
	d := &batch.Desk{Store: memory, Job: s.Job, Study: s.Study, Prices: prices, Now: time.Now}
	batches, err := d.Batches(ctx)
	if err != nil {
		return err
	}
	asked := func(x *batch.Batch) bool { return x.Open() && x.Service != batch.Files }
	f.calls.DryRun = f.unasked || !sends && !slices.ContainsFunc(batches, asked)
	if d.Clients, err = b.Clients(f.calls, nil, nil); err != nil {
		return err
	}
	for _, m := range s.Job.Refs() {
		if m.Provider == model.Replay || d.Clients.Classifies(m.Provider) {
			continue // nothing of these goes by batch
		}
		if _, err := d.Clients.Model(m.Provider+"/"+m.Model, m.Endpoint); err != nil {
			return err
		}
	}
	return do(d)
}

func (b batchCommands) submit() *cobra.Command {
	var f batchFlags
	var to string
	var judges, dryRun bool
	var limits fill.Budget
	c := &cobra.Command{
		Use:   "submit [RUN] [--to DIR]",
		Short: "Send the calls that a run lacks, to their providers or to files",
		Long: `Send the calls that a run lacks (the newest without a name) to the batch services of
their providers (openai, anthropic, google, together, mistral), or with --to to a new folder: a batch, or a
file, for each model, and another where the provider's limits are reached. What is
answered, or out in another batch, is not among them; what failed is. What a provider
does not take now stays planned, and the same command tries it again.

The calls of judges are left to "orbench eval", which makes them at once; --judges has
them go by batch too, as far as the answers are there. Calls that depend on replies,
as behind a defense or in a dialog, are submitted when these are there: submit again.`,
		Example: `  orbench eval --target openai/gpt-4o-mini --dataset xstest --name batched --save-only
  orbench batch submit batched --dry-run
  orbench batch submit batched --max-cost 5
  orbench batch submit batched --to calls`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			if math.IsNaN(limits.USD) || limits.USD < 0 {
				return command.InputError("--max-cost", "it is no number of dollars", "give one such as 5, or leave the flag out")
			}
			if limits.Requests < 0 || limits.Tokens < 0 {
				return command.InputError("--max-requests, --max-total-tokens", "the value is too small", "give a positive one, or leave the flag out")
			}
			return b.atDesk(c.Context(), &f, names, to == "" && !dryRun, func(d *batch.Desk) error {
				asked := d.ToServices(judges)
				if to != "" {
					asked = d.ToFiles(judges)
				}
				if dryRun || limits != (fill.Budget{}) {
					plan, err := d.Plan(c.Context(), asked)
					if err != nil {
						return err
					}
					expected, err := expectedOf(c.Context(), d, plan)
					if err != nil {
						return err
					}
					b.Sayf("%s", expected)
					spent, err := checkBudget(c.Context(), d, plan, limits)
					if line := spent.Line(limits); line != "" {
						b.Sayf("%s", settings.Rename(line, command.FlagName))
					}
					if err != nil || dryRun {
						return errors.Join(err, b.showPlan(f, d, plan))
					}
				}
				if to != "" {
					return b.write(c.Context(), f, d, asked, to)
				}
				return b.send(c.Context(), f, d, asked)
			})
		},
	}
	c.Flags().StringVar(&to, "to", "", "new `DIR` to write the calls to")
	c.Flags().BoolVar(&judges, "judges", false, "have the calls of judges go by batch too, where the answers are there")
	c.Flags().Float64Var(&limits.USD, "max-cost", 0, "submit nothing where the run could cost more than this many US `dollars` with the batches")
	c.Flags().IntVar(&limits.Tokens, "max-total-tokens", 0, "submit nothing where the run could use more than this many tokens with them")
	c.Flags().IntVar(&limits.Requests, "max-requests", 0, "submit nothing where the run would send more than this many requests with them")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print the batches, calls, tokens and cost; send and write nothing")
	b.register(c, &f)
	return c
}

// write writes a run's calls to files, and says how to have them worked through.
func (b batchCommands) write(ctx context.Context, f batchFlags, d *batch.Desk, asked batch.Asked, to string) error {
	plan, batches, err := d.Write(ctx, asked, to)
	if err != nil {
		return err
	}
	if len(batches) == 0 {
		return b.showPlan(f, d, plan)
	}
	if err := b.showSubmitted(f, d, plan, batches); err != nil || f.printed.Format == "json" {
		return err
	}
	first := batches[0]
	b.Sayf("have them worked through, such as by\n  vllm run-batch -i %s -o %s --model %s\nand take the answers back:\n  orbench batch collect%s %s --from %s",
		untrusted.Shell(first.File), untrusted.Shell(strings.TrimSuffix(first.File, ".jsonl")+"-results.jsonl"), untrusted.Shell(first.Model),
		b.StoreArgument(f.store), d.Study.Name, untrusted.Shell(to))
	return nil
}

// checkBudget refuses a plan with which the run could exceed a budget, and gives what was
// spent on the run before. Nothing is looked at where nothing is bounded.
func checkBudget(ctx context.Context, d *batch.Desk, plan batch.Plan, limits fill.Budget) (spent study.Spent, err error) {
	if limits == (fill.Budget{}) {
		return spent, nil
	}
	if spent, err = batch.Spent(ctx, d.Store, d.Study, d.Job, d.Prices); err != nil {
		return spent, err
	}
	before, err := spent.Of(limits)
	if err != nil {
		return spent, err
	}
	return spent, plan.Check(limits, before)
}

// expectedOf says in one line what a plan is expected to take, by the replies of its models
// that the store has.
func expectedOf(ctx context.Context, d *batch.Desk, plan batch.Plan) (string, error) {
	var plans []job.Plan
	for _, p := range plan.Parts {
		plans = append(plans, job.Plan{Provider: p.Provider, Model: p.Model, Calls: p.Calls, InputTokens: p.InputTokens, MaxOutputTokens: p.MaxOutputTokens})
	}
	err := job.Expect(ctx, d.Store, plans)
	return job.ExpectedLine(plans, d.Prices.Batch), err
}

// send hands a run's calls to the services of their providers.
func (b batchCommands) send(ctx context.Context, f batchFlags, d *batch.Desk, asked batch.Asked) error {
	plan, batches, err := d.Send(ctx, asked)
	if len(batches) == 0 {
		return errors.Join(err, b.showPlan(f, d, plan))
	}
	if err := errors.Join(err, b.showSubmitted(f, d, plan, batches)); err != nil {
		return err
	}
	if slices.ContainsFunc(batches, func(x *batch.Batch) bool { return x.Stage != batch.Out }) {
		b.Sayf("what was not taken is still planned, and the same command tries it again:\n  %s", b.CommandLine())
		return command.ErrFailures
	}
	b.Sayf("how far it is: orbench batch status%s %s; when it has ended: orbench batch collect%[1]s %[2]s", b.StoreArgument(f.store), d.Study.Name)
	return nil
}

// showPlan shows what a submission would send.
func (b batchCommands) showPlan(f batchFlags, d *batch.Desk, plan batch.Plan) error {
	if f.printed.Format == "json" {
		return table.JSON(b.Stdout, plan)
	}
	if plan.Calls()+plan.Out == 0 && len(plan.Without) > 0 {
		w := plan.Without[0]
		return command.InputError("run "+d.Study.Name, fmt.Sprintf("no call of it can go by batch; of %s: %s", w.Model, w.Reason), "see what can in docs/batch.md")
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
	out := table.NewPrinter(b.Stdout, b.Screen(f.printed.Full))
	if len(s.Rows) > 0 {
		out.Section(s)
	}
	b.explainPlan(out, d, plan, "to submit")
	return out.Flush()
}

// calls is a number of calls in words.
func calls(n int) string { return table.Counted(n, "call", "calls") }

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
	fmt.Fprintf(out, "%s %s in %s; run %s\n", calls(plan.Calls()), what, table.Counted(len(plan.Parts), "batch", "batches"), d.Study.Name)
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
	if f.printed.Format == "json" {
		return table.JSON(b.Stdout, batch.Submitted{Plan: plan, Batches: batches})
	}
	out := table.NewPrinter(b.Stdout, b.Screen(f.printed.Full))
	out.Section(batchTable(batches))
	sayProblems(out, batches)
	what := "submitted"
	if slices.ContainsFunc(batches, func(x *batch.Batch) bool { return x.Stage != batch.Out }) {
		what = "set apart"
	}
	b.explainPlan(out, d, plan, what)
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
		switch {
		case x.File != "":
			where = filepath.ToSlash(x.File)
		case x.Remote != "":
			where = x.Remote
		}
		stage := string(x.Stage)
		if x.Stage == batch.Out && x.Word != "" {
			stage += ", " + x.Word
		}
		s.Rows = append(s.Rows, []string{
			x.ID, x.Provider + "/" + x.Model, stage, where,
			table.Count(x.Calls), table.Count(x.Answered), table.Count(x.Failed), table.Count(x.Waiting()),
		})
	}
	return s
}

// sayProblems tells what keeps batches from going on.
func sayProblems(out io.Writer, batches []*batch.Batch) {
	for _, x := range batches {
		if x.Problem != "" && x.Open() {
			fmt.Fprintf(out, "batch %s: %s\n", x.ID, untrusted.Terminal(x.Problem))
		}
		if x.Overdue(time.Now()) {
			fmt.Fprintf(out, "call it off: orbench batch cancel %s; where its provider does not answer, give it up: orbench batch cancel %[1]s --forget\n", x.Run)
		}
	}
}

func (b batchCommands) status() *cobra.Command {
	var f batchFlags
	c := &cobra.Command{
		Use:   "status [RUN]",
		Short: "Tell how far the batches of a run are, and what it lacks besides",
		Long: `Tell how far the batches of a run (the newest without a name) are, as their providers
say now: how many of their
calls were answered, how many failed, and how many have not come back; and which calls
the run lacks that are in no batch.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			return b.atDesk(c.Context(), &f, names, false, func(d *batch.Desk) error {
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
	if f.printed.Format == "json" {
		return table.JSON(b.Stdout, s)
	}
	out := table.NewPrinter(b.Stdout, b.Screen(f.printed.Full))
	if len(s.Batches) > 0 {
		out.Section(batchTable(s.Batches))
		sayProblems(out, s.Batches)
	}
	fmt.Fprintf(out, "run %s: %s out or planned, %s are in no batch", s.Run, calls(s.Out), table.Count(s.Ready))
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
	var wait, quiet bool
	var every time.Duration
	c := &cobra.Command{
		Use:   "collect [RUN] [--wait | --from DIR|FILE]",
		Short: "Remember what has come back of the batches of a run",
		Long: `Remember what has come back of the batches of a run (the newest without a name): of
those that have ended at their provider, or with --from out of all .jsonl and .json
files of a folder, in any order, as "vllm run-batch" and whatever writes lines of the
same form leave them. Every answer counts, also of a batch that expired or was called
off, and of a file that is cut; doing it again changes nothing. What failed, and what
was not made, is free for the next submit.

--wait stays until the batches at providers have ended: it looks again after --every,
and less and less often, up to ten times that, while nothing moves. Interrupted, it
keeps what came back, and the same command goes on. It waits no longer for a batch
whose window ended an hour ago, or that the provider does not have.

The exit code is 0 when nothing is out any more and nothing failed, and 1 otherwise.`,
		Example: `  orbench batch collect batched
  orbench batch collect batched --wait
  orbench batch collect batched --from calls`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			switch {
			case wait && from != "":
				return command.InputError("--wait, --from", "files do not come by themselves", "give one of the two")
			case every < time.Millisecond:
				return command.InputError("--every", "the value is too small", "give one such as 1m, or leave the flag out")
			}
			return b.atDesk(c.Context(), &f, names, false, func(d *batch.Desk) error {
				take := d.Collect
				switch {
				case from != "":
					take = func(ctx context.Context) (*batch.Taken, error) { return d.ReadFrom(ctx, from) }
				case wait:
					take = func(ctx context.Context) (*batch.Taken, error) { return b.wait(ctx, d, every, quiet) }
				}
				done, err := take(c.Context())
				if done == nil {
					return err
				}
				return cmp.Or(err, b.collected(c.Context(), f, d, done))
			})
		},
	}
	c.Flags().StringVar(&from, "from", "", "`DIR or FILE` with the results")
	c.Flags().BoolVar(&wait, "wait", false, "wait until the batches at providers have ended")
	c.Flags().DurationVar(&every, "every", time.Minute, "with --wait, how long to wait before the next look, at first")
	c.Flags().BoolVar(&quiet, "quiet", false, "no progress")
	b.register(c, &f)
	return c
}

// wait takes back what comes until all has, and tells when something has moved.
func (b batchCommands) wait(ctx context.Context, d *batch.Desk, every time.Duration, quiet bool) (*batch.Taken, error) {
	last := ""
	done, err := d.Wait(ctx, every, func(t *batch.Taken, next time.Duration) {
		if next == 0 || quiet {
			return
		}
		all, back, failed := t.Progress()
		line := fmt.Sprintf("%s of %s back, %s of them failed", table.Count(back), calls(all), table.Count(failed))
		for _, x := range t.Batches {
			if x.Problem != "" && x.Open() {
				line += "; batch " + x.ID + ": " + untrusted.Terminal(x.Problem)
			}
		}
		if line != last {
			b.Sayf("%s; looking again in %s, and less and less often while nothing moves", line, next)
		}
		last = line
	})
	if errors.Is(err, command.ErrInterrupted) {
		b.Sayf("what came back is kept, and the batches go on; the same command waits again:\n  %s", b.CommandLine())
	}
	return done, err
}

// collected shows what was taken back.
func (b batchCommands) collected(ctx context.Context, f batchFlags, d *batch.Desk, done *batch.Taken) error {
	if done.Answered > 0 {
		typed := b.Command()
		if err := d.Study.Paid(context.WithoutCancel(ctx), d.Store, typed, typed.Date); err != nil {
			return err
		}
	}
	show := func() error { return b.showCollected(f, d, done) }
	if f.printed.Format == "json" {
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
	out := table.NewPrinter(b.Stdout, b.Screen(f.printed.Full))
	if len(done.Batches) > 0 {
		out.Section(batchTable(done.Batches))
		sayProblems(out, done.Batches)
	}
	fmt.Fprintf(out, "%s for run %s, %s", table.Counted(done.Answered, "answer", "answers"), d.Study.Name, cost(done))
	if done.Blocked > 0 {
		fmt.Fprintf(out, "; %s of them were withheld by the provider", table.Count(done.Blocked))
	}
	fmt.Fprintln(out)
	for _, line := range []struct {
		n               int
		one, many, text string
	}{
		{done.Known, "result was", "results were", "remembered before"},
		{done.Failed - done.Unmade, "call", "calls", "failed; orbench batch submit sends again what failed, and orbench report says why"},
		{done.Unmade, "call was", "calls were", "not made, and cost nothing; orbench batch submit sends again what was not made"},
		{done.Unknown, "result is", "results are", "of no call of the run"},
		{done.Unread, "line is", "lines are", "no result:"},
	} {
		if line.n > 0 {
			fmt.Fprintf(out, "%s %s\n", table.Counted(line.n, line.one, line.many), line.text)
		}
	}
	for _, fault := range done.Faults {
		fmt.Fprintf(out, "  %s\n", fault)
	}
	if done.Waiting > 0 {
		fmt.Fprintf(out, "%s not come back; collect again later, or have orbench batch cancel free them and what failed beside them\n",
			table.Counted(done.Waiting, "call has", "calls have"))
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
		Long: `Call off the batches of a run (the newest without a name) that are out. Calls in files
are free again at once, for "orbench eval" and for the next submit; what the files
bring later is still taken by collect --from. A provider first ends what it has begun:
collect then takes what was answered, which is paid for, and frees the rest.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			return b.atDesk(c.Context(), &f, names, false, func(d *batch.Desk) error {
				canceled, err := d.Cancel(c.Context(), f.unasked)
				if err != nil {
					return err
				}
				if f.printed.Format == "json" {
					return table.JSON(b.Stdout, append([]*batch.Batch{}, canceled...))
				}
				if len(canceled) == 0 {
					_, err := fmt.Fprintf(b.Stdout, "no batch of run %s is out\n", d.Study.Name)
					return err
				}
				out := table.NewPrinter(b.Stdout, b.Screen(f.printed.Full))
				out.Section(batchTable(canceled))
				sayProblems(out, canceled)
				if slices.ContainsFunc(canceled, func(x *batch.Batch) bool { return x.Stage == batch.Out }) {
					fmt.Fprintln(out, "the provider ends what it has begun; orbench batch collect then takes what was answered, which is paid for, and frees the rest")
				}
				return out.Flush()
			})
		},
	}
	c.Flags().BoolVar(&f.unasked, "forget", false, "free the calls at once without a word to the provider, as when its key is lost; asked again they may be paid for twice")
	b.register(c, &f)
	return c
}
