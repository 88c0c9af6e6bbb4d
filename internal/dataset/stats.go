package dataset

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/similar"
)

// NearThreshold is the similarity from which Stats counts a prompt as a near duplicate:
// the Jaccard index of word triples of package similar. A text with one word changed in
// the middle of twelve (7/13) is past it. OR-Bench-Hard-1K has 10 prompts past it, all of
// them rewordings, and none past 0.7; XSTest has 29, most of them its intended contrasts.
const NearThreshold = 0.5

// Stats describes the prompts of a dataset.
type Stats struct {
	Prompts int `json:"prompts"`
	// Duplicates and Conflicts are as in Dataset.
	Duplicates int `json:"duplicates"`
	Conflicts  int `json:"conflicts"`
	// Counts has the number of prompts in each category with each label. Labels that a
	// category lacks are absent.
	Counts map[orbench.Category]map[orbench.Label]int `json:"counts"`
	// Pairs counts the pairs with both safe and toxic prompts in this dataset. PairTypes
	// counts the categories of their safe prompts. Both are 0 if there are no pairs.
	Pairs     int `json:"pairs,omitempty"`
	PairTypes int `json:"pair_types,omitempty"`
	// Characters are the lengths of the prompts' texts.
	Characters Lengths `json:"characters"`
	// NearDuplicates is the number of prompts that nearly repeat an earlier one.
	NearDuplicates int `json:"near_duplicates"`
	// Diversity says how varied the prompts are. Most of its measures depend on the
	// number of prompts.
	Diversity similar.Diversity `json:"diversity"`
}

// Lengths are quantiles of lengths in characters. They use the nearest rank: each is the
// length of some prompt.
type Lengths struct {
	Min    int `json:"min"`
	P25    int `json:"p25"`
	Median int `json:"median"`
	P75    int `json:"p75"`
	P95    int `json:"p95"`
	Max    int `json:"max"`
}

// Stats reads the prompts again and describes them. Unlike Open and Prompts it holds all
// of them in memory. Comparing 80,000 prompts takes about a second; the context cannot
// stop it once it has begun.
func (d *Dataset) Stats(ctx context.Context) (Stats, error) {
	s := Stats{
		Prompts: d.Count, Duplicates: d.Duplicates, Conflicts: d.Conflicts,
		Counts: map[orbench.Category]map[orbench.Label]int{},
	}
	prompts := make([]orbench.Prompt, 0, d.Count)
	texts := make([]string, 0, d.Count)
	lengths := make([]int, 0, d.Count)
	for p, err := range d.Prompts() {
		if err != nil {
			return Stats{}, err
		}
		if ctx.Err() != nil {
			return Stats{}, context.Cause(ctx)
		}
		if s.Counts[p.Category] == nil {
			s.Counts[p.Category] = map[orbench.Label]int{}
		}
		s.Counts[p.Category][p.Label]++
		prompts = append(prompts, p)
		texts = append(texts, p.Said())
		lengths = append(lengths, utf8.RuneCountInString(texts[len(texts)-1]))
	}
	s.Pairs, s.PairTypes = countPairs(prompts)
	s.Characters = quantiles(lengths)
	s.Diversity, _ = similar.DiversityOf(texts, NearThreshold, 1)
	s.NearDuplicates = s.Diversity.NearDuplicates
	return s, nil
}

// quantiles sorts the lengths; there must be at least one.
func quantiles(lengths []int) Lengths {
	slices.Sort(lengths)
	at := func(percent int) int {
		rank := (percent*len(lengths) + 99) / 100
		return lengths[max(rank, 1)-1]
	}
	return Lengths{Min: at(0), P25: at(25), Median: at(50), P75: at(75), P95: at(95), Max: at(100)}
}

// SizeCategory is the size category of the Hugging Face hub for a number of rows; see
// https://github.com/huggingface/hub-docs/blob/main/datasetcard.md.
func SizeCategory(rows int) string {
	names := []string{"n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M"}
	i := 0
	for least := 1000; i < len(names)-1 && rows >= least; least *= 10 {
		i++
	}
	return names[i]
}
