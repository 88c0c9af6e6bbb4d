package cli

import (
	"fmt"
	"maps"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/table"
)

// statsDocument lays out a dataset's statistics for people.
func statsDocument(set *dataset.Dataset, s dataset.Stats) (d table.Document) {
	v := s.Diversity
	facts := table.Section{Header: []string{"measure", "value"}, Left: 2, Rows: [][]string{
		{"name", set.Name},
		{"source", set.Source},
		{"sha256", set.SHA256},
		{"prompts", fmt.Sprint(set.Count)},
		{"repeated rows", fmt.Sprintf("%d, of which %d with another label", set.Duplicates, set.Conflicts)},
		{"near copies", fmt.Sprintf("%d (Jaccard similarity of word sequences at least %g)", s.NearDuplicates, dataset.NearThreshold)},
		{"characters", fmt.Sprintf("min %d, median %d, 95%% %d, max %d", s.Characters.Min, s.Characters.Median, s.Characters.P95, s.Characters.Max)},
		{"distinct-1, -2", fmt.Sprintf("%.3f, %.3f", v.Distinct1, v.Distinct2)},
		{"Self-BLEU", fmt.Sprintf("%.3f of %d prompts; lower is more varied", v.SelfBLEU, v.SelfBLEUTexts)},
		{"openers", fmt.Sprintf("%s in %s, most common; effective number %.1f", v.TopOpener, table.Percent(v.TopOpenerShare), v.EffectiveOpeners)},
	}}
	if s.Pairs > 0 {
		facts.Add("pairs", fmt.Sprintf("%d of safe and toxic prompts, of %d types", s.Pairs, s.PairTypes))
	}
	if set.LabelAssumed {
		facts.Note = "Nothing says what the prompts are: all count as safe."
	}
	labels := slices.DeleteFunc(slices.Clone(orbench.Labels), func(l orbench.Label) bool { return set.Labels[l] == 0 })
	counts := table.Section{Header: []string{"category"}, Left: 1}
	counts.Header = append(counts.Header, settings.Names(labels)...)
	for _, category := range slices.Sorted(maps.Keys(set.Categories)) {
		counts.Add(table.Category(category), table.RowsOf(labels, func(l orbench.Label) string { return fmt.Sprint(s.Counts[category][l]) }))
	}
	d.Sections(facts, counts)
	return d
}
