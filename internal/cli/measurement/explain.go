package measurement

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/identity"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
)

func (a app) explainCommand() *cobra.Command {
	var store string
	var printed command.Printed
	c := &cobra.Command{
		Use:   "explain [RUN [PROMPT-ID...]]",
		Short: "Say which calls of a run are remembered, and why others are asked again",
		Long: `Say for the calls of a stored run, those to its targets, their defenses and its
judges, how many are remembered, and for the others what in their identity differs
from the nearest call that is: the model, its address, the text of the message, the
system prompt, the temperature, the token limit, the number of the sample, the
wording of a judge's question, and so on. Of calls that were asked it says how they
differ from what other runs had asked before. Nothing is asked and nothing stored.

Without a name the newest run is explained. With the IDs of prompts, or their
beginnings, the calls of these are listed one by one.

For a command that has not run yet, give it --explain: "orbench eval ... --explain".`,
		Example: `  orbench explain
  orbench explain main
  orbench explain main p0a1b2c3d
  orbench eval --target openai/gpt-4o-mini --dataset xstest --explain`,
		RunE: func(c *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name, args = args[0], args[1:]
			}
			return a.explain(c.Context(), store, name, args, printed)
		},
	}
	printed.Register(c, command.Formats)
	a.StoreFlag(c, &store)
	return c
}

// explain explains the calls of a stored run.
func (a app) explain(ctx context.Context, at, name string, prompts []string, printed command.Printed) (err error) {
	memory, err := a.OpenReading(ctx, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	opened, err := a.OpenStudy(ctx, memory, at, name)
	if err != nil {
		return err
	}
	result, err := identity.Find(ctx, opened.Job, memory, prompts)
	if err != nil {
		return err
	}
	return a.Show(printed, result)
}

// explainPlan explains the calls that a measurement would make, of which the store may
// not be there yet.
func (a app) explainPlan(ctx context.Context, m measurement) error {
	var memory store.Reader
	existing, err := address.OpenExisting(ctx, m.asking.Store)
	switch {
	case err == nil:
		defer existing.Close()
		memory = existing
	case !errors.Is(err, store.ErrNoStore):
		return err
	}
	result, err := identity.Find(ctx, m.Job(), memory, nil)
	if err != nil {
		return err
	}
	// What is remembered was asked for another run.
	result.Causes = slices.DeleteFunc(result.Causes, func(c identity.Cause) bool { return c.Remembered })
	return a.Show(m.out.Printed, result)
}
