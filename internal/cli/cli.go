package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/cli/data"
	"github.com/orbench/orbench/internal/cli/measurement"
	"github.com/orbench/orbench/internal/fill"
)

// The exit codes, documented in docs/cli.md.
const (
	exitDone        = 0
	exitFailures    = 1
	exitInput       = 2
	exitBudget      = 3
	exitGate        = 4
	exitInterrupted = 130
)

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
	case errors.Is(err, command.ErrInterrupted):
		return exitInterrupted
	case errors.As(err, &budget):
		return exitBudget
	case errors.Is(err, command.ErrGate):
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
func Run(env command.Env) int {
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
			stop(command.ErrInterrupted)
		case <-finished:
			return
		}
		select {
		case <-signals:
			close(abort)
		case <-finished:
		}
	}()
	env.Abort = abort
	root := root(&env)
	root.SetArgs(env.Args)
	err := root.ExecuteContext(ctx)
	if err != nil && !errors.Is(err, command.ErrFailures) && !errors.Is(err, command.ErrGate) {
		fmt.Fprintln(env.Stderr, "orbench: "+command.ErrorText(err))
	}
	return ExitCode(err)
}

// root makes the command tree.
func root(env *command.Env) *cobra.Command {
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
		Version:       versionLine(),
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetVersionTemplate("{{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SuggestionsMinimumDistance = 2
	root.AddCommand(measurement.Commands(env)...)
	root.AddCommand(data.Commands(env)...)
	root.AddCommand(configCommand(env), doctorCommand(env), simCommand(env), versionCommand(env))
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
