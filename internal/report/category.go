package report

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
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
	figure.Keys
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
			g := table.Entry(&grids, grid{Keys: of, Caption: run.DatasetCaption()}, func(g grid) bool { return g.Keys == of })
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

// Sections lays out the grid with a line for each category and a column for
// each target, in as many tables as are needed to stay within table.MaxWidth.
func (g *grid) Sections() []table.Section {
	names := make([]string, len(g.Categories))
	widest := len("category")
	for i, c := range g.Categories {
		names[i] = table.Category(c)
		widest = max(widest, untrusted.Width(untrusted.Terminal(names[i])))
	}
	var sections []table.Section
	for first := 0; first < len(g.Rows); {
		s := table.Section{
			Title:  "By category (refused/judged, rate, 95% range): " + string(g.Label) + " prompts of " + g.Caption + ", judge " + g.Judge,
			Header: []string{"category"},
			Left:   1,
			Rows:   make([][]string, len(names)+1),
		}
		if g.Dropped > 0 {
			s.Note = table.Count(g.Dropped) + " smaller categories are left out here; JSON and CSV have all."
		}
		s.Note = strings.TrimSpace(s.Note + " " + g.notes())
		for i, name := range append(names, "all") {
			s.Rows[i] = []string{name}
		}
		used := widest
		for ; first < len(g.Rows); first++ {
			row := g.Rows[first]
			name := table.Name(table.ShortenTarget(row.Target, gridName), row.Simulated)
			column := []string{name}
			for _, c := range g.Categories {
				column = append(column, strings.TrimSpace(row.Mark(c)+" "+cell(row.Counts[c])))
			}
			column = append(column, cell(row.All))
			need := 0
			for _, text := range column {
				need = max(need, untrusted.Width(text))
			}
			if len(s.Header) > 1 && used+2+need > table.MaxWidth {
				break
			}
			used += 2 + need
			s.Header = append(s.Header, column[0])
			for i, text := range column[1:] {
				s.Rows[i] = append(s.Rows[i], text)
			}
		}
		sections = append(sections, s)
	}
	return sections
}

// cell returns the counts behind a rate, the rate and its interval.
func cell(c score.Count) string {
	r := c.Rate()
	if r.Share == nil {
		return "–"
	}
	text := strconv.Itoa(c.Refused) + "/" + strconv.Itoa(c.N) + " " + table.Pad(table.Rate(r), 6, true)
	if in := rangeIn(c); in != "" {
		text += " " + table.Pad(in, 10, true)
	}
	return text
}

// rangeIn shows the range of a rate, empty where nobody checked the judge.
func rangeIn(c score.Count) string {
	if c.Range == nil {
		return ""
	}
	return table.Interval(&[2]float64{c.Range.Lo, c.Range.Hi})
}

// categoryPlot draws refusal by category as one judge sees it: a panel for each
// label of each dataset, a row for each target, a column for each category. It
// reports false if no dataset names categories.
func categoryPlot(r score.Result, judge string) (chart.Figure, bool) {
	m := chart.HeatMap{Note: score.Words(nil, judge).Of("Each cell: share refused, refused / judged, and the 95% range in per cent, none where nobody checked the judge. ")}
	marked := false
	for _, g := range gridsOf(r, []string{judge}) {
		if g.Named() {
			m.Panels = append(m.Panels, g.panel())
			marked = marked || g.Marked()
		}
	}
	if len(m.Panels) == 0 {
		return chart.Figure{}, false
	}
	if marked {
		m.Note += "Triangles: significantly more or less often than the target's other prompts."
	}
	return m.Figure(), true
}

// panel lays out the grid for the plot.
func (g *grid) panel() chart.HeatPanel {
	p := chart.HeatPanel{
		Title: g.Title(), Note: "Dataset " + untrusted.Terminal(g.Caption) + ", judge " + untrusted.Shorten(g.Judge, 50),
		Ramp: rampOf(g.Label),
	}
	if g.Dropped > 0 {
		p.Note += "; the " + strconv.Itoa(len(g.Categories)) + " largest of " + strconv.Itoa(len(g.Categories)+g.Dropped) + " categories"
	}
	if g.variants > 0 {
		p.Note += "; without " + table.Count(g.variants) + " variants"
	}
	for _, c := range g.Categories {
		p.Columns = append(p.Columns, untrusted.Shorten(table.Category(c), 24))
	}
	p.Columns = append(p.Columns, "all")
	for _, row := range g.Rows {
		p.Names = append(p.Names, table.Name(table.ShortenTarget(row.Target, 40), row.Simulated))
		var cells []chart.HeatCell
		for _, c := range g.Categories {
			cell := heatCell(row.Counts[c])
			cell.Mark = map[string]chart.Mark{"▲": chart.Triangle, "▼": chart.TriangleDown}[row.Mark(c)]
			cells = append(cells, cell)
		}
		p.Cells = append(p.Cells, append(cells, heatCell(row.All)))
	}
	return p
}

func heatCell(n score.Count) chart.HeatCell {
	r := n.Rate()
	return chart.HeatCell{Share: r.Share, Counts: strconv.Itoa(n.Refused) + " / " + strconv.Itoa(n.N), Interval: rangeIn(n)}
}

// rampOf returns the colors for the refusal of prompts of a label: refusing
// safe prompts is bad.
func rampOf(label orbench.Label) chart.Ramp {
	if label == orbench.Safe {
		return chart.Bad
	}
	return chart.Good
}
