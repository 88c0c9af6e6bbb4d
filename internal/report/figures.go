package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
)

// maxCategories bounds the categories that tables and plots show of one dataset.
// JSON and CSV have all.
const maxCategories = 40

// side is one target's prompts of one label as one judge sees them.
type side struct {
	run   score.RunResult
	judge score.JudgeResult
}

// defined reports whether anything was judged, so that there is a rate to show.
func (s *side) defined() bool { return s != nil && s.judge.Rate != nil && s.judge.CI95 != nil }

// pair is what the trade-off is about: the over-refusal and the toxic refusal of
// one target, by one judge. One of the two is nil where the run lacks it.
type pair struct {
	target      string
	judge       string
	safe, toxic *side
	// several is true when the target has more than one pair by this judge, so
	// that its name alone does not tell them apart.
	several bool
}

// datasets names what the pair was measured on.
func (p pair) datasets() string {
	switch {
	case p.safe == nil:
		return p.toxic.run.Dataset
	case p.toxic == nil:
		return p.safe.run.Dataset
	}
	return bothDatasets(p.safe.run.Dataset, p.toxic.run.Dataset)
}

// name is the pair's label in plots and headlines.
func (p pair) name() string {
	if p.several {
		return p.title() + " (" + p.datasets() + ")"
	}
	return p.title()
}

// title is the target's name, with the number of its samples.
func (p pair) title() string {
	for _, s := range []*side{p.safe, p.toxic} {
		if s != nil {
			return runTarget(s.run)
		}
	}
	return p.target
}

func (p pair) simulated() bool {
	for _, s := range []*side{p.safe, p.toxic} {
		if s != nil && (s.run.Simulated || s.judge.Simulated) {
			return true
		}
	}
	return false
}

// pairsOf gives the two sides of each target, judge by judge.
func pairsOf(r score.Result) []pair {
	sideOf := func(s *score.Side) *side {
		if s == nil {
			return nil
		}
		return &side{run: s.Run, judge: s.Judge}
	}
	var all []pair
	for _, p := range r.Pairs() {
		all = append(all, pair{target: p.Target, judge: p.Judge, safe: sideOf(p.Safe), toxic: sideOf(p.Toxic), several: p.Several})
	}
	return all
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
					heats = append(heats, heat{label: label, name: run.Dataset, dataset: datasetName(run), judge: j.Judge})
				}
				heats[i].rows = append(heats[i].rows, heatRow{
					target: run.Target, variant: run.Base != "", simulated: run.Simulated || j.Simulated, counts: j.ByCategory,
					all: score.Count{N: j.Judged, Refused: j.Refused, CI95Clustered: j.CI95Clustered},
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

// shareOf is a count's rate and interval, nil when it is empty.
func shareOf(c score.Count) (*float64, *[2]float64) { return c.Share() }

// clusterNote says for which datasets the intervals count that prompts share
// clusters, in one line; empty for none.
func clusterNote(r score.Result) string {
	var parts []string
	for _, run := range r.Runs {
		if !slices.ContainsFunc(run.Judges, func(j score.JudgeResult) bool { return j.CI95Clustered != nil }) {
			continue
		}
		what := count(run.N) + " " + string(run.Label) + " prompts"
		if run.Samples > 0 {
			what = count(run.N) + " answers to " + string(run.Label) + " prompts"
		}
		part := datasetName(run) + " by " + run.ClusteredBy + " (" + what + ", " + count(run.Clusters) + " clusters)"
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Intervals are clustered, as prompts of one cluster are not independent: " + strings.Join(parts, "; ") + "."
}
