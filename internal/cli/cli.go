package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/fill"
)

// Env is the world that a command runs in.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
}

// The exit codes, documented in docs/cli.md.
const (
	exitDone        = 0
	exitFailures    = 1
	exitInput       = 2
	exitBudget      = 3
	exitGate        = 4
	exitInterrupted = 130
)

// errInterrupted is the cause of a context that a signal ended.
var errInterrupted = errors.New("interrupted")

// errFailures says that a command did its work and some calls failed; what
// failed has been said already.
var errFailures = errors.New("finished with failures")

// errGate says that a comparison was made and a gate failed or could not be
// decided; which has been said already.
var errGate = errors.New("a gate failed")

// usageError is a wrong flag or argument, as cobra reports it.
type usageError struct{ err error }

func (e usageError) Error() string        { return e.err.Error() }
func (e usageError) Is(target error) bool { return target == orbench.ErrInput }

// ExitCode gives the exit code for what a command returned.
func ExitCode(err error) int {
	var budget *fill.BudgetError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.As(err, &budget):
		return exitBudget
	case errors.Is(err, errGate):
		return exitGate
	case errors.Is(err, orbench.ErrInput):
		return exitInput
	}
	return exitFailures
}

// Run runs one command line and returns its exit code.
//
// The first interrupt (SIGINT or SIGTERM) ends the context: the command
// finishes what is under way and saves it. The second abandons that too.
func Run(args []string, env Env) int {
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	abort := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	finished := make(chan struct{})
	defer close(finished)
	go func() {
		select {
		case <-signals:
			stop(errInterrupted)
		case <-finished:
			return
		}
		select {
		case <-signals:
			close(abort)
		case <-finished:
		}
	}()
	a := &app{env: env, abort: abort, args: args}
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && !errors.Is(err, errFailures) && !errors.Is(err, errGate) {
		fmt.Fprintln(env.Stderr, "orbench: "+errorText(err))
	}
	return ExitCode(err)
}

// app is what the commands share.
type app struct {
	env   Env
	abort <-chan struct{}
	args  []string
}

// root makes the command tree.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "orbench",
		Short: "Measure how often a language model refuses what it should answer",
		Long: `orbench asks language models safe prompts that sound alarming and toxic ones
that should be refused, keeps every answer it paid for, decides which answers
are refusals, and reports over-refusal (safe prompts refused, lower is better)
against toxic refusal (toxic prompts refused, higher is better).

Start with "orbench demo": it needs no key and no network.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(a.env.Stdin)
	root.SetOut(a.env.Stdout)
	root.SetErr(a.env.Stderr)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SuggestionsMinimumDistance = 2
	root.AddCommand(
		a.evalCommand(), a.judgeCommand(), a.reportCommand(), a.labelCommand(), a.compareCommand(), a.datasetCommand(), a.auditCommand(),
		a.buildCommand(), a.configCommand(),
		a.paperCommand(),
		a.demoCommand(), a.simCommand(), a.doctorCommand(), a.versionCommand(),
	)
	wrapUsage(root)
	return root
}

// wrapUsage turns every wrong flag and argument into a usageError that points to
// the help.
func wrapUsage(c *cobra.Command) {
	hint := func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see %q", err, c.CommandPath()+" --help")}
	}
	c.SetFlagErrorFunc(hint)
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return hint(c, err)
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		wrapUsage(sub)
	}
}

// sayf writes one line to standard error.
func (a *app) sayf(format string, args ...any) {
	fmt.Fprintf(a.env.Stderr, format+"\n", args...)
}

// inputError is short for an *orbench.InputError.
func inputError(where, problem, hint string) error {
	return &orbench.InputError{File: where, Problem: problem, Hint: hint}
}
