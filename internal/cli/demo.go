package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func (a *app) demoCommand() *cobra.Command {
	var store, out string
	var quiet bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Measure simulated models on the built-in prompts: no key, no network",
		Long: `Evaluate several simulated models, from permissive to prudish, on the built-in
dataset "starter" with two judges, and write a report with plots. It takes some
seconds, needs no key and no network, and spends nothing.

The models are simulated: the figures show what a report looks like and say
nothing about any real model.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := freeFolder(out)
			if err != nil {
				return err
			}
			f := evalFlags{
				targets:  []string{"sim/permissive,sim/relaxed,sim/balanced,sim/cautious,sim/strict,sim/prudish"},
				datasets: []string{"starter"}, judges: []string{"lexical", "llm:sim/judge"},
				temperature: "0", maxTokens: 1000, judgeMaxTokens: 1000, samples: 1, name: "demo", store: store,
				calls: defaultCallFlags(), out: outFlags{format: "table", out: dir, mostUnjudged: usualUnjudged},
			}
			f.calls.quiet = quiet
			if err := a.eval(c.Context(), f); err != nil {
				return err
			}
			abs, err := filepath.Abs(filepath.Join(dir, "report.html"))
			if err != nil {
				return err
			}
			fmt.Fprintf(a.env.Stdout, "\nThe models above are simulated. Open the report: %s\n", abs)
			return nil
		},
	}
	a.storeFlag(c, &store)
	c.Flags().StringVar(&out, "out", filepath.Join("reports", "demo"), "write the report to `DIR`, or to DIR-2 and so on where it exists")
	c.Flags().BoolVar(&quiet, "quiet", false, "no progress")
	return c
}

// freeFolder gives dir, or dir-2, dir-3 and so on where that exists, and makes
// the folder above it.
func freeFolder(dir string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return "", inputError("--out", "cannot make the folder: "+err.Error(), "name another")
	}
	for n := 1; ; n++ {
		free := dir
		if n > 1 {
			free = fmt.Sprintf("%s-%d", dir, n)
		}
		if _, err := os.Lstat(free); os.IsNotExist(err) {
			return free, nil
		} else if err != nil {
			return "", inputError("--out", err.Error(), "name another folder")
		}
	}
}
