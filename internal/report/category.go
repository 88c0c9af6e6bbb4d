package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// maxCategories is the most categories that tables and plots show for one
// dataset. JSON and CSV have all.
const maxCategories = 40

// mostRows is the greatest number of targets with which their variants are
// shown too.
const mostRows = 24

// grid is the refusal of several targets by category: the prompts of one label
// of one dataset, judged by one judge.
type grid struct {
	score.Scope
	// Caption names the dataset with its hash and limit.
	Caption    string
	Categories []orbench.Category
	// Dropped is how many categories are not shown.
	Dropped int
	// Rows has one entry for each target.
	Rows []gridRow
	// variants is how many variants are not shown.
	variants int
}

// gridRow is a target with its counts by category and over all categories.
type gridRow struct {
	Target    string
	Simulated bool
	Counts    map[orbench.Category]score.Count
	All       score.Count
	// variant is true if the target is a variant of another.
	variant bool
}

// namedGrids returns the grids of all judges, for datasets that name
// categories.
func namedGrids(r score.Result) []grid {
	return slices.DeleteFunc(gridsOf(r, nil), func(g grid) bool { return !g.Named() })
}

// gridsOf returns one grid for each label, dataset and judge, in the order of
// the labels and then of the result. judges limits the judges; nil means all.
func gridsOf(r score.Result, judges []string) []grid {
	var grids []grid
	for _, label := range r.Labels() {
		for run, j := range r.Judged() {
			if run.Label != label || judges != nil && !slices.Contains(judges, j.Judge) || j.Textless() {
				continue
			}
			of := run.Scope(j.Judge)
			g := table.Entry(&grids, grid{Scope: of, Caption: run.DatasetCaption()}, func(g grid) bool { return g.Scope == of })
			g.Rows = append(g.Rows, gridRow{
				Target: run.Target, variant: run.Base != "", Simulated: run.Simulated || j.Simulated, Counts: j.ByCategory, All: j.Count(),
			})
		}
	}
	for i := range grids {
		grids[i].plainOnly()
		grids[i].chooseCategories()
	}
	return grids
}

// chooseCategories lists the categories by name, with the nameless one last. If
// there are too many to show, it keeps the largest.
func (g *grid) chooseCategories() {
	sizes := map[orbench.Category]int{}
	for _, row := range g.Rows {
		for c, n := range row.Counts {
			sizes[c] += n.N
		}
	}
	g.Categories = slices.SortedFunc(maps.Keys(sizes), func(a, b orbench.Category) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
	})
	if n := len(g.Categories); n > maxCategories {
		g.Categories, g.Dropped = g.Categories[:maxCategories], n-maxCategories
	}
	slices.SortFunc(g.Categories, func(a, b orbench.Category) int {
		if a == "" || b == "" {
			return cmp.Compare(b, a)
		}
		return cmp.Compare(a, b)
	})
}

// Marked reports whether any category of any target stands out.
func (g *grid) Marked() bool {
	return slices.ContainsFunc(g.Rows, func(row gridRow) bool {
		return slices.ContainsFunc(g.Categories, func(c orbench.Category) bool { return row.Mark(c) != "" })
	})
}

// markNote explains the marks.
const markNote = "▲ and ▼: refused significantly more or less often than the target's other prompts (Fisher's exact test at 5%, Holm's correction over the categories)."

// Mark returns ▲ for a category that the target refuses significantly more
// often than its other prompts, ▼ for one that it refuses significantly less
// often, and otherwise "".
func (r gridRow) Mark(c orbench.Category) string {
	switch r.Counts[c].Outlier(r.All) {
	case 1:
		return "▲"
	case -1:
		return "▼"
	}
	return ""
}

// Named reports whether the dataset names categories at all.
func (g *grid) Named() bool {
	return len(g.Categories) > 1 || len(g.Categories) == 1 && g.Categories[0] != ""
}

// plainOnly leaves variants out if there are too many targets, and counts those
// left out.
func (g *grid) plainOnly() {
	if len(g.Rows) <= mostRows {
		return
	}
	plain := slices.DeleteFunc(slices.Clone(g.Rows), func(r gridRow) bool { return r.variant })
	if len(plain) > 0 {
		g.variants = len(g.Rows) - len(plain)
		g.Rows = plain
	}
}

// Title says what the shares are.
func (g grid) Title() string { return g.words().Of(table.LabelTitle(g.Label)) }

// Notes say what is left out and what the marks mean, in the words that fit the
// judge.
func (g grid) Notes() string { return g.words().Of(g.notes()) }

func (g grid) words() table.Words { return score.Words(nil, g.Judge) }

func (g *grid) notes() string {
	note := ""
	if g.variants > 0 {
		note = table.Count(g.variants) + " variants are left out here; JSON and CSV have all. "
	}
	if g.Marked() {
		note += markNote
	}
	return strings.TrimSpace(note)
}

// why says in words what a mark means, for readers who cannot see it.
func (r gridRow) why(c orbench.Category) string {
	how := "less"
	if r.Counts[c].Outlier(r.All) > 0 {
		how = "more"
	}
	return "refused significantly " + how + " often than the target's other prompts; p after Holm's correction: " + table.PValue(r.Counts[c].PHolm)
}
