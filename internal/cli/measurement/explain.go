package measurement

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/identity"
	"github.com/orbench/orbench/internal/store"
)

func (a app) explainCommand() *cobra.Command {
	var f evalFlags
	c := &cobra.Command{
		Use:   "explain [RUN [PROMPT-ID...]] | --target PROVIDER/MODEL --dataset NAME|FILE",
		Short: "Explain which calls of a run are remembered, and why others are asked again",
		Long: `Explain which calls of a stored run are remembered and why the others would be asked
again. It covers the calls to targets, to their defenses and to judges. For each missing
call it shows what differs from the nearest remembered one: the model, its address, the
message, the system prompt, the temperature, the token limit, the sample number, the
wording of a judge's question, and so on. For a call that was made it shows how it differs
from earlier calls of other runs. Nothing is asked and nothing is stored.

Without a name the newest run is explained. Give IDs of prompts, or the beginnings of
IDs, to list their calls one by one.

To explain a run before it is made, give the flags of "orbench eval".`,
		Example: `  orbench explain
  orbench explain main
  orbench explain main p0a1b2c3d
  orbench explain --target openai/gpt-4o-mini --dataset xstest`,
		RunE: func(c *cobra.Command, args []string) error {
			beside := said(c)
			switch {
			case f.config == "" && len(beside) == 0:
				return a.explain(c.Context(), f, args)
			case len(args) > 0:
				return command.InputError(args[0], "a run and what to ask are both given", "give one of the two")
			}
			x, err := experiment.Load(f.config, beside...)
			if err != nil {
				return err
			}
			return a.explainNew(c.Context(), x, f)
		},
	}
	f.registerExperiment(c)
	f.out.Printed.Register(c, command.Formats)
	a.StoreFlag(c, &f.Store)
	f.Calls.RegisterServers(c)
	return c
}

// explain explains the calls of a stored run: all, or those about some prompts.
func (a app) explain(ctx context.Context, f evalFlags, args []string) (err error) {
	memory, err := a.OpenReading(ctx, f.Store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	name, prompts := "", args
	if len(args) > 0 {
		name, prompts = args[0], args[1:]
	}
	opened, err := a.OpenStudy(ctx, memory, f.Store, name)
	if err != nil {
		return err
	}
	result, err := identity.Find(ctx, opened.Job, memory, prompts)
	if err != nil {
		return err
	}
	return a.Show(f.out.Printed, result)
}

// explainNew explains the calls that an experiment would make, of which the store may
// not be there yet.
func (a app) explainNew(ctx context.Context, x *experiment.File, f evalFlags) error {
	f.Calls.DryRun = true // no key is wanted
	m, err := a.newMeasurement(ctx, x, f)
	if err != nil {
		return err
	}
	return a.WithExisting(ctx, f.Store, func(memory store.Reader) error {
		result, err := identity.Find(ctx, m.Job(), memory, nil)
		if err != nil {
			return err
		}
		// What is remembered was asked for another run.
		result.Causes = slices.DeleteFunc(result.Causes, func(c identity.Cause) bool { return c.Remembered })
		return a.Show(f.out.Printed, result)
	})
}
