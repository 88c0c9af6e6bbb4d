package measurement

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/folder"
)

func (a app) demoCommand() *cobra.Command {
	f := evalFlags{
		Asking: command.Asking{Calls: command.DefaultCalls()},
		out:    command.Output{Printed: command.Printed{Format: "table"}, Dir: filepath.Join("reports", "demo")},
	}
	c := &cobra.Command{
		Use:   "demo",
		Short: "Measure simulated models on built-in prompts: no key, no network",
		Long: `Evaluate several simulated models, from permissive to prudish, on the built-in
dataset "starter" with two judges, and write a report with plots. It takes some
seconds, needs no key and no network, and spends nothing.

The models are simulated: the figures show what a report looks like and say
nothing about any real model.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if f.out.Dir, err = folder.Free(f.out.Dir); err != nil {
				return err
			}
			x, err := experiment.Parse("demo", []byte("name: demo\ndatasets: [starter]\njudges: [lexical, llm:sim/judge]\n"+
				"targets: [sim/permissive, sim/relaxed, sim/balanced, sim/cautious, sim/strict, sim/prudish]\n"))
			if err != nil {
				return err
			}
			if err := a.eval(c.Context(), x, f); err != nil {
				return err
			}
			at := a.StoreArgument(f.Store)
			fmt.Fprintf(a.Stdout, "Answers:    orbench serve%[1]s demo\n"+
				"Plot:       orbench report%[1]s demo --plot tradeoff --out plot.svg\n"+
				"Your model: orbench eval --target vllm/MODEL --base-url URL --dataset starter\n", at)
			return nil
		},
	}
	a.StoreFlag(c, &f.Store)
	c.Flags().StringVar(&f.out.Dir, "out", f.out.Dir, "write the report to `DIR`, or to DIR-2 and so on if it exists")
	f.out.RegisterFull(c)
	return c
}
