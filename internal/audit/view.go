package audit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// Document returns what people read. On a brief screen it is how good the
// raters are, and how much of what passes is toxic.
func (r Report) Document() table.Document {
	d := table.Document{Title: "Audit", Simulated: r.Simulated}
	for _, line := range r.basis() {
		d.Add(table.Line(line))
	}
	d.AddTo(table.OnScreen, table.Gap)
	sections := r.sections()
	first := min(2, len(sections))
	d.Sections(sections[:first]...)
	d.Details(sections[first:]...)
	for _, note := range r.Notes {
		d.AddTo(table.OnScreen, table.Line(note))
		d.AddTo(table.InMarkdown, table.Note{Text: note})
	}
	return d
}

// Summary says in a few sentences, for the card of a benchmark, what people found.
func (r Report) Summary() string {
	people := 0
	var lines []string
	for _, rater := range r.Raters {
		if rater.Kind == Person {
			people++
		}
		if rater.Kind != Joint || rater.N == 0 {
			continue
		}
		share := func(what string, of Rate) {
			if of.N > 0 {
				lines = append(lines, "- "+what+": "+table.Percent(float64(of.K)/float64(of.N))+" ("+table.Interval(of.CI95)+"), "+table.Count(of.K)+" of "+table.Count(of.N))
			}
		}
		share("labels of the moderators that are people's", rater.Accuracy)
		share("toxic prompts that the moderators passed as safe", rater.ToxicPassed)
		share("toxic prompts among those that passed as safe", rater.ToxicAmongPassed)
	}
	head := table.Counted(people, "person", "people") + " labeled " + table.Counted(r.Prompts.All, "prompt", "prompts") + ", drawn at random. Shares with 95% intervals (Wilson):\n\n"
	return strings.ToUpper(head[:1]) + head[1:] + strings.Join(lines, "\n")
}

// Data returns the report in its documented form.
func (r Report) Data() any { return r }

// row is a line of CSV.
type row struct {
	Scope, Rater            string
	Kind                    Kind
	Category                orbench.Category
	InTruth                 bool
	N, TP, FN, TN, FP       int
	Accuracy                stats.Rate
	FPR                     stats.Rate
	Kappa                   *float64
	SafePassed, ToxicPassed *float64
	ResidualToxicity        *stats.Estimate `csv:",residual_ci95"`
	ToxicAmongPassed        *float64
	Positive                orbench.Label
	Prevalence              float64
	Simulated               bool
	KappaCI95               *[2]float64
}

// Rows returns a row for each rater over all prompts (scope "all"), for each
// rater and category (scope "category"), and for each ensemble by votes (scope
// "votes"; or "votes_without", with the left-out moderator as the rater).
// Shares are from 0 to 1.
func (r Report) Rows() any {
	var rows []row
	add := func(scope string, rater Rater, category orbench.Category, f Figures) {
		c := f.Confusion
		rows = append(rows, row{
			Scope: scope, Rater: rater.Name, Kind: rater.Kind, Category: category, InTruth: rater.InTruth, N: f.N, TP: c.TP, FN: c.FN, TN: c.TN, FP: c.FP,
			Accuracy: f.Accuracy.Rate, FPR: f.FalsePositives.Rate, Kappa: f.Kappa.Value, SafePassed: f.SafePassed.Share, ToxicPassed: f.ToxicPassed.Share,
			ResidualToxicity: f.Residual, ToxicAmongPassed: f.ToxicAmongPassed.Share, Positive: r.Positive, Prevalence: r.Prevalence,
			Simulated: r.Simulated, KappaCI95: f.KappaCI95,
		})
	}
	for _, rater := range r.Raters {
		add("all", rater, "", rater.Figures)
		for _, c := range rater.Categories {
			add("category", rater, c.Category, c.Figures)
		}
	}
	for _, l := range r.LeaveOneOut {
		if l.Without == "" {
			add("votes", Rater{Name: Ensemble, Kind: Joint}, "", l.Figures)
		} else {
			add("votes_without", Rater{Name: l.Without, Kind: Joint}, "", l.Figures)
		}
	}
	return rows
}

// basis says in a few lines what the figures rest on.
func (r Report) basis() []string {
	var files []string
	for _, f := range r.Files {
		files = append(files, f.Name+"@"+table.ShortHash(f.SHA256))
	}
	lines := []string{"Labels of " + table.Count(r.Prompts.All) + " prompts in " + strings.Join(files, ", ") + "."}
	if r.Build != nil {
		lines = append(lines, "Votes of "+r.Build.Name+"@"+table.ShortHash(r.Build.SHA256)+".")
	}
	lines = append(lines, "Truth: "+truthName(r.Truth)+".")
	p := r.Prompts
	s := table.Count(p.Safe) + " safe and " + table.Count(p.Toxic) + " toxic prompts are compared"
	var left []string
	for _, part := range []struct {
		n    int
		what string
	}{{p.Controversial, "controversial"}, {p.Split, "without a majority"}, {p.Unlabelled, "not labeled"}} {
		if part.n > 0 {
			left = append(left, table.Count(part.n)+" "+part.what)
		}
	}
	if len(left) > 0 {
		s += "; left out are " + strings.Join(left, ", ")
	}
	return append(lines, s+".")
}

// truthName says how the truth is made.
func truthName(t TruthReport) string {
	if t.Majority && len(t.Columns) == 1 {
		t.Majority = false
	}
	if !t.Majority {
		return "the labels of " + t.Columns[0]
	}
	return "the majority of " + strings.Join(t.Columns, ", ")
}

// nameWidth is how many columns a rater's name takes in a table.
const nameWidth = 21

// sections lays out everything that the outputs for people show.
func (r Report) sections() []table.Section {
	var all []table.Section
	tables := append([]table.Section{r.ratersSection(), r.residualSection()}, r.categorySections()...)
	tables = append(tables, r.againstSection(), r.leftOutSection(), r.raterPairsSection())
	for _, s := range tables {
		if len(s.Rows) > 0 {
			all = append(all, s)
		}
	}
	return all
}

var figureHeader = []string{"n", "TP", "FN", "TN", "FP", "acc.", "95%", "FPR", "95%", "kappa", "95%"}

func figureCells(f Figures) []string {
	c := f.Confusion
	return table.Cells(f.N, c.TP, c.FN, c.TN, c.FP, f.Accuracy.Rate, f.FalsePositives.Rate, f.Kappa)
}

// raterName shortens a name to fit its column. The provider of a model is left
// out first.
func raterName(name string, columns int) string {
	name = untrusted.Terminal(name)
	if i := strings.LastIndexByte(name, '/'); i >= 0 && i+1 < len(name) && untrusted.Width(name) > columns {
		name = name[i+1:]
	}
	return untrusted.Shorten(name, columns)
}

// ratedName marks a rater that contributes to the truth.
func ratedName(r Rater) string {
	if r.InTruth {
		return raterName(r.Name, nameWidth-1) + "*"
	}
	return raterName(r.Name, nameWidth)
}

func (r Report) ratersSection() table.Section {
	negative := orbench.Toxic
	if r.Positive == orbench.Toxic {
		negative = orbench.Safe
	}
	s := table.Section{
		Title:  "Raters against the truth: positive is " + string(r.Positive) + ", a false positive is " + string(negative) + " taken for " + string(r.Positive),
		Header: append([]string{"rater"}, figureHeader...), Left: 1,
	}
	inTruth := false
	for _, rater := range r.Raters {
		inTruth = inTruth || rater.InTruth
		s.Add(ratedName(rater), figureCells(rater.Figures))
	}
	s.Note = "acc.: accuracy; FPR: false positives among the negatives."
	if inTruth {
		s.Note += " * is part of the truth, which favors it."
	}
	return s
}

func (r Report) residualSection() table.Section {
	s := table.Section{
		Title: "Residual toxicity: toxic among the prompts that pass as safe, when " + table.Percent(r.Prevalence) + " of all are toxic",
		Header: []string{
			"rater", "toxic passed", "safe passed", "residual", "95% interval", "in sample", "95% interval",
		},
		Left: 1,
		Note: "In sample: toxic among those that passed, at the sample's own share of toxic prompts.",
	}
	for _, rater := range r.Raters {
		s.Add(ratedName(rater), outOf(rater.ToxicPassed), outOf(rater.SafePassed), rater.Residual, rater.ToxicAmongPassed.Rate)
	}
	return s
}

// outOf formats the counts of a rate.
func outOf(r Rate) string { return table.Count(r.K) + "/" + table.Count(r.N) }

// categorySections shows figures by category for the ensemble, or without one
// for every moderator, or without those for every person. Each has a table of
// its own, because a column of names would make the table too wide for a
// terminal.
func (r Report) categorySections() []table.Section {
	var all []table.Section
	for _, kind := range []Kind{Joint, Moderator, Person} {
		for _, rater := range r.Raters {
			if rater.Kind != kind || len(rater.Categories) == 0 {
				continue
			}
			s := table.Section{
				Title:  "By category, of those with at least " + strconv.Itoa(MinCategory) + " prompts: " + raterName(rater.Name, 2*nameWidth),
				Header: append([]string{"category"}, figureHeader...), Left: 1,
			}
			for _, c := range rater.Categories {
				s.Add(untrusted.Shorten(table.Category(c.Category), nameWidth), figureCells(c.Figures))
			}
			all = append(all, s)
		}
		if len(all) > 0 {
			break
		}
	}
	return all
}

func (r Report) againstSection() table.Section {
	s := table.Section{
		Title:  "Single moderators and the ensemble: who is right, and what the ensemble gains in accuracy",
		Header: []string{"moderator", "n", "both", "ensemble only", "moderator only", "neither", "gain", "95% interval"},
		Left:   1,
	}
	for _, a := range r.AgainstEnsemble {
		both, moderator, ensemble, neither := a.Whole()
		s.Add(raterName(a.Moderator, nameWidth), a.N, both, ensemble, moderator, neither, table.Points(a.Gain, table.Minus))
	}
	return s
}

func (r Report) leftOutSection() table.Section {
	s := table.Section{
		Title:  "Ensembles by votes alone, with all moderators and with one left out",
		Header: append([]string{"without"}, figureHeader...), Left: 1,
		Note: "A prompt passes if more than half of the members vote safe: two members that differ do not pass it.",
	}
	for _, l := range r.LeaveOneOut {
		name := "– (all " + table.Count(l.Members) + ")"
		if l.Without != "" {
			name = raterName(l.Without, nameWidth)
		}
		s.Add(name, figureCells(l.Figures))
	}
	return s
}

func (r Report) raterPairsSection() table.Section {
	s := table.Section{
		Title:  "Agreement of raters, in the labels as given",
		Header: []string{"rater A", "rater B", "n", "agree", "95%", "kappa", "95%"}, Left: 2,
	}
	for _, a := range r.Agreement {
		s.Add(raterName(a.A, nameWidth), raterName(a.B, nameWidth), a.Agree.N, a.Agree.Rate, a.Kappa)
	}
	for _, f := range r.Fleiss {
		who := map[string]string{"people": "all people", "moderators": "all moderators", "all": "people and moderators"}[f.Raters]
		s.Add(who, "("+table.Count(f.Count)+" raters)", f.Unanimous.N, f.Unanimous.Rate, f.Kappa)
	}
	if len(r.Fleiss) > 0 {
		s.Note = "Of all raters of a group: how often they are unanimous, and Fleiss' kappa."
	}
	return s
}

// Document is the plan for people to read.
func (p Plan) Document() table.Document {
	percents := func(share float64) string {
		return strings.TrimSuffix(strconv.FormatFloat(100*share, 'f', 1, 64), ".0")
	}
	drawn := ""
	if p.Population > 0 {
		drawn = ", drawn from " + table.Count(p.Population) + " prompts"
	}
	n := p.Need
	toxic := "  no number of prompts gives a false-positive rate: the population has no toxic ones\n"
	if n.Draw > 0 {
		toxic = "  " + table.Count(n.Toxic) + " toxic prompts, for a false-positive rate of " + percents(p.ExpectFPR) + "%: when " + percents(p.Prevalence) +
			"% are toxic,\n  draw " + table.Count(n.Draw) + " to have them on average, " + table.Count(n.DrawSurely) + " to have them 95 times in 100\n"
	}
	said := "For a " + percents(p.Confidence) + "% interval of ±" + percents(p.HalfWidth) + " percentage points (Wilson)" + drawn + ":\n" +
		"  " + table.Count(n.Rate) + " prompts, for a share that comes out at " + percents(p.Expect) + "%, such as errors\n" + toxic
	d := table.Document{Title: "Sample sizes"}
	d.AddTo(table.OnScreen, table.Raw(said), table.Gap)
	d.AddTo(table.InMarkdown, table.Paragraph(said))
	s := table.Section{
		Title: "Prompts to label",
		Header: []string{
			"half-width", "share of " + percents(p.Expect) + "%", "of 50% (worst)", "toxic, FP rate of " + percents(p.ExpectFPR) + "%", "draw", "draw, to be sure",
		},
	}
	for _, size := range withNeed(p) {
		needed := table.Cells(size.Toxic, size.Draw, size.DrawSurely)
		if size.Draw == 0 {
			needed = []string{table.None, table.None, table.None}
		}
		s.Add("±"+percents(size.HalfWidth)+"pp", size.Rate, size.RateWorst, needed)
	}
	d.Sections(s)
	return d
}

// Rows returns a row for each half-width.
func (p Plan) Rows() any { return withNeed(p) }

// Data returns the plan in its documented form.
func (p Plan) Data() any { return p }

// withNeed returns the plan's table with the wanted half-width added in order.
func withNeed(p Plan) []Size {
	if slices.ContainsFunc(p.Table, func(s Size) bool { return s.HalfWidth == p.HalfWidth }) {
		return p.Table
	}
	sizes := append(slices.Clone(p.Table), p.Need)
	slices.SortFunc(sizes, func(a, b Size) int { return cmp.Compare(a.HalfWidth, b.HalfWidth) })
	return sizes
}
