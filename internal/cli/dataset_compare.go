package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/training"
)

func (a app) datasetCompareCommand() *cobra.Command {
	var printed command.Printed
	var threshold float64
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Find the prompts of a dataset that another has",
		Long: `Find the prompts of A that B has, word for word (ignoring case and punctuation) or nearly.
Both are named datasets or files, and A may be a folder of files. Files are read like training
data: "orbench export --check".
Every prompt is compared with every other; nothing is estimated.`,
		Example: `  orbench dataset compare mine.csv or-bench-80k
  orbench dataset compare mine.csv xstest --threshold 0.7 --format csv`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			against, err := training.Only(c.Context(), args[1:], a.CacheDir(), threshold)
			if err != nil {
				return err
			}
			result, err := training.Compare(c.Context(), args[0], a.CacheDir(), against, nil)
			if err != nil {
				return err
			}
			return a.Show(printed, result)
		},
	}
	command.ShareFlag(c, &threshold, "threshold", fmt.Sprint(dataset.NearThreshold), "prompts are nearly the same if they share at least this `SHARE` of word sequences (Jaccard index)")
	printed.Register(c, command.Formats)
	return c
}
