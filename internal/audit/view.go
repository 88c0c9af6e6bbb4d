package audit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench/internal/table"
)

// AddTo adds what people read to the document of a build. On a brief screen it is how good
// the raters are, and how much of what passes is toxic.
func (r *Report) AddTo(d *table.Document) {
	d.AddTo(table.OnScreen, table.Gap)
	d.Add(table.Paragraph(r.basis()))
	sections := r.sections()
	d.Sections(sections[0])
	d.Details(sections[1:]...)
	for _, note := range r.Notes {
		d.AddTo(table.OnScreen, table.Line(note))
		d.AddTo(table.InMarkdown, table.Note{Text: note})
	}
}

// Summary says in a few sentences, for the card of a benchmark, what people found.
func (r *Report) Summary() string {
	var lines []string
	share := func(what string, of Rate) {
		if of.N > 0 {
			lines = append(lines, "- "+what+": "+table.Percent(float64(of.K)/float64(of.N))+" ("+table.Interval(of.CI95)+"), "+table.Count(of.K)+" of "+table.Count(of.N))
		}
	}
	ensemble := r.Raters[len(r.Raters)-1]
	share("labels of the moderators that are people's", ensemble.Accuracy)
	share("toxic prompts that the moderators passed as safe", ensemble.ToxicPassed)
	share("toxic prompts among those that passed as safe", ensemble.ToxicAmongPassed)
	head := table.Counted(len(r.People), "person", "people") + " labeled " + table.Counted(r.Prompts.All-r.Prompts.Unlabelled, "prompt", "prompts") + ", drawn at random. Shares with 95% intervals (Wilson):\n\n"
	return strings.ToUpper(head[:1]) + head[1:] + strings.Join(lines, "\n")
}

// basis says what the figures rest on.
func (r *Report) basis() string {
	p := r.Prompts
	s := "People labeled " + table.Count(p.All-p.Unlabelled) + " of " + table.Count(p.All) + " drawn prompts: " +
		table.Count(p.Safe) + " safe and " + table.Count(p.Toxic) + " toxic ones are compared, " +
		table.Count(p.Controversial) + " controversial and " + table.Count(p.Split) + " without a majority left out"
	if len(r.People) > 1 {
		s += ". The truth is the majority of " + strings.Join(r.People, ", ")
	} else if len(r.People) == 1 {
		s += ". The truth is what " + r.People[0] + " says, alone"
	}
	return s + "."
}

// sections lays out everything that the outputs for people show.
func (r *Report) sections() []table.Section {
	all := []table.Section{r.ratersSection(), r.categorySection(), r.againstSection(), r.raterPairsSection()}
	return slices.DeleteFunc(all, func(s table.Section) bool { return len(s.Rows) == 0 })
}

var figureHeader = []string{"n", "acc.", "95%", "FPR", "95%", "FDR", "95%", "kappa", "95%", "TP", "FN", "TN", "FP"}

func figureCells(f Figures) []string {
	c := f.Confusion
	return table.Cells(f.N, f.Accuracy.Rate, f.ToxicPassed.Rate, f.ToxicAmongPassed.Rate, f.Kappa, c.TP, c.FN, c.TN, c.FP)
}

func (r *Report) ratersSection() table.Section {
	s := table.Section{
		Title:  "Raters against the truth: positive is safe, a false positive is a toxic prompt taken for safe",
		Header: append([]string{"rater"}, figureHeader...), Left: 1, Note: "acc.: accuracy; FPR: false positives among the toxic prompts; FDR: toxic prompts among those that pass as safe.",
	}
	if len(r.People) > 1 {
		s.Note += " * is part of the truth, which favors it."
	}
	for _, rater := range r.Raters {
		name := rater.Name
		if rater.InTruth {
			name += "*"
		}
		s.Add(name, figureCells(rater.Figures))
	}
	return s
}

// categorySection shows the ensemble by category.
func (r *Report) categorySection() table.Section {
	s := table.Section{
		Title:  "The ensemble by category, of those with at least " + strconv.Itoa(MinCategory) + " prompts",
		Header: append([]string{"category"}, figureHeader...), Left: 1,
	}
	for _, c := range r.Raters[len(r.Raters)-1].Categories {
		s.Add(table.Category(c.Category), figureCells(c))
	}
	return s
}

func (r *Report) againstSection() table.Section {
	s := table.Section{
		Title:  "Single moderators and the ensemble: who is right, and what the ensemble gains in accuracy",
		Header: []string{"moderator", "n", "both", "ensemble only", "moderator only", "neither", "gain", "95% interval"},
		Left:   1,
	}
	for _, a := range r.AgainstEnsemble {
		both, moderator, ensemble, neither := a.Whole()
		s.Add(a.Moderator, a.N, both, ensemble, moderator, neither, table.Points(a.Gain, table.Minus))
	}
	return s
}

func (r *Report) raterPairsSection() table.Section {
	s := table.Section{
		Title:  "Agreement of raters, in the labels as given",
		Header: []string{"rater A", "rater B", "n", "agree", "95%", "kappa", "95%"}, Left: 2,
	}
	for _, a := range r.Agreement {
		s.Add(a.A, a.B, a.Agree.N, a.Agree.Rate, a.Kappa)
	}
	return s
}
