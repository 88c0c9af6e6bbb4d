package data

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/overlap"
)

func (a app) datasetCompareCommand() *cobra.Command {
	var f datasetFlags
	var threshold float64
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Find the prompts of a dataset that another has",
		Long: `Find the prompts of A that B has, word for word (ignoring case and punctuation) or nearly.
Both are named datasets or files. Every prompt is compared with every other; nothing is
estimated. If both are files, the flags for columns apply to both.`,
		Example: `  orbench dataset compare mine.csv or-bench-80k
  orbench dataset compare mine.csv xstest --threshold 0.7 --format csv`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			var sets [2]*dataset.Dataset
			for i, ref := range args {
				var err error
				if sets[i], err = a.openDataset(c, ref, f); err != nil {
					return err
				}
			}
			result, err := overlap.Compare(c.Context(), sets[0], sets[1], threshold)
			if err != nil {
				return err
			}
			return a.Show(f.printed, result)
		},
	}
	command.ColumnFlags(c, &f.columns)
	command.ShareFlag(c, &threshold, "threshold", fmt.Sprint(dataset.NearThreshold), "prompts are nearly the same if they share at least this `SHARE` of word sequences (Jaccard index)")
	f.printed.Register(c, command.Formats)
	return c
}
