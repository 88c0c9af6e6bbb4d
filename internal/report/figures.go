package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/stopping"
	"github.com/orbench/orbench/internal/table"
)

// maxCategories bounds the categories that tables and plots show of one dataset.
// JSON and CSV have all.
const maxCategories = 40

// Defined reports whether a side is there and anything of it was judged, so that
// there is a rate to show.
func Defined(s *score.Side) bool { return s != nil && s.Judge.Estimate() != nil }

// Pair is what the trade-off is about: the over-refusal and the toxic refusal of
// one target, by one judge.
type Pair struct{ score.Pair }

// PairsOf gives the two sides of each target, judge by judge.
func PairsOf(r score.Result) []Pair {
	var all []Pair
	for _, p := range r.Pairs() {
		all = append(all, Pair{p})
	}
	return all
}

// sides are those that the run has.
func (p Pair) sides() []*score.Side {
	return slices.DeleteFunc([]*score.Side{p.Safe, p.Toxic}, func(s *score.Side) bool { return s == nil })
}

// first is a side that the run has.
func (p Pair) first() score.RunResult { return p.sides()[0].Run }

// datasets names what the pair was measured on.
func (p Pair) datasets() string {
	sides := p.sides()
	return bothDatasets(sides[0].Run.Dataset, sides[len(sides)-1].Run.Dataset)
}

// Name is the pair's label in plots: its title, with the datasets where the title
// alone does not tell it from other pairs by its judge.
func (p Pair) Name() string {
	if p.Several {
		return p.title() + " (" + p.datasets() + ")"
	}
	return p.title()
}

// labeled reports whether people's labels correct both rates.
func (p Pair) labeled() bool {
	return p.Safe != nil && p.Toxic != nil && p.Safe.Run.Labeled != nil && p.Toxic.Run.Labeled != nil
}

// title is the target's name, with the number of its samples.
func (p Pair) title() string { return runTarget(p.first()) }

// Simulated reports whether a figure of the pair is simulated.
func (p Pair) Simulated() bool {
	return slices.ContainsFunc(p.sides(), func(s *score.Side) bool { return s.Run.Simulated || s.Judge.Simulated })
}

// Versions names the datasets behind the pair with their hashes.
func (p Pair) Versions() string {
	var names []string
	for _, s := range p.sides() {
		if name := DatasetName(s.Run); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " × ")
}

// labelsOf lists the labels that occur: the known ones in their order, then
// others by name.
func labelsOf(r score.Result) []orbench.Label {
	var labels, others []orbench.Label
	for _, l := range orbench.Labels {
		if slices.ContainsFunc(r.Runs, func(run score.RunResult) bool { return run.Label == l }) {
			labels = append(labels, l)
		}
	}
	for _, run := range r.Runs {
		if !slices.Contains(orbench.Labels, run.Label) && !slices.Contains(others, run.Label) {
			others = append(others, run.Label)
		}
	}
	slices.Sort(others)
	return append(labels, others...)
}

// heat is the refusal of several targets by category: the prompts of one label
// of one dataset, seen by one judge.
type heat struct {
	label orbench.Label
	// name is the dataset's own name, dataset the same with hash and limit.
	name, dataset string
	judge         string
	categories    []orbench.Category
	// dropped is how many categories more there are than shown.
	dropped int
	// rows has one entry for each target, with its counts by category and over
	// all of them.
	rows []heatRow
	// variants is how many variants more there are than shown.
	variants int
}

type heatRow struct {
	target string
	// variant is true for a variant of another target.
	variant   bool
	simulated bool
	counts    map[orbench.Category]score.Count
	all       score.Count
}

// heatsOf gives one heat for each label, dataset and judge, in the order of the
// labels and then of the result. judges limits which judges count; nil is all.
func heatsOf(r score.Result, judges []string) []heat {
	type key struct {
		dataset, sha, judge string
		limit               int
	}
	var heats []heat
	for _, label := range labelsOf(r) {
		index := map[key]int{}
		for _, run := range r.Runs {
			if run.Label != label {
				continue
			}
			for _, j := range run.Judges {
				if judges != nil && !slices.Contains(judges, j.Judge) {
					continue
				}
				k := key{run.Dataset, run.DatasetSHA256, j.Judge, run.Limit}
				i, ok := index[k]
				if !ok {
					i = len(heats)
					index[k] = i
					heats = append(heats, heat{label: label, name: run.Dataset, dataset: DatasetName(run), judge: j.Judge})
				}
				heats[i].rows = append(heats[i].rows, heatRow{
					target: run.Target, variant: run.Base != "", simulated: run.Simulated || j.Simulated, counts: j.ByCategory,
					all: j.Count(),
				})
			}
		}
	}
	for i := range heats {
		heats[i].plainOnly()
		heats[i].chooseCategories()
	}
	return heats
}

// chooseCategories lists the categories by name, the nameless one last, and only
// the largest ones where there are too many to show.
func (h *heat) chooseCategories() {
	sizes := map[orbench.Category]int{}
	for _, row := range h.rows {
		for c, n := range row.counts {
			sizes[c] += n.N
		}
	}
	for c := range sizes {
		h.categories = append(h.categories, c)
	}
	slices.SortFunc(h.categories, func(a, b orbench.Category) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
	})
	if n := len(h.categories); n > maxCategories {
		h.categories, h.dropped = h.categories[:maxCategories], n-maxCategories
	}
	slices.SortFunc(h.categories, func(a, b orbench.Category) int {
		if a == "" || b == "" {
			return cmp.Compare(b, a)
		}
		return cmp.Compare(a, b)
	})
}

// marked reports whether any category of any target stands out.
func (h *heat) marked() bool {
	return slices.ContainsFunc(h.rows, func(row heatRow) bool {
		for _, c := range h.categories {
			if row.mark(c) != "" {
				return true
			}
		}
		return false
	})
}

// markNote explains the marks.
const markNote = "▲ and ▼: refused significantly more or less often than the target's other prompts (Fisher's exact test at 5%, Holm's correction over the categories)."

// mark is ▲ for a category that the target refuses significantly more often than
// its other prompts, ▼ for one less often, and else empty.
func (r heatRow) mark(c orbench.Category) string {
	switch r.counts[c].Outlier(r.all) {
	case 1:
		return "▲"
	case -1:
		return "▼"
	}
	return ""
}

// named reports whether the dataset names categories at all.
func (h *heat) named() bool {
	return len(h.categories) > 1 || len(h.categories) == 1 && h.categories[0] != ""
}

// intervalNote says how intervals were made where that is not the usual way.
func intervalNote(r score.Result) string {
	var ended []stopping.End
	for _, run := range r.Runs {
		if run.Stopped != nil {
			ended = append(ended, stopping.End{Stopped: *run.Stopped, Dataset: run.Dataset, Label: run.Label, Asked: run.N / max(1, run.Samples), Of: run.Of})
		}
	}
	return strings.TrimSpace(clusterNote(r) + " " + stopping.Note(ended))
}

// clusterNote says for which datasets the intervals count that prompts share
// clusters, in one line; empty for none.
func clusterNote(r score.Result) string {
	var parts []string
	for _, run := range r.Runs {
		if !slices.ContainsFunc(run.Judges, func(j score.JudgeResult) bool { return j.CI95Clustered != nil }) {
			continue
		}
		what := table.Count(run.N) + " " + string(run.Label) + " prompts"
		if run.Samples > 0 {
			what = table.Count(run.N) + " answers to " + string(run.Label) + " prompts"
		}
		part := DatasetName(run) + " by " + run.ClusteredBy + " (" + what + ", " + table.Count(run.Clusters) + " clusters)"
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Intervals are clustered, as prompts of one cluster are not independent: " + strings.Join(parts, "; ") + "."
}
