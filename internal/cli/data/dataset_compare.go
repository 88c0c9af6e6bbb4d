package data

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/overlap"
)

func (a app) datasetCompareCommand() *cobra.Command {
	var f datasetFlags
	var threshold float64
	var seed uint64
	var pairs string
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Find the prompts that two datasets share, and how varied each is",
		Long: `Compare two datasets, by name or as files. The output shows which prompts both have, word
for word (ignoring case and punctuation) or nearly; which of these have different labels;
and how varied each dataset is.

Every prompt is compared with every other; nothing is estimated. If both are files, the
flags for columns apply to both.`,
		Example: `  orbench dataset compare mine.csv or-bench-80k
  orbench dataset compare mine.csv xstest --threshold 0.7 --pairs shared.csv`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			var sets [2]*dataset.Dataset
			for i, ref := range args {
				var err error
				if sets[i], err = a.openDataset(c, ref, f); err != nil {
					return err
				}
			}
			result, err := overlap.Compare(c.Context(), sets[0], sets[1], threshold, seed)
			if err != nil {
				return err
			}
			if pairs != "" {
				if err := folder.WriteNew(pairs, result.WritePairs); err != nil {
					return err
				}
			}
			return a.Show(f.printed, result)
		},
	}
	command.ColumnFlags(c, &f.columns)
	flags := c.Flags()
	command.ShareFlag(c, &threshold, "threshold", fmt.Sprint(dataset.NearThreshold), "prompts are nearly the same if they share at least this `SHARE` of word sequences (Jaccard index)")
	flags.Uint64Var(&seed, "seed", 1, "`SEED` of the random samples")
	flags.StringVar(&pairs, "pairs", "", "also write the pairs of prompts, with their texts, to this new CSV `FILE`")
	f.printed.Register(c, command.Formats)
	return c
}
