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
	var store, out string
	var quiet bool
	printed := command.Printed{Format: "table"}
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
			dir, err := folder.Free(out)
			if err != nil {
				return err
			}
			x, err := experiment.Parse("demo", []byte("name: demo\ndatasets: [starter]\njudges: [lexical, llm:sim/judge]\n"+
				"targets: [sim/permissive, sim/relaxed, sim/balanced, sim/cautious, sim/strict, sim/prudish]\n"))
			if err != nil {
				return err
			}
			f := evalFlags{
				Asking: command.Asking{Store: store, Calls: command.DefaultCalls()},
				out:    command.Output{Printed: printed, Dir: dir, MostUnjudged: command.UsualUnjudged},
			}
			f.Calls.Quiet = quiet
			if err := a.eval(c.Context(), x, f); err != nil {
				return err
			}
			abs, err := filepath.Abs(filepath.Join(dir, "report.html"))
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Stdout, "Open the report: %s\n"+
				"Now yours: orbench eval --target vllm/MODEL --base-url URL --dataset starter\n", abs)
			return nil
		},
	}
	a.StoreFlag(c, &store)
	c.Flags().StringVar(&out, "out", filepath.Join("reports", "demo"), "write the report to `DIR`, or to DIR-2 and so on if it exists")
	printed.RegisterFull(c)
	c.Flags().BoolVar(&quiet, "quiet", false, "no progress")
	return c
}
