package overlap

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// Stats writes a dataset's statistics for people.
func Stats(w io.Writer, set *dataset.Dataset, s dataset.Stats) error {
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintf(t, "name\t%s\n", untrusted.Terminal(set.Name))
	fmt.Fprintf(t, "source\t%s\n", untrusted.Terminal(set.Source))
	fmt.Fprintf(t, "sha256\t%s\n", set.SHA256)
	fmt.Fprintf(t, "prompts\t%d\n", set.Count)
	if set.LabelAssumed {
		fmt.Fprintf(t, "label\tassumed: nothing says what the prompts are, and all count as safe\n")
	}
	fmt.Fprintf(t, "repeated rows\t%d, of which %d with another label\n", set.Duplicates, set.Conflicts)
	fmt.Fprintf(t, "near-duplicates\t%d (Jaccard similarity of word sequences at least %g)\n", s.NearDuplicates, dataset.NearThreshold)
	if s.Pairs > 0 {
		fmt.Fprintf(t, "pairs\t%d of safe and toxic prompts by %s, of %d types\n", s.Pairs, untrusted.Terminal(set.PairedBy), s.PairTypes)
	}
	fmt.Fprintf(t, "characters\tmin %d, median %d, 95%% %d, max %d\n", s.Characters.Min, s.Characters.Median, s.Characters.P95, s.Characters.Max)
	v := s.Diversity
	fmt.Fprintf(t, "words\tmean %.1f, 5%% %d, median %d, 95%% %d\n", v.Words.Mean, v.Words.P5, v.Words.Median, v.Words.P95)
	fmt.Fprintf(t, "distinct-1, -2\t%.3f, %.3f\n", v.Distinct1, v.Distinct2)
	fmt.Fprintf(t, "Self-BLEU\t%.3f of %d prompts; lower is more varied\n", v.SelfBLEU, v.SelfBLEUTexts)
	fmt.Fprintf(t, "openers\t%s in %s, most common; effective number %.1f\n", untrusted.Terminal(v.TopOpener), table.Percent(v.TopOpenerShare), v.EffectiveOpeners)
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	var labels []orbench.Label
	for _, l := range orbench.Labels {
		if set.Labels[l] > 0 {
			labels = append(labels, l)
		}
	}
	header := []string{"category"}
	for _, l := range labels {
		header = append(header, string(l))
	}
	fmt.Fprintln(t, strings.Join(header, "\t"))
	for _, category := range slices.Sorted(maps.Keys(set.Categories)) {
		name := untrusted.Terminal(string(category))
		if name == "" {
			name = "(none)"
		}
		cells := []string{name}
		for _, l := range labels {
			cells = append(cells, fmt.Sprint(s.Counts[category][l]))
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}
