package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/batch"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model"
)

// batchCommand has what is done with calls that go out together.
func batchCommand(env *command.Env) *cobra.Command {
	b := app{env}
	return command.Group("batch", "Show and cancel the batches of a run", `Show the progress of a run's batches, or cancel them. "orbench eval --batch" submits the
calls of a run to the batch services of their providers, which make them within a day at
about half the price. "orbench eval --batch=DIR" writes the calls to files in
the format of OpenAI's batches instead; "vllm run-batch" or your own jobs make them. In
both cases, repeat the same command to collect the answers.

Submitted calls are not paid for again. Other commands wait for the batch and say so.`,
		b.status(), b.cancel())
}

// batchFlags are the flags that they share.
type batchFlags struct {
	store   string
	printed command.Printed
	// unasked has no server asked, whatever is out.
	unasked bool
	calls   command.Calls
}

func (b app) register(c *cobra.Command, f *batchFlags) {
	f.calls = command.DefaultCalls()
	b.StoreFlag(c, &f.store)
	f.calls.RegisterServers(c)
	f.printed.Register(c, command.TwoFormats)
}

// withManager opens a run of a store (the newest without a name) and does something with its
// batches. Servers are asked, which takes their keys, where a batch is out with a provider.
func (b app) withManager(ctx context.Context, f *batchFlags, names []string, do func(*batch.Manager) error) (err error) {
	prices, err := f.calls.Prices(nil)
	if err != nil {
		return err
	}
	memory, err := b.OpenExisting(ctx, f.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	s, err := b.OpenStudy(ctx, memory, f.store, strings.Join(names, ""))
	if err != nil {
		return err
	}
	d := &batch.Manager{Store: memory, Job: s.Job, Study: s.Study, Prices: prices, Now: time.Now}
	batches, err := d.Batches(ctx)
	if err != nil {
		return err
	}
	asked := func(x *batch.Batch) bool { return x.Open() && x.Service != batch.Files }
	f.calls.DryRun = f.unasked || !slices.ContainsFunc(batches, asked)
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

// calls is a number of calls in words.
func calls(n int) string { return table.Counted(n, "call", "calls") }

// batchTable is batches as a table.
func batchTable(batches []*batch.Batch) table.Section {
	s := table.Section{
		Header: []string{"batch", "model", "stage", "where", "calls", "answered", "failed", "waiting"}, Left: 4,
		Spare: []string{"where"}, WrapNames: true,
	}
	for _, x := range batches {
		stage := string(x.Stage)
		if x.Stage == batch.Out && x.Word != "" {
			stage += ", " + x.Word
		}
		s.Add(x.ID, x.Provider+"/"+x.Model, stage, cmp.Or(filepath.ToSlash(x.File), x.Remote, x.Service), x.Calls, x.Answered, x.Failed, x.Waiting())
	}
	return s
}

// sayProblems tells what keeps batches from going on.
func sayProblems(out io.Writer, batches []*batch.Batch) {
	for _, x := range batches {
		if x.Problem != "" && x.Open() {
			fmt.Fprintf(out, "batch %s: %s\n", x.ID, untrusted.Terminal(x.Problem))
		}
		if x.Lost > 0 {
			fmt.Fprintf(out, "to ask them again: orbench batch cancel %s --forget, then the command that submitted them\n", untrusted.Shell(x.Run))
		}
		if x.Overdue(time.Now()) {
			fmt.Fprintf(out, "to cancel it: orbench batch cancel %s; if its provider does not answer, add --forget\n", untrusted.Shell(x.Run))
		}
	}
}

func (b app) status() *cobra.Command {
	var f batchFlags
	c := &cobra.Command{
		Use:   "status [RUN]",
		Short: "Show the progress of a run's batches, and its other missing calls",
		Long: `Show the progress of a run's batches, as their providers report it now: how many calls
were answered, how many failed, and how many are still waiting. The newest run is the
default. The missing calls of the run that are in no batch are counted too.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			return b.withManager(c.Context(), &f, names, func(d *batch.Manager) error {
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
func (b app) showStatus(f batchFlags, s batch.Status) error {
	if f.printed.Format == "json" {
		return table.JSON(b.Stdout, s)
	}
	out := table.NewPrinter(b.Stdout, b.Screen(f.printed.Full))
	if len(s.Batches) > 0 {
		out.Section(batchTable(s.Batches))
		sayProblems(out, s.Batches)
	}
	fmt.Fprintf(out, "run %s: %s in batches or planned, %s in no batch", s.Run, calls(s.Out), table.Count(s.Ready))
	if s.Judging > 0 {
		fmt.Fprintf(out, ", and %s of judges, which are made when you repeat the command", table.Count(s.Judging))
	}
	fmt.Fprintln(out)
	if s.Further {
		fmt.Fprintln(out, "more calls will follow the replies: those of judges, and those of targets that are asked step by step. Repeat the command then.")
	}
	if s.Out+s.Ready+s.Judging == 0 {
		fmt.Fprintln(out, "no call is missing: the same command finishes without one")
	}
	return out.Flush()
}

func (b app) cancel() *cobra.Command {
	var f batchFlags
	c := &cobra.Command{
		Use:   "cancel [RUN]",
		Short: "Cancel the open batches of a run",
		Long: `Cancel the open batches of a run (by default the newest). Calls that were written to files
are free at once: you can ask them, or write them to other files. If answers to the old
files come later, --batch still collects them. A provider first finishes the
calls that it has begun. To collect their answers, which you pay for, and to free the
rest, repeat the command that submitted them, with --batch.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			return b.withManager(c.Context(), &f, names, func(d *batch.Manager) error {
				canceled, err := d.Cancel(c.Context(), f.unasked)
				if err != nil {
					return err
				}
				if f.printed.Format == "json" {
					return table.JSON(b.Stdout, append([]*batch.Batch{}, canceled...))
				}
				if len(canceled) == 0 {
					_, err := fmt.Fprintf(b.Stdout, "run %s has no open batch\n", d.Study.Name)
					return err
				}
				out := table.NewPrinter(b.Stdout, b.Screen(f.printed.Full))
				out.Section(batchTable(canceled))
				sayProblems(out, canceled)
				if slices.ContainsFunc(canceled, func(x *batch.Batch) bool { return x.Stage == batch.Out }) {
					fmt.Fprintln(out, "the provider first finishes the calls that it has begun. Then repeat the command with --batch: it collects their answers, which you pay for, and frees the rest.")
				}
				return out.Flush()
			})
		},
	}
	c.Flags().BoolVar(&f.unasked, "forget", false, "free the calls at once without asking the provider, such as when its key is lost; they may then be paid for twice")
	b.register(c, &f)
	return c
}
