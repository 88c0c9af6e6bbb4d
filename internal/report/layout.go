package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/stats"
)

// notChecked stands for the range of a rate whose judge nobody checked.
const notChecked = "not checked"

// layout is how figures become tables: one for what has the same keys each, with a row for what
// has the same keys rows, and its columns once for what has the same keys across.
type layout struct {
	// name is that of --table; several layouts may have one.
	name, title, note  string
	each, rows, across []string
	columns            []column
	// notes adds to the note what a result has to say of the figures.
	notes func(score.Result, []figure.Figure) string
	// judges is true if a cell shows all judges of the result, not only the rate to go by.
	// people is true if the table is by people's labels alone, and machines if by judges alone.
	judges, people, machines bool
	// order sorts the rows; nil for the order in which they come.
	order func(a, b line) int
}

// column shows figures of some measures. Its first cell has the measure's title as header
// unless head says another.
type column struct {
	measures []figure.Measure
	show     show
	head     string
	// part is the part of the figures; a layout with a key for parts has none. label is that
	// of their prompts, empty for any.
	part  string
	label orbench.Label
	// spare is left out where there is nothing to show, same where it shows what the first
	// column does. What weak columns show makes no row.
	spare, same, weak bool
	// opens chooses, of the answers that the keys choose, those that the number counts: pairs
	// of a parameter and its value.
	opens []string
}

// anyPart is the part of a column that shows the first of all parts.
const anyPart = "*"

// rates are the measures of a rate, by label.
var rates = []figure.Measure{figure.OverRefusal, figure.ToxicRefusal, figure.Refusal}

// of is a column of one measure.
func of(m figure.Measure, s show, head string) column {
	return column{measures: []figure.Measure{m}, show: s, head: head}
}

// show is the cells of a figure, nil for none, with the headers of all but the first.
type show struct {
	cells func(*figure.Figure) []string
	heads []string
}

// The ways to show a figure: how many it counts, its part of them, that part of all, its
// value, with the interval by verdicts, and with the range first.
var (
	ofN = shown(func(f *figure.Figure) string { return table.Count(f.N) })
	ofK = shown(func(f *figure.Figure) string { return table.Count(int(f.Count())) })
	// ofPart is ofK, where what does not exist is none.
	ofPart = show{cells: func(f *figure.Figure) []string {
		if f == nil {
			return []string{"0"}
		}
		return ofK.cells(f)
	}}
	ofBoth  = shown(func(f *figure.Figure) string { return table.Count(int(f.Count())) + " of " + table.Count(f.N) })
	valued  = shown(value)
	sampled = show{func(f *figure.Figure) []string { return []string{value(f), interval(f, f.Sampled())} }, []string{"95% interval"}}
	ranged  = show{func(f *figure.Figure) []string { return []string{value(f), rangeOf(f), interval(f, f.Sampled())} }, []string{"range", "by verdicts"}}
	compact = shown(func(f *figure.Figure) string {
		if f.Sampled() == nil {
			return table.None
		}
		return value(f) + " (" + interval(f, f.Sampled()) + ")"
	})
	tested = show{func(f *figure.Figure) []string {
		if f == nil {
			return []string{table.None, table.None, table.None, table.None}
		}
		return append(ranged.cells(f), table.PValue(f.P))
	}, []string{"range", "by verdicts", "p"}}
)

// shown is one cell, empty of what does not exist.
func shown(text func(*figure.Figure) string) show {
	return show{cells: func(f *figure.Figure) []string {
		if f == nil {
			return []string{table.None}
		}
		return []string{text(f)}
	}}
}

// value shows the value of a figure in its unit.
func value(f *figure.Figure) string {
	if f == nil || f.Value == nil {
		return table.None
	}
	e := &stats.Estimate{Value: *f.Value}
	switch figure.Meanings[f.Measure].Unit {
	case figure.Share:
		return table.Percent(*f.Value)
	case figure.Points:
		return table.Difference(e, table.Minus)
	}
	return table.Fractions(e)[0]
}

// interval shows an interval of a figure in its unit.
func interval(f *figure.Figure, e *stats.Estimate) string {
	switch {
	case e == nil:
		return table.None
	case figure.Meanings[f.Measure].Unit == figure.Share:
		return table.EstimateInterval(e)
	case figure.Meanings[f.Measure].Unit == figure.Points:
		return table.DifferenceInterval(e, table.Minus)
	}
	return table.Fractions(e)[1]
}

// rangeOf shows the range of a figure, or that nobody checked its judge, or people here alone, or
// that the rate is too rare for what is known of it.
func rangeOf(f *figure.Figure) string {
	switch {
	case f == nil || f.Sampling == nil && f.Range == nil:
		return table.None
	case f.Rare():
		return "not known"
	case f.Range == nil && f.Checked == figure.Here:
		return string(figure.Here)
	case f.Range == nil:
		return notChecked
	}
	return interval(f, &stats.Estimate{Lo: f.Range.Lo, Hi: f.Range.Hi})
}

// keyed are the keys of layouts: what a figure has for them.
var keyed = map[string]func(*names, *figure.Figure) string{
	"target": func(n *names, f *figure.Figure) string {
		return cmp.Or(n.targets[f.Target], table.Name(f.Target, f.Simulated))
	},
	"against":  func(_ *names, f *figure.Figure) string { return f.Other },
	"dataset":  func(n *names, f *figure.Figure) string { return cmp.Or(n.sets[setOf(f.Keys)], f.Dataset) },
	"datasets": func(_ *names, f *figure.Figure) string { return table.Datasets(f.Dataset, f.OtherDataset) },
	"set A":    func(_ *names, f *figure.Figure) string { return f.Dataset },
	"set B":    func(_ *names, f *figure.Figure) string { return f.OtherDataset },
	"label":    func(_ *names, f *figure.Figure) string { return string(f.Label) },
	"judge":    func(n *names, f *figure.Figure) string { return cmp.Or(n.judges[f.Judge], f.Judge, peoplesLabels) },
	"judge A":  func(_ *names, f *figure.Figure) string { return f.Judge },
	"judge B":  func(_ *names, f *figure.Figure) string { return f.Other },
	"column":   func(_ *names, f *figure.Figure) string { return f.Other },
	leftOutKey: func(_ *names, f *figure.Figure) string { return cmp.Or(f.Part, table.None) },
	"type":     categoryOf,
	"category": categoryOf,
	"reason":   func(_ *names, f *figure.Figure) string { return f.Part },
	"person":   func(_ *names, f *figure.Figure) string { return f.Part },
	"A":        func(_ *names, f *figure.Figure) string { return f.Part },
	"B":        func(_ *names, f *figure.Figure) string { return f.Other },
}

// categoryOf is the category of a figure, or that it is of all of them.
func categoryOf(_ *names, f *figure.Figure) string { return cmp.Or(string(f.Category), allCategories) }

// leftOutKey is the key of a part that may be none.
const leftOutKey = "left out"

// The keys that say of which part a figure is, and of which category.
var (
	keysOfParts      = []string{leftOutKey, "reason", "person", "A"}
	keysOfCategories = []string{"type", "category"}
)

// names are what targets, judges and sets are called in tables.
type names struct {
	targets, judges map[string]string
	sets            map[figure.Keys]string
	// variants are the targets, as they are called, that are variants of others.
	variants map[string]bool
}

// nameOf is what the target of a run is called.
func nameOf(run *score.RunResult) string { return table.Name(run.TargetCaption(), run.Simulated) }

// setOf are the keys of a set of prompts.
func setOf(k figure.Keys) figure.Keys {
	return figure.Keys{Dataset: k.Dataset, DatasetSHA256: k.DatasetSHA256, Limit: k.Limit}
}

func newNames(r score.Result) *names {
	n := &names{map[string]string{}, map[string]string{}, map[figure.Keys]string{}, map[string]bool{}}
	for i := range r.Runs {
		run := &r.Runs[i]
		n.targets[run.Target], n.sets[setOf(run.Keys(""))] = nameOf(run), run.DatasetCaption()
		n.variants[n.targets[run.Target]] = run.Base != ""
		for _, j := range run.Judges {
			n.judges[j.Judge] = table.Name(j.Judge, j.Simulated)
		}
	}
	return n
}

// laidOut is a table of figures.
type laidOut struct {
	table.Section
	name string
	// of are the keys of one of its figures.
	of figure.Keys
	// at are the figures of the cells of each row, and queries choose the answers that these
	// count.
	at      []map[int]*figure.Figure
	queries []map[int]page.Query
	// Sets are the groups with their names, if it is only one, and if the name is in the header.
	Sets []table.Group
	// opens is that of the page; see Page.Opens.
	opens func(page.Query) string
}

// Opens returns the address of the answers that a cell counts; empty for any other cell.
func (t laidOut) Opens(row, column int) string {
	q, ok := t.queries[row][column]
	count, _, _ := strings.Cut(strings.TrimLeft(t.Rows[row][column], "▲▼ "), "/")
	if !ok || t.opens == nil || count == "0" || count == table.None {
		return ""
	}
	return t.opens(q)
}

// figures are those of all cells, row by row, each once.
func (t laidOut) figures() (all []figure.Figure) {
	seen := map[*figure.Figure]bool{}
	for _, row := range t.at {
		for _, column := range slices.Sorted(maps.Keys(row)) {
			if f := row[column]; !seen[f] {
				seen[f], all = true, append(all, *f)
			}
		}
	}
	return all
}

// takes reports whether a column of the layout shows a figure.
func (l *layout) takes(c *column, f *figure.Figure) bool {
	keys := slices.Concat(l.each, l.rows, l.across)
	has := func(some []string) bool {
		return slices.ContainsFunc(some, func(key string) bool { return slices.Contains(keys, key) })
	}
	switch {
	case !slices.Contains(c.measures, f.Measure), c.label != "" && c.label != f.Label, l.people && f.Judge != "", l.machines && f.Judge == "" && !ofNobody(f), f.Category != "" && !has(keysOfCategories):
		return false
	case c.part == anyPart:
		return f.Part != ""
	case c.part == "" && has(keysOfParts):
		return f.Part != "" || slices.Contains(keys, leftOutKey)
	}
	return f.Part == c.part
}

// ofNobody reports whether nobody judged what a figure counts.
func ofNobody(f *figure.Figure) bool {
	return f.Judge == "" && (f.Measure == figure.Became || f.Measure == figure.Ended)
}

// line is what the keys of a row or a group of columns are shown as.
type line []string

func (l line) id() string { return strings.Join(l, "\x00") }

// without is the line without one of its cells.
func (l line) without(at int) line {
	if at < 0 {
		return l
	}
	return slices.Delete(slices.Clone(l), at, at+1)
}

// sheet is a table before its cells are written.
type sheet struct {
	first        *figure.Figure
	rows, groups []line
	// judged are the rows, without their judge, that have one.
	judged map[string]bool
	// at are the figures of each row and group, by column. What no judge says is in rows
	// without a judge.
	at map[[2]string]map[int][]*figure.Figure
	// size counts what each category rests on.
	size map[string]int
}

// sheets sorts figures into tables, in the order in which their keys come.
func (l *layout) sheets(n *names, all []figure.Figure) (sheets []*sheet) {
	keys := func(names []string, f *figure.Figure) line {
		return table.RowsOf(names, func(key string) string { return keyed[key](n, f) })
	}
	add := func(lines *[]line, one line) {
		table.Entry(lines, one, func(o line) bool { return slices.Equal(o, one) })
	}
	judge, by := slices.Index(l.rows, "judge"), map[string]*sheet{}
	for i := range all {
		f := &all[i]
		for k := range l.columns {
			if !l.takes(&l.columns[k], f) {
				continue
			}
			each, row, group := keys(l.each, f).id(), keys(l.rows, f), keys(l.across, f)
			s := by[each]
			if s == nil {
				s = &sheet{first: f, judged: map[string]bool{}, at: map[[2]string]map[int][]*figure.Figure{}, size: map[string]int{}}
				by[each], sheets = s, append(sheets, s)
			}
			where := [2]string{row.id(), group.id()}
			if judge >= 0 && ofNobody(f) {
				where[0], row[judge] = row.without(judge).id(), "none"
			} else {
				s.judged[row.without(judge).id()] = true
			}
			if !l.columns[k].weak {
				add(&s.rows, row)
				add(&s.groups, group)
			}
			if s.at[where] == nil {
				s.at[where] = map[int][]*figure.Figure{}
			}
			s.at[where][k] = append(s.at[where][k], f)
			s.size[keyed["category"](n, f)] += f.N
		}
	}
	for _, s := range sheets {
		s.rows = slices.DeleteFunc(s.rows, func(row line) bool { return judge >= 0 && row[judge] == "none" && s.judged[row.without(judge).id()] })
	}
	return sheets
}

// tables lays out figures.
func (l layout) tables(r score.Result, all []figure.Figure) (made []laidOut) {
	n := newNames(r)
	for _, s := range l.sheets(n, all) {
		t := laidOut{name: l.name, of: s.first.Keys, Section: table.Section{Title: l.titleOf(n, s.first), Note: l.note, Header: slices.Clone(l.rows), Left: len(l.rows), WrapNames: true}}
		if t.Note = strings.TrimSpace(t.Note + " " + l.shorten(s, n)); len(s.rows) == 0 || len(s.groups) == 0 {
			continue
		}
		if l.order != nil {
			slices.SortStableFunc(s.rows, l.order)
		}
		l.write(&t, s)
		if l.notes != nil {
			t.Note = strings.TrimSpace(t.Note + " " + strings.TrimSpace(l.notes(r, t.figures())))
		}
		t.Section = score.Words(r.Runs, r.Judges()...).Section(t.Section)
		made = append(made, t)
	}
	return made
}

// titleOf is the title of a table, with what all of it is of.
func (l *layout) titleOf(n *names, f *figure.Figure) string {
	if l.title == "" {
		return table.LabelTitle(f.Label)
	}
	title := l.title
	for _, key := range l.each {
		title += map[string]string{"label": ": ", "dataset": " of ", "judge": ", judge "}[key] + keyed[key](n, f) + map[string]string{"label": " prompts"}[key]
	}
	return title
}

// cell is the figure of a cell of a sheet, nil for none, and what it is shown as.
type cell struct {
	*figure.Figure
	texts []string
}

// cell is that of a column in a row of a group.
func (l *layout) cell(s *sheet, row, group line, column int) cell {
	show := l.columns[column].show.cells
	found := s.at[[2]string{row.id(), group.id()}][column]
	if len(found) == 0 {
		found = s.at[[2]string{row.without(slices.Index(l.rows, "judge")).id(), group.id()}][column]
	}
	if len(found) == 0 {
		return cell{nil, show(nil)}
	}
	texts := show(found[0])
	for _, other := range found[1:] {
		if l.judges && other.Judge != "" && found[0].Judge != "" {
			texts[0] += " / " + show(other)[0]
		}
	}
	return cell{found[0], texts}
}

// write writes the cells of a table, without columns that have nothing to show.
func (l *layout) write(t *laidOut, s *sheet) {
	cells := make([][]cell, len(s.rows))
	for y, row := range s.rows {
		t.Rows, t.at, t.queries = append(t.Rows, slices.Clone(row)), append(t.at, map[int]*figure.Figure{}), append(t.queries, map[int]page.Query{})
		for _, g := range s.groups {
			for k := range l.columns {
				cells[y] = append(cells[y], l.cell(s, row, g, k))
			}
		}
	}
	for i := range cells[0] {
		c, g := &l.columns[i%len(l.columns)], i/len(l.columns)
		if i%len(l.columns) == 0 {
			t.Sets = append(t.Sets, table.Group{Name: strings.Join(s.groups[g], ", ")})
		}
		empty, same := c.spare, c.same
		for _, row := range cells {
			text := row[i].texts[0]
			empty, same = empty && (text == "0" || text == table.None), same && text == row[0].texts[0]
		}
		if empty || same {
			continue
		}
		head := cmp.Or(c.head, figure.Meanings[c.measures[0]].Title)
		if len(l.columns) == 1 && len(l.across) > 0 {
			head = table.ShortenTarget(s.groups[g][0], gridName)
		}
		t.Header, t.Sets[g].Columns = append(append(t.Header, head), c.show.heads...), t.Sets[g].Columns+1+len(c.show.heads)
		for y, row := range cells {
			if f := row[i].Figure; f != nil {
				t.at[y][len(t.Rows[y])] = f
				if c.opens != nil {
					t.queries[y][len(t.Rows[y])] = answersOf(f.Keys).With(c.opens...)
				}
			}
			t.Rows[y] = append(t.Rows[y], row[i].texts...)
		}
	}
	if len(l.across) > 0 {
		t.Groups = slices.Clone(t.Sets)
	}
	for g := range t.Groups {
		if len(l.columns) == 1 {
			t.Groups[g].Name = "" // it is the header
		}
	}
}

// The most categories, and the most targets with which their variants are shown too. JSON and
// CSV have all.
const (
	maxCategories = 40
	mostTargets   = 24
)

// shorten sorts categories by name, those without one and all of them last, keeps the largest,
// and leaves variants of many targets out. It says what is left out.
func (l *layout) shorten(s *sheet, n *names) (note string) {
	for _, side := range []struct {
		keys  []string
		lines *[]line
	}{{l.rows, &s.rows}, {l.across, &s.groups}} {
		switch {
		case slices.Equal(side.keys, []string{"category"}):
			if left := largest(side.lines, s.size); left > 0 {
				note += table.Count(left) + " smaller categories are left out here; JSON and CSV have all. "
			}
		case slices.Equal(side.keys, []string{"target"}) && len(*side.lines) > mostTargets:
			plain := slices.DeleteFunc(slices.Clone(*side.lines), func(o line) bool { return n.variants[o[0]] })
			if left := len(*side.lines) - len(plain); left > 0 && len(plain) > 0 {
				*side.lines = plain
				note += table.Count(left) + " variants are left out here; JSON and CSV have all. "
			}
		case slices.Contains(side.keys, "type") && !slices.ContainsFunc(*side.lines, func(o line) bool { return !slices.Contains(o, allCategories) }):
			*side.lines = nil // the table of all pairs has them
		case slices.Contains(side.keys, "type") && len(*side.lines) > maxCategories:
			note += table.Count(len(*side.lines)-maxCategories) + " more are in JSON and CSV. "
			*side.lines = (*side.lines)[:maxCategories]
		}
	}
	return note
}

// largest sorts categories and keeps the largest, none if no category has a name. It returns
// how many are left out.
func largest(categories *[]line, size map[string]int) (left int) {
	named := slices.DeleteFunc(slices.Clone(*categories), func(o line) bool { return o[0] == allCategories })
	if len(named) == 0 {
		*categories = nil
		return 0
	}
	slices.SortStableFunc(named, func(a, b line) int { return cmp.Compare(size[b[0]], size[a[0]]) })
	if left = max(0, len(named)-maxCategories); left > 0 {
		named = named[:maxCategories]
	}
	none := table.Category("")
	slices.SortFunc(named, func(a, b line) int {
		if a[0] == b[0] || a[0] != none && b[0] != none {
			return cmp.Compare(a[0], b[0])
		}
		if a[0] == none {
			return 1
		}
		return -1
	})
	*categories = append(named, line{allCategories})
	return left
}

// classColumns are a column for each class of answers, and sourceColumns for each source of
// refusals.
func classColumns() []column {
	return table.RowsOf(orbench.Classes, func(c orbench.Class) column { return partOf(figure.Class, ofPart, page.ClassName(c), string(c)) })
}

func sourceColumns() (all []column) {
	for _, s := range score.Sources {
		one := partOf(figure.Source, ofPart, strings.ReplaceAll(string(s), "_", " "), string(s))
		own := s == score.Direct || s == score.Indirect || s == score.FromGuard
		one.weak = own
		all = append(all, one)
	}
	return all
}
