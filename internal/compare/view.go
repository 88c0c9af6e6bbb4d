package compare

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/stats"
)

// How much of the flipped prompts JSON has. Texts are cut to so many bytes.
const (
	// ShownFlips is how many flipped prompts JSON has, with both answers. Other
	// formats show fewer.
	ShownFlips   = 50
	jsonFlipText = 2000
)

// Document returns what people read. Text has the gates; then for each metric
// both rates, their difference and its test, in all and by category; and the
// first prompts that flipped. Markdown has a summary that fits a pull request, which begins
// with what is shown in words and when the answers were made.
func (c Result) Document() table.Document {
	d := table.Document{Title: c.Title(), Level: 2, Simulated: c.Simulated}
	c.addText(&d)
	d.AddTo(table.InMarkdown, table.Paragraph(strings.TrimSpace(strings.Join(append(table.RowsOf(c.Metrics, c.Verdict), c.Provenance.Ages("Answers", time.UTC)), " "))))
	c.addSummary(&d)
	return d
}

func (c Result) addText(d *table.Document) {
	for _, line := range c.headlines() {
		d.AddTo(table.OnScreen, line)
	}
	for _, line := range c.edited() {
		d.AddTo(table.OnScreen, table.Line(line))
	}
	d.AddTo(table.OnScreen, c.overview())
	d.AddTo(table.OnScreen, table.Line(c.Provenance.Ages("Answers", time.Local)), table.Gap)
	c.addFlips(d)
	addFilled(d, table.OnScreen, provenance.Section(c.SettingsThatDiffer))
	for _, line := range c.Warnings()[len(c.Edited):] {
		d.AddTo(table.OnScreen, table.Note{Mark: "! ", Text: line}, table.Gap)
	}
	addFilled(d, table.OnScreen, c.gates())
	for _, g := range c.Gates {
		if g.Command != "" {
			d.AddTo(table.OnScreen, table.Line("  "+g.Command))
		}
	}
	addFilled(d, table.OnFull, c.chances())
	for _, m := range c.Metrics {
		d.AddTo(table.OnScreen, c.metricSection(m, len(m.ByCategory)))
	}
	addFilled(d, table.OnScreen, c.correctedSection())
}

// addFilled adds the tables that have rows.
func addFilled(d *table.Document, on table.Place, sections ...table.Section) {
	for _, s := range sections {
		if len(s.Rows) > 0 {
			d.AddTo(on, s)
		}
	}
}

// Data returns the comparison in its documented form, with at most ShownFlips
// flipped prompts and the first 2,000 bytes of their answers.
func (c Result) Data() any {
	c.Flips.Shown = slices.Clone(c.Flips.Shown[:min(ShownFlips, len(c.Flips.Shown))])
	for i := range c.Flips.Shown {
		f := &c.Flips.Shown[i]
		f.BaseAnswer, f.CandidateAnswer = untrusted.Ellipsis(f.BaseAnswer, jsonFlipText), untrusted.Ellipsis(f.CandidateAnswer, jsonFlipText)
	}
	return c
}

// Rows returns both rates and their difference, as figures, for each metric and each of its
// categories.
func (c Result) Rows() any {
	all := []figure.Figure{}
	for _, m := range c.Metrics {
		all = append(all, c.figures(m, m.Figures)...)
		all = append(all, c.byLabels(m, all[len(all)-3:])...)
		for _, by := range m.ByCategory {
			if by.Category = orbench.Category(table.Category(by.Category)); len(m.ByCategory) > 1 || m.ByCategory[0].Category != "" {
				all = append(all, c.figures(m, by)...)
			}
		}
	}
	return all
}

// figures are the two rates of a metric or a category, the base's first, and their difference.
func (c Result) figures(m Metric, by Figures) (all []figure.Figure) {
	targets := [2]string{c.Base.Target, c.Candidate.Target}
	if targets[base] == targets[candidate] && c.Base.Run != c.Candidate.Run {
		targets = [2]string{targets[base] + " [" + c.Base.Run + "]", targets[candidate] + " [" + c.Candidate.Run + "]"}
	}
	var of figure.Keys
	for side, rate := range []Rate{by.Base, by.Candidate} {
		of = rate.of
		of.Target, of.Label, of.Category, of.Judge = targets[side], m.Label, by.Category, []string{c.Base.Judge, c.Candidate.Judge}[side]
		f := figure.PartOf(m.Name, of, rate.N, float64(rate.Refused), rate.Estimate())
		f.Range, f.Basis = rate.Range, rate.Basis
		if f.Simulated = c.Simulated; rate.CI95Clustered != nil {
			f.ClusteredBy = c.ClusteredBy
		}
		if n := []SideCounts{m.BaseCounts, m.CandidateCounts}[side]; of.Category == "" {
			f.Missing = map[string]int{"served_by_other": n.ServedByOther, "failed": n.Failed, "unanswered": n.Unanswered, "unjudged": n.Unjudged}
			maps.DeleteFunc(f.Missing, func(_ string, n int) bool { return n == 0 })
		}
		all = append(all, f)
	}
	if of.Other = targets[base]; c.OfJudges() {
		of.Other = c.Base.Judge
	}
	if b := all[base].Keys; b.Dataset != of.Dataset || b.DatasetSHA256 != of.DatasetSHA256 {
		of.OtherDataset, of.OtherDatasetSHA256 = b.Dataset, b.DatasetSHA256
	}
	d := figure.PartOf(figure.Difference, of, by.Candidate.N, float64(by.OnlyBaseRefused+by.OnlyCandidateRefused), by.Difference)
	d.P, d.PHolm, d.Test, d.ClusteredBy, d.Simulated = by.P, by.PHolm, string(by.Test), all[1].ClusteredBy, c.Simulated
	if e := m.JudgeError; e != nil && of.Category == "" {
		d.Range, d.Assumes, d.Checked = &e.Difference, string(e.Assumes), figure.Elsewhere
	}
	return append(all, d)
}

// byLabels are the figures of a metric by people's labels, if there are any.
func (c Result) byLabels(m Metric, byVerdicts []figure.Figure) (all []figure.Figure) {
	if m.Corrected == nil {
		return nil
	}
	for i, e := range []*stats.Estimate{&m.Corrected.Base, &m.Corrected.Candidate, &m.Corrected.Difference} {
		of := byVerdicts[i].Keys
		of.Judge = ""
		f := figure.New(byVerdicts[i].Measure, of, byVerdicts[i].N, e)
		f.Range, f.Checked, f.Labels, f.People, f.Simulated = f.Sampling, figure.Here, m.Corrected.Labels, m.Corrected.People, c.Simulated
		all = append(all, f)
	}
	if m.byPeople() {
		all[2].P = &m.Corrected.P
	}
	return all
}

// WriteFlips writes flipped prompts with both answers as CSV.
func WriteFlips(w io.Writer, flips []Flip) error {
	type row struct {
		PromptID                            orbench.PromptID
		Label                               orbench.Label
		Category                            orbench.Category
		Now                                 string
		BaseClass, CandidateClass           orbench.Class
		Prompt, BaseAnswer, CandidateAnswer string
	}
	rows, now := make([]row, len(flips)), map[bool]string{true: "refused", false: "answered"}
	for i, f := range flips {
		p := f.Prompt
		rows[i] = row{p.ID, p.Label, p.Category, now[f.NowRefused()], f.BaseClass, f.CandidateClass, p.Transcript(), f.BaseAnswer, f.CandidateAnswer}
	}
	return table.CSV(w, rows)
}

// basis says what the figures are, and which prompts they leave out.
func (c Result) basis() string {
	note := "Differences are candidate minus base on the prompts that were judged on both sides, in percentage points."
	if !c.Paired {
		note = "Unpaired: the rates are compared as rates of independent samples, by Fisher's exact test. Differences are candidate minus base, in percentage points."
	}
	if (c.Base.Judge == judge.Flag) != (c.Candidate.Judge == judge.Flag) {
		note += " One side is a guard: a flagged prompt counts as refused."
	}
	for i, side := range []Side{c.Base, c.Candidate} {
		if side.Other > 0 {
			note += fmt.Sprintf(" Not compared, as neither safe nor toxic: %s of the %s.", table.Count(side.Other), sideNames[i])
		}
		if side.Repeated > 0 {
			note += fmt.Sprintf(" Counted once, because the prompt came before: %s of the %s.", table.Count(side.Repeated), sideNames[i])
		}
	}
	return note
}

// edited says in what datasets of one name differ.
func (c Result) edited() []string {
	return table.RowsOf(c.Edited, func(e Edited) string {
		return fmt.Sprintf("The dataset %s is another one in the candidate: %s gone, %d new, %d with another label.", e.Dataset, table.Counted(e.Gone, "prompt", "prompts"), e.New, e.Relabeled)
	})
}

// Warnings says, a line each, what other than the targets may have caused the
// difference.
func (c Result) Warnings() []string {
	lines := c.edited()
	if line := provenance.Warning(c.SettingsThatDiffer); line != "" {
		lines = append(lines, line)
	}
	lines = append(lines, c.Provenance.Warnings()...)
	var cut, empty []string
	for _, m := range c.Metrics {
		for i, n := range []SideCounts{m.BaseCounts, m.CandidateCounts} {
			answers := n.Judged + n.Unjudged
			if 100*n.NoText > answers {
				empty = append(empty, fmt.Sprintf("the %s (%s of %s to %s prompts)", sideNames[i], table.Count(n.NoText), table.Count(answers), m.Label))
			}
			if n.Truncation.Many(answers) {
				cut = append(cut, fmt.Sprintf("the %s (%s of %s answers to %s prompts)", sideNames[i], table.Count(n.Truncated), table.Count(answers), m.Label))
			}
		}
	}
	if len(empty) > 0 {
		lines = append(lines, "Answers without text: "+strings.Join(empty, ", ")+". They count as refusals. "+score.NoTextHelp)
	}
	if len(cut) > 0 {
		lines = append(lines, "Cut by the token limit: "+strings.Join(cut, ", ")+". "+score.TruncationConsequence)
	}
	for i, side := range []Side{c.Base, c.Candidate} {
		for _, by := range side.Unclear {
			lines = append(lines, fmt.Sprintf("Answered under a name that may be another model's: %s of the %s by %s. They count like any.", table.Counted(by.N, "answer", "answers"), sideNames[i], by.Model))
		}
		if side.LabelAssumed {
			lines = append(lines, fmt.Sprintf("Label assumed: nothing says what the prompts of the %s are, so they count as safe.", sideNames[i]))
		}
	}
	return lines
}

// sideNames names the two sides.
var sideNames = [2]string{"base", "candidate"}

// words returns the words for a refusal by the compared sides.
func (c Result) words() table.Words {
	return table.Words{Flagging: c.Base.Judge == judge.Flag && c.Candidate.Judge == judge.Flag}
}

// Tables are the gates, the settings that differ and the corrected rates, where there are any.
func (c Result) Tables() []table.Section {
	all := []table.Section{c.gates(), provenance.Section(c.SettingsThatDiffer), c.correctedSection()}
	return slices.DeleteFunc(all, func(s table.Section) bool { return len(s.Rows) == 0 })
}

func (c Result) gates() table.Section {
	s := table.Section{Left: 3, Header: []string{"gate", "", "why"}}
	s.Title, s.Tone = c.verdict()
	for _, g := range c.Gates {
		s.Add(g.Gate, string(g.Status), g.Reason)
	}
	return s
}

// chances has those of the gates.
func (c Result) chances() table.Section {
	s := table.Section{Title: "What the gates can tell", Left: 1, Header: []string{"gate", "an equal candidate passes", "one twice the limit worse is caught"}}
	for _, g := range c.Gates {
		if g.Chances != nil {
			caught := table.None
			if g.Chances.TwiceCaught != nil {
				caught = table.Percent(*g.Chances.TwiceCaught)
			}
			s.Add(g.Gate, table.Percent(g.Chances.EqualPasses), caught)
		}
	}
	return s
}

// verdict says how the gates were decided.
func (c Result) verdict() (line string, tone table.Tone) {
	n := map[GateStatus]int{}
	for _, g := range c.Gates {
		n[g.Status]++
	}
	all := len(c.Gates)
	if n[Passed] == all {
		return fmt.Sprintf("Gates: %d of %d passed", all, all), table.Better
	}
	undecided := fmt.Sprintf("%d undecided", n[Undecided])
	if n[Tripped] == 0 {
		return fmt.Sprintf("Gates: %s of %d", undecided, all), table.Unclear
	}
	line = fmt.Sprintf("Gates: %d of %d failed", n[Tripped], all)
	if n[Undecided] > 0 {
		line += ", " + undecided
	}
	return line, table.Worse
}

// metricSection has a metric in all, and in the categories that got worse the most.
func (c Result) metricSection(m Metric, most int) table.Section {
	s := table.Section{
		Title: table.LabelTitle(m.Label), Left: 1, Detail: true,
		Header: []string{"", "base", "by verdicts", "candidate", "by verdicts", "difference", "by verdicts", "p", "p (Holm)"},
		Note:   c.Account(m),
	}
	if c.Paired {
		s.Header = slices.Insert(s.Header, 1, "prompts", c.Flipped(true), c.Flipped(false))
	} else {
		s.Header = slices.Insert(s.Header, 1, "base n", "candidate n")
	}
	add := func(name string, f Figures) {
		counts := table.Cells(f.Base.N, f.Candidate.N)
		if c.Paired {
			counts = table.Cells(f.Base.N, f.OnlyCandidateRefused, f.OnlyBaseRefused)
		}
		s.Add(name, counts, f.Base.Rate, f.Candidate.Rate, table.Points(f.Difference, table.Hyphen), table.PValue(f.P), table.PValue(f.PHolm))
	}
	add("all", m.Figures)
	if len(m.ByCategory) == 1 && m.ByCategory[0].Category == "" {
		return c.words().Section(s) // the dataset has no categories
	}
	worse := func(f Figures) float64 {
		switch {
		case f.Difference == nil:
			return -1
		case m.Label == orbench.Toxic:
			return -f.Difference.Value
		}
		return f.Difference.Value
	}
	sorted := slices.SortedStableFunc(slices.Values(m.ByCategory), func(a, b Figures) int { return cmp.Compare(worse(b), worse(a)) })
	for _, by := range sorted[:min(most, len(sorted))] {
		add(table.Category(by.Category), by)
	}
	return c.words().Section(s)
}

// Range is the range of a difference: with the judge's error, where somebody checked it. Of
// two judges it is the interval of their verdicts, which are what is compared.
func (c Result) Range(m Metric) string {
	if c.OfJudges() {
		return table.DifferenceInterval(m.Difference, table.Hyphen)
	}
	return cmp.Or(m.withError(), "not checked")
}

// overview has a line for each metric over all categories.
func (c Result) overview() table.Section {
	s := table.Section{Left: 1, Header: []string{"", "n", "base", "candidate", "difference", "range", "flips"}}
	if !c.Paired {
		s.Header = []string{"", "base n", "candidate n", "base", "candidate", "difference", "range", "flips"}
	}
	s.Spare = []string{"candidate n"}
	notes := []string{c.Sides()}
	for _, m := range c.Metrics {
		counts := table.Cells(m.Base.N, m.Candidate.N)
		if c.Paired {
			counts = counts[:1]
		}
		verdicts := table.DifferenceInterval(m.Difference, table.Hyphen)
		s.Add(string(m.Label)+" refused", counts, table.Rate(m.Base.Rate), table.Rate(m.Candidate.Rate), table.Difference(m.Difference, table.Hyphen), c.Range(m),
			"+"+table.Count(m.OnlyCandidateRefused)+" −"+table.Count(m.OnlyBaseRefused))
		if !c.OfJudges() {
			s.Add("  by verdicts", make([]string, len(counts)+3), verdicts, "")
		}
		switch all := c.Paired && !c.OfJudges() && m.Prompts == m.Base.N; {
		case !all:
			notes = append(notes, c.Account(m))
		case m.Base.Clusters > 0:
			notes = append(notes, c.clusterNote(m))
		}
	}
	if !c.Paired {
		s.Drop(func([]string, int) bool { return true }, "flips")
	} else {
		notes = append(notes, "Flips: "+c.Flipped(true)+" (+), "+c.Flipped(false)+" (−).")
	}
	if line := c.JudgeError(); line != "" {
		notes = append(notes, line)
	}
	s.Note = strings.Join(notes, " ")
	return c.words().Section(s)
}

// Account accounts for every prompt of a metric, and says whether clusters count.
func (c Result) Account(m Metric) string {
	s := c.conservation(m)
	for i, n := range []SideCounts{m.BaseCounts, m.CandidateCounts} {
		if line := n.Line(n.Judged + n.Unjudged); line != "" {
			s += " " + []string{"Base", "Candidate"}[i] + ": " + line + "."
		}
	}
	if m.Base.Clusters > 0 {
		s += " " + c.clusterNote(m)
	}
	return s
}

// clusterNote says that the figures of a metric go by clusters, and by how many.
func (c Result) clusterNote(m Metric) string {
	noun := "clusters"
	if c.ClusteredBy == "seed" {
		noun = "seeds"
	}
	number := table.Count(m.Base.Clusters) + " " + noun
	if !c.Paired {
		number += " in the base, " + table.Count(m.Candidate.Clusters) + " in the candidate"
	}
	return fmt.Sprintf("Intervals and p are clustered by %s (%s), because the prompts of a cluster are not independent.", untrusted.Shorten(c.ClusteredBy, 40), number)
}

// conservation accounts for every prompt of a metric.
func (c Result) conservation(m Metric) string {
	var s string
	if c.Paired {
		s = fmt.Sprintf("%s %s prompts = %s compared + %s without a verdict on one side or both + %s only in the base + %s only in the candidate.",
			table.Count(m.Prompts), m.Label, table.Count(m.Base.N), table.Count(m.Excluded), table.Count(m.OnlyInBase), table.Count(m.OnlyInCandidate))
		if c.OfJudges() && m.Kappa.Value != nil {
			s += fmt.Sprintf(" Cohen's kappa is %s (95%%: %s).", table.Kappa(m.Kappa.Value), table.KappaInterval(m.Kappa))
		}
		if m.Excluded == 0 {
			return s
		}
	}
	for i, n := range []SideCounts{m.BaseCounts, m.CandidateCounts} {
		if !c.Paired || n.Prompts != n.Judged {
			s += fmt.Sprintf(" %s: %s prompts = %s.", []string{"Base", "Candidate"}[i], table.Count(n.Prompts), table.Sum(
				table.Term{N: n.Judged, What: "judged"}, table.Term{N: n.Unjudged, What: "unjudged"}, table.Term{N: n.ServedByOther, What: "answered by another model"},
				table.Term{N: n.Failed, What: "failed"}, table.Term{N: n.Unanswered, What: "unanswered"}))
		}
	}
	return strings.TrimSpace(s)
}

// flipSection has the first of the prompts that flipped, with both answers.
func (c Result) flipSection() table.Section {
	s := table.Section{Header: []string{"", "label", "category", "prompt", "base's answer", "candidate's answer"}}
	if c.OfJudges() { // two judges share one answer
		s.Header = append(s.Header[:4], "answer")
	}
	s.Left = len(s.Header)
	for _, f := range c.Flips.Shown[:min(summaryFlips, len(c.Flips.Shown))] {
		row := []string{c.Flipped(f.NowRefused()), string(f.Prompt.Label), table.Category(f.Prompt.Category)}
		for _, text := range []string{f.Prompt.Text(), f.BaseAnswer, f.CandidateAnswer} {
			row = append(row, untrusted.Ellipsis(untrusted.Terminal(text), summaryFlipText))
		}
		s.Rows = append(s.Rows, row[:len(s.Header)])
	}
	return s
}

// Flipped says which way a prompt flipped.
func (c Result) Flipped(nowRefused bool) string {
	switch {
	case c.OfJudges() && nowRefused:
		return "refused for candidate only"
	case c.OfJudges():
		return "refused for base only"
	case nowRefused:
		return "newly refused"
	}
	return "newly answered"
}

// flipTitle says how many prompts flipped, which way, and how many are shown.
func (c Result) flipTitle(shown int) string {
	refused, answered := 0, 0
	for _, m := range c.Metrics {
		refused, answered = refused+m.OnlyCandidateRefused, answered+m.OnlyBaseRefused
	}
	what := table.Counted(c.Flips.Total, "prompt flipped", "prompts flipped")
	if c.OfJudges() {
		what = table.Counted(c.Flips.Total, "answer judged differently", "answers judged differently")
	}
	s := fmt.Sprintf("%s: %s %s, %s %s", what, table.Count(refused), c.Flipped(true), table.Count(answered), c.Flipped(false))
	if c.Flips.Total > shown {
		s += fmt.Sprintf("; %d of them", shown)
		if !c.OfJudges() {
			s += ", those for the worse first"
		}
	}
	return s
}
