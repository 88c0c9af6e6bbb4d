package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/report/tradeoff"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

//go:embed page.html
var pageTemplate string

// reportPage is the data that page.html shows.
type reportPage struct {
	page.Frame
	Heading, Cost, Source, Comparability string
	// Linked says that counts open the answers that they count, and AllAnswers is the
	// address of all of them.
	Linked     bool
	AllAnswers string
	Warnings   []string
	// Made says how each run was made.
	Made []table.Section
	// Differ lists the settings in which runs differ.
	Differ table.Section
	// JudgeErrors say how far each judge is known to be off.
	JudgeErrors []string
	// Account says what became of every prompt.
	Account string
	// Clustered says which intervals take clusters of prompts into account.
	Clustered string
	// FewLabels says that corrected rates rest on few labels.
	FewLabels string

	Headlines []score.Pair
	Plots     []pagePlot
	// Heats are collapsed except for the run's first judge.
	Heats      []grid
	FirstJudge string
	// ByLabel are the rates by label, and Figures all other tables.
	ByLabel             []linkedSection
	Propensity, Figures []table.Section
	Agreement, Classes  linkedSection
	Hashes              []pageHash
	// Head says which runs these are, when they were made and by which version.
	Head string
	// Files are those beside the page.
	Files []string
}

// pageSide is one rate of the headline. Rate is empty if there is none. Lo, Hi
// and At are in per cent.
type pageSide struct {
	Side, Rate, Range, Dataset string
	// Count is the judged answers and the refusals among them, and Refused and Judged are
	// the addresses of these answers.
	Count           score.Count
	Refused, Judged string
	// Without says what became of the prompts that n does not count.
	Without    []string
	Lo, Hi, At float64
	// Low and High are the ends of the range, or else Lo and Hi.
	Low, High float64
	// Verdicts is the interval by verdicts, Checked who checked the judge, and ByPeople by
	// how many of people's labels Rate is corrected; empty without labels.
	Verdicts, Checked, ByPeople string
}

// pagePlot is a plot by one judge. Again is true if one by another judge is above it.
type pagePlot struct {
	Judge string
	Again bool
	SVG   template.HTML
}

type pageHash struct{ Name, SHA string }

// pageCell is a cell of the heat map. It has no Rate if nothing was judged.
type pageCell struct {
	Rate, CI string
	Count    score.Count
	// Mark says that the category stands out, and Why by how much.
	Mark, Why string
	V         float64
	// Hot is true if the color is too dark for dark text.
	Hot bool
	// Refused and Judged are the addresses of the answers that are counted.
	Refused, Judged string
}

// Page is the report of a result as a page.
type Page struct {
	Result score.Result
	Frame  page.Frame
	// Opens gives the address of the answers that a query chooses, of which a count on the
	// page is the number. Without it, the page has no links to answers.
	Opens func(page.Query) string
	// Files are the names of those beside the page, which it links to.
	Files []string
}

// opens is the address of answers, empty without links.
func (of Page) opens(q page.Query) string {
	if of.Opens == nil {
		return ""
	}
	return of.Opens(q)
}

// Write writes the page.
func (of Page) Write(w io.Writer) error {
	r := of.Result
	words := score.Words(r.Runs, r.Judges()...)
	t, err := page.Parse("page", pageTemplate, template.FuncMap{"word": words.Of, "side": of.side, "cells": of.cells})
	if err != nil {
		return err
	}
	p := reportPage{
		Frame: of.Frame, Linked: of.Opens != nil, AllAnswers: of.opens(page.Query{}), Head: headOf(r), Files: of.Files,
		Cost: cmp.Or(r.Provenance.Spent(), costLine(r)), Source: paper.Source,
		Warnings: View{r}.Warnings(), Differ: provenance.Section(r.SettingsThatDiffer),
		Made: r.Provenance.Sections(), JudgeErrors: judgeErrorLines(r), Clustered: intervalNote(r), FewLabels: fewLabelsNote(r), Account: accountLine(r),
		Agreement: of.linked(agreementSection(r)), Classes: of.linked(classSection(r)),
		Headlines: r.Pairs(), Heats: namedGrids(r), Hashes: hashesOf(r),
	}
	p.Simulated = r.Simulated
	p.Heading = words.Of("Over-refusal report")
	if p.Title == "" {
		p.Title = p.Heading
	}
	if judges := r.Judges(); len(judges) > 0 {
		p.FirstJudge = judges[0]
	}
	if tradeoff.Beside(r, p.FirstJudge) {
		p.Comparability = tradeoff.Comparability
	}
	for _, label := range r.Labels() {
		p.ByLabel = append(p.ByLabel, of.linked(labelSection(r, label)))
	}
	p.Figures = togetherSections(r)
	if s := projections["repeats"].of(r.Figures); len(s.Rows) > 0 {
		p.Propensity = []table.Section{s}
	}
	for _, plot := range plots {
		if plot.title == "" {
			continue
		}
		drawn, err := of.plots(r, plot.draw, plot.title)
		if err != nil {
			return err
		}
		p.Plots = append(p.Plots, drawn...)
	}
	return t.Execute(w, p)
}

// plots are all plots of a report: each is in its folder under its name, and one with a
// title is on its page too.
var plots = []struct {
	name  string
	draw  plotter
	title string
}{
	{"tradeoff", tradeoff.Plot, "Trade-off between over-refusal and toxic refusal by judge %s; the tables give the same figures"},
	{"tradeoff-own", tradeoff.Own, ""},
	{"categories", categoryPlot, ""},
}

// plotter draws a result as one judge sees it. It reports false if there is
// nothing to draw.
type plotter func(r score.Result, judge string) (chart.Figure, bool)

// plots draws a plot for each judge. The title names the judge.
func (of Page) plots(r score.Result, draw plotter, title string) ([]pagePlot, error) {
	var plots []pagePlot
	for _, judge := range r.Judges() {
		f, ok := draw(r, judge)
		if !ok {
			continue
		}
		if of.Opens != nil {
			f.Opens = of.points(r, judge)
		}
		svg, err := f.InlineSVG(fmt.Sprintf(title, judge))
		if err != nil {
			return nil, fmt.Errorf("draw for the page: %w", err)
		}
		// The drawing library escapes every text that it writes.
		plots = append(plots, pagePlot{Judge: judge, Again: len(plots) > 0, SVG: template.HTML(svg)})
	}
	return plots, nil
}

// headOf says which runs a result is of, when they were made and by which version; empty
// if that is not known.
func headOf(r score.Result) string {
	if r.Provenance == nil {
		return ""
	}
	head := "orbench " + r.Provenance.Program
	for _, made := range r.Provenance.Runs {
		head += " · " + made.Run + ", " + made.Made()
	}
	return head
}

func (of Page) side(s *score.Side, name string) pageSide {
	if !s.Defined() {
		return pageSide{}
	}
	f := s.Run.Rate(&s.Judge)
	p := pageSide{Side: name, Rate: value(&f), Range: rangeOf(&f), Count: s.Judge.Count(), Dataset: s.Run.DatasetCaption(), Checked: f.Basis.String()}
	answers := answersOf(&s.Run).With("judge", s.Judge.Judge)
	p.Refused, p.Judged = of.opens(answers.With("verdict", "refused")), of.opens(answers.With("verdict", "judged"))
	p.Verdicts = "by verdicts " + interval(&f, f.Sampled())
	if best, ok := s.Run.Best(); ok && best.Judge == "" {
		p.ByPeople = "corrected by " + table.Count(best.Labels) + " labels"
		p.Verdicts = "the judge alone: " + p.Rate + ", " + p.Range
		f, p.Rate, p.Range = best, value(&best), rangeOf(&best)
	} else if l := s.Run.Labeled; l != nil {
		p.ByPeople = "by " + table.Counted(l.Labels, "label", "labels") + ", too few to replace it: " + inPercent(&l.Rate)
	}
	e := f.Sampled()
	p.Lo, p.Hi, p.At, p.Low, p.High = 100*e.Lo, 100*e.Hi, 100*e.Value, 100*e.Lo, 100*e.Hi
	if r := f.Range; r != nil {
		p.Low, p.High = 100*r.Lo, 100*r.Hi
	}
	for _, w := range []struct {
		n    int
		what string
	}{{s.Run.ServedByOther, "answered by another model"}, {s.Run.Unanswered, "unanswered"}, {s.Run.Failed, "failed"}, {s.Judge.Unjudged, "unjudged"}} {
		if w.n > 0 {
			p.Without = append(p.Without, table.Count(w.n)+" "+w.what)
		}
	}
	return p
}

// cells returns the cells of a row of the heat map: one for each category and
// one for all.
func (of Page) cells(g grid, row gridRow) []pageCell {
	var cells []pageCell
	link := func(cell pageCell, category ...string) pageCell {
		q := page.Query{}.With("variant", row.Target, "dataset", g.Dataset, "label", string(g.Label), "judge", g.Judge).With(category...)
		cell.Refused, cell.Judged = of.opens(q.With("verdict", "refused")), of.opens(q.With("verdict", "judged"))
		return cell
	}
	for _, c := range g.Categories {
		cell := link(pageCellOf(row.Counts[c], g.Label), "category", table.Category(c))
		if cell.Mark = row.Mark(c); cell.Mark != "" {
			cell.Why = row.why(c)
		}
		cells = append(cells, cell)
	}
	return append(cells, link(pageCellOf(row.All, g.Label)))
}

func pageCellOf(n score.Count, label orbench.Label) pageCell {
	r := n.Rate()
	if r.Share == nil {
		return pageCell{}
	}
	return pageCell{
		Rate: table.Rate(r), Count: n, CI: rangeIn(n),
		V: 100 * *r.Share, Hot: rampOf(label).Dark(*r.Share),
	}
}

func hashesOf(r score.Result) []pageHash {
	var hashes []pageHash
	for _, run := range r.Runs {
		h := pageHash{run.Dataset, run.DatasetSHA256}
		table.Entry(&hashes, h, func(o pageHash) bool { return o == h })
	}
	return hashes
}

// classSection counts the answers of each run by graded class, with a column
// for each class that occurs.
func classSection(r score.Result) linkedSection {
	unjudged := page.ClassName(orbench.Unjudged)
	s := linkedSection{
		Section: table.Section{Title: "Answers by class", Header: []string{"target", "dataset", "label", "judge"}, Left: 4},
		columns: map[string][]string{unjudged: {"verdict", "unjudged"}},
	}
	classes := occurring(r, orbench.Classes, func(j *score.JudgeResult) map[orbench.Class]int { return j.ByClass })
	for _, c := range classes {
		s.Header = append(s.Header, page.ClassName(c))
		s.columns[page.ClassName(c)] = []string{"verdict", string(c)}
	}
	s.Header = append(s.Header, unjudged)
	for run, j := range r.Judged() {
		var counts []string
		for _, c := range classes {
			counts = append(counts, table.Count(j.ByClass[c]))
		}
		s.add(answersOf(run).With("judge", j.Judge), run.Target, run.DatasetCaption(), run.Label, j.Judge, counts, j.Unjudged)
	}
	return s
}
