package compare

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/truncation"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/judge"
)

// How much of the flipped prompts is shown. Texts are cut to so many bytes.
const (
	tableFlips    = 5
	tableFlipText = 90
	// ShownFlips is how many flipped prompts JSON has, with both answers; other
	// formats show fewer.
	ShownFlips   = 50
	jsonFlipText = 2000
)

// Text writes the comparison for people to read on a terminal: the gates, then
// for each metric both rates, their difference and its test, in all and by
// category, and the first prompts that flipped. Text from outside loses whatever
// a terminal would obey.
func (c Result) Text(b *table.Printer) error {
	if c.Simulated {
		b.Line(table.SimulatedNotice)
		b.WriteString("\n")
	}
	b.Section(c.heading())
	if s := provenance.Section(c.SettingsThatDiffer); len(s.Rows) > 0 {
		b.Section(s)
	}
	for _, line := range c.warnings() {
		b.Paragraph("Warning. ", untrusted.Terminal(line))
		b.WriteString("\n")
	}
	if len(c.Gates) > 0 {
		b.Section(c.gates())
	}
	if b.Brief {
		b.Section(c.overview())
	}
	for _, m := range c.Metrics {
		b.Details(c.metricSection(m))
	}
	if s := c.correctedSection(); len(s.Rows) > 0 {
		b.Section(s)
	}
	b.Details(c.Pairs.Sections(tableFlips)...)
	if c.Flips.Total > 0 {
		b.Details(c.flipSection())
	}
	return b.Flush()
}

// JSON writes the comparison in its documented form, with at most ShownFlips of
// the flipped prompts and the first 2,000 bytes of their answers.
func (c Result) JSON(w io.Writer) error {
	r := c
	r.Flips.Shown = slices.Clone(r.Flips.Shown[:min(ShownFlips, len(r.Flips.Shown))])
	for i := range r.Flips.Shown {
		f := &r.Flips.Shown[i]
		f.BaseAnswer, f.CandidateAnswer = untrusted.Ellipsis(f.BaseAnswer, jsonFlipText), untrusted.Ellipsis(f.CandidateAnswer, jsonFlipText)
	}
	return table.JSON(w, r)
}

// CSV writes one line for each metric (scope "all") and one for each of its
// categories (scope "category"), where the columns that only the whole metric
// has are empty. Rates and differences are shares; what is undefined is empty.
// Texts are as untrusted.Cell makes them.
func (c Result) CSV(w io.Writer) error {
	// Only where an answer is cut, or may be, are there columns for that.
	ended := slices.ContainsFunc(c.Metrics, func(m Metric) bool {
		return m.BaseCounts.Count != (truncation.Count{}) || m.CandidateCounts.Count != (truncation.Count{})
	})
	rows := [][]string{{
		"base_run", "base_target", "candidate_run", "candidate_target", "base_judge", "candidate_judge", "paired", "metric", "scope", "category",
		"prompts", "excluded", "only_in_base", "only_in_candidate",
		"base_n", "base_refused", "base_rate", "base_ci95_lo", "base_ci95_hi",
		"candidate_n", "candidate_refused", "candidate_rate", "candidate_ci95_lo", "candidate_ci95_hi",
		"only_base_refused", "only_candidate_refused", "difference", "difference_ci95_lo", "difference_ci95_hi",
		"test", "p", "p_holm", "simulated",
		"clustered_by", "base_clusters", "base_ci95_clustered_lo", "base_ci95_clustered_hi",
		"candidate_clusters", "candidate_ci95_clustered_lo", "candidate_ci95_clustered_hi",
	}}
	if ended {
		rows[0] = append(rows[0], "base_truncated", "base_ending_unknown", "candidate_truncated", "candidate_ending_unknown")
	}
	add := func(m Metric, scope, category string, counts []string, f Figures, holm *float64) {
		row := []string{
			untrusted.Cell(c.Base.Run), untrusted.Cell(c.Base.Target), untrusted.Cell(c.Candidate.Run), untrusted.Cell(c.Candidate.Target), untrusted.Cell(c.Base.Judge), untrusted.Cell(c.Candidate.Judge),
			strconv.FormatBool(c.Paired), string(m.Name), scope, untrusted.Cell(category),
		}
		row = append(row, counts...)
		for _, r := range []Rate{f.Base, f.Candidate} {
			row = append(row, strconv.Itoa(r.N), strconv.Itoa(r.Refused))
			row = append(row, table.RateCells(r.Rate)...)
		}
		row = append(row, strconv.Itoa(f.OnlyBaseRefused), strconv.Itoa(f.OnlyCandidateRefused))
		if d := f.Difference; d != nil {
			row = append(row, table.Number(d.Value), table.Number(d.Lo), table.Number(d.Hi))
		} else {
			row = append(row, "", "", "")
		}
		row = append(row, string(f.Test), table.NumberCell(f.P), table.NumberCell(holm), strconv.FormatBool(c.Simulated), untrusted.Cell(c.ClusteredBy))
		for _, r := range []Rate{f.Base, f.Candidate} {
			clusters := ""
			if r.Clusters > 0 {
				clusters = strconv.Itoa(r.Clusters)
			}
			row = append(append(row, clusters), table.IntervalCells(r.CI95Clustered)...)
		}
		switch {
		case ended && scope == "all":
			b, n := m.BaseCounts, m.CandidateCounts
			row = append(append(row, b.Count.Cells(b.Judged+b.Unjudged)...), n.Count.Cells(n.Judged+n.Unjudged)...)
		case ended:
			row = append(row, make([]string, 4)...)
		}
		rows = append(rows, row)
	}
	for _, m := range c.Metrics {
		add(m, "all", "", []string{
			strconv.Itoa(m.Prompts), strconv.Itoa(m.Excluded), strconv.Itoa(m.OnlyInBase), strconv.Itoa(m.OnlyInCandidate),
		}, m.Figures, nil)
		for _, by := range m.ByCategory {
			add(m, "category", string(by.Category), make([]string, 4), by.Figures, by.PHolm)
		}
	}
	return table.CSVCells(w, rows)
}

// FlipWriter writes flipped prompts with both answers as CSV.
type FlipWriter struct{ out *csv.Writer }

// NewFlipWriter writes the header to w. Texts are as untrusted.Cell makes them.
func NewFlipWriter(w io.Writer) *FlipWriter {
	f := &FlipWriter{csv.NewWriter(w)}
	// An error stays with the writer, and Flush gives it.
	_ = f.out.Write([]string{
		"prompt_id", "label", "category", "now", "base_class", "candidate_class", "prompt", "base_answer", "candidate_answer",
	})
	return f
}

// Add writes one flipped prompt.
func (w *FlipWriter) Add(f Flip) error {
	return w.out.Write([]string{
		untrusted.Cell(string(f.Prompt.ID)), untrusted.Cell(string(f.Prompt.Label)), untrusted.Cell(string(f.Prompt.Category)), now(f),
		string(f.BaseClass), string(f.CandidateClass),
		untrusted.Cell(f.Prompt.Transcript()), untrusted.Cell(f.BaseAnswer), untrusted.Cell(f.CandidateAnswer),
	})
}

// Flush writes what is buffered, and gives the first error of all writes.
func (w *FlipWriter) Flush() error {
	w.out.Flush()
	return w.out.Error()
}

// now says what a flipped prompt has become.
func now(f Flip) string {
	if f.NowRefused() {
		return "refused"
	}
	return "answered"
}

func (c Result) heading() table.Section {
	s := table.Section{
		Title: "Two runs compared", Left: 4,
		Header: []string{"", "run", "target", "judge", "prompts"},
		Note:   c.method(),
	}
	if c.OfJudges() {
		s.Title = "Two judges compared on the same answers"
	}
	if (c.Base.Judge == judge.Flag) != (c.Candidate.Judge == judge.Flag) {
		s.Note += " One side is a guard: what it flags counts as refused."
	}
	for i, side := range []Side{c.Base, c.Candidate} {
		name := sideNames[i]
		s.Rows = append(s.Rows, []string{name, side.Run, side.Target, side.Judge, table.Count(side.Prompts)})
		if side.Other > 0 {
			s.Note += fmt.Sprintf(" Not compared, as neither safe nor toxic: %s of the %s.", table.Count(side.Other), name)
		}
		if side.Repeated > 0 {
			s.Note += fmt.Sprintf(" Counted once, as the prompt came before: %s of the %s.", table.Count(side.Repeated), name)
		}
	}
	return s
}

// warnings say, a line each, what but the targets may have made the difference.
func (c Result) warnings() []string {
	var lines []string
	if line := provenance.Warning(c.SettingsThatDiffer); line != "" {
		lines = append(lines, line)
	}
	lines = append(lines, c.Provenance.Warnings()...)
	var cut []string
	for _, m := range c.Metrics {
		for i, n := range []SideCounts{m.BaseCounts, m.CandidateCounts} {
			if answers := n.Judged + n.Unjudged; n.Count.Many(answers) {
				cut = append(cut, fmt.Sprintf("the %s (%s of %s answers to %s prompts)", sideNames[i], table.Count(n.Truncated), table.Count(answers), m.Label))
			}
		}
	}
	if len(cut) > 0 {
		lines = append(lines, "Cut by the token limit: "+strings.Join(cut, ", ")+". "+truncation.Consequence)
	}
	for i, side := range []Side{c.Base, c.Candidate} {
		if side.LabelAssumed {
			lines = append(lines, fmt.Sprintf("Label assumed: nothing says what prompts of the %s are, and they count as safe.", sideNames[i]))
		}
	}
	return lines
}

// sideNames are those of the two sides.
var sideNames = [2]string{"base", "candidate"}

// words are what the compared sides call a refusal.
func (c Result) words() table.Words {
	return table.Words{Flagging: c.Base.Judge == judge.Flag && c.Candidate.Judge == judge.Flag}
}

// method says what the differences and p-values are.
func (c Result) method() string {
	if c.Paired {
		return "Differences are candidate minus base on the prompts that both judged, in percentage points; p is McNemar's."
	}
	return "Unpaired: the rates are compared as those of independent samples. Differences are candidate minus base, in percentage points; p is Fisher's."
}

// gateNote explains a column of gates.
const gateNote = "Could find: the smallest difference that the sample had a chance of 80% to find."

func (c Result) gates() table.Section {
	s := table.Section{Title: c.verdict(), Left: 4, Header: []string{"gate", "", "could find, pp", "why"}, Note: gateNote}
	for _, g := range c.Gates {
		s.Rows = append(s.Rows, []string{g.Gate, string(g.Status), g.detectable(), g.Reason})
	}
	return s
}

// verdict says how the gates did.
func (c Result) verdict() string {
	n := map[GateStatus]int{}
	for _, g := range c.Gates {
		n[g.Status]++
	}
	all := len(c.Gates)
	if n[Passed] == all {
		return fmt.Sprintf("Gates: %d of %d passed", all, all)
	}
	s := fmt.Sprintf("Gates: %d of %d failed", n[Tripped], all)
	if u := n[Undecided]; u > 0 {
		s += fmt.Sprintf(", %d undecided", u)
	}
	return s
}

func (c Result) metricSection(m Metric) table.Section {
	s := table.Section{
		Title: table.LabelTitle(m.Label), Left: 1,
		Header: []string{"", "base", "95%", "candidate", "95%", "difference", "95%", "p", "p (Holm)"},
		Note:   c.account(m),
	}
	if c.Paired {
		s.Header = slices.Insert(s.Header, 1, "prompts", c.flipped(true), c.flipped(false))
	} else {
		s.Header = slices.Insert(s.Header, 1, "n, base", "n, candidate")
	}
	add := func(name string, f Figures, holm *float64) {
		row := []string{name}
		if c.Paired {
			row = append(row, table.Count(f.Base.N), table.Count(f.OnlyCandidateRefused), table.Count(f.OnlyBaseRefused))
		} else {
			row = append(row, table.Count(f.Base.N), table.Count(f.Candidate.N))
		}
		for _, r := range []Rate{f.Base, f.Candidate} {
			row = append(row, table.Rate(r.Rate), table.Interval(r.Interval()))
		}
		s.Rows = append(s.Rows, append(row, table.Difference(f.Difference, table.Hyphen), table.DifferenceInterval(f.Difference, table.Hyphen), table.PValue(f.P), table.PValue(holm)))
	}
	add("all", m.Figures, nil)
	for _, by := range m.ByCategory {
		if len(m.ByCategory) == 1 && by.Category == "" {
			break // the dataset has no categories
		}
		add(table.Category(by.Category), by.Figures, by.PHolm)
	}
	return c.words().Section(s)
}

// overview has a line for each metric over all categories.
func (c Result) overview() table.Section {
	s := table.Section{
		Title: "Candidate against base", Left: 1,
		Header: []string{"", "n", "base", "candidate", "difference", "95%", "p", c.flipped(true), c.flipped(false), "95% of base", "95% of candidate"},
		Spare:  []string{"95% of candidate", "95% of base", c.flipped(false), c.flipped(true)},
	}
	if !c.Paired {
		s.Header = slices.Replace(s.Header, 1, 2, "n, base", "n, candidate")
	}
	var notes []string
	for _, m := range c.Metrics {
		row := []string{metricName(m.Label), table.Count(m.Base.N)}
		if !c.Paired {
			row = append(row, table.Count(m.Candidate.N))
		}
		row = append(row, table.Rate(m.Base.Rate), table.Rate(m.Candidate.Rate), table.Difference(m.Difference, table.Hyphen), table.DifferenceInterval(m.Difference, table.Hyphen), table.PValue(m.P),
			table.Count(m.OnlyCandidateRefused), table.Count(m.OnlyBaseRefused), table.Interval(m.Base.Interval()), table.Interval(m.Candidate.Interval()))
		s.Rows = append(s.Rows, row)
		switch all := c.Paired && !c.OfJudges() && m.Prompts == m.Base.N; {
		case !all:
			notes = append(notes, c.account(m))
		case m.Base.Clusters > 0:
			notes = append(notes, c.clusterNote(m))
		}
	}
	if !c.Paired {
		s.Drop(func([]string, int) bool { return true }, c.flipped(true), c.flipped(false))
	}
	s.Note = strings.Join(notes, " ")
	return c.words().Section(s)
}

// metricName is what the metric of a label is called.
func metricName(l orbench.Label) string {
	if l == orbench.Safe {
		return "over-refusal"
	}
	return "toxic refusal"
}

// account accounts for every prompt of a metric, and says whether clusters count.
func (c Result) account(m Metric) string {
	s := c.conservation(m)
	if line := m.endings(); line != "" {
		s += " " + line
	}
	if m.Base.Clusters > 0 {
		s += " " + c.clusterNote(m)
	}
	return s
}

// endings says how many answers of both sides the token limit cut; empty where it cut
// none.
func (m Metric) endings() string {
	var cut, unknown []string
	for i, n := range []SideCounts{m.BaseCounts, m.CandidateCounts} {
		answers := n.Judged + n.Unjudged
		side := " in the " + sideNames[i]
		if n.EndingUnknown > 0 {
			unknown = append(unknown, table.Count(n.EndingUnknown)+side)
		}
		if n.EndingUnknown < answers {
			cut = append(cut, table.Count(n.Truncated)+" of "+table.Count(answers)+" answers"+side)
		}
	}
	var s string
	if m.BaseCounts.Truncated+m.CandidateCounts.Truncated > 0 {
		s = "Cut by the token limit: " + strings.Join(cut, ", ") + "."
	}
	if len(unknown) > 0 {
		s += " Answers of which it is not known whether the token limit cut them: " + strings.Join(unknown, ", ") + "."
	}
	return strings.TrimSpace(s)
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
	return fmt.Sprintf("Intervals and p are clustered by %s (%s), as their prompts are not independent.", untrusted.Shorten(c.ClusteredBy, 40), number)
}

// conservation accounts for every prompt of a metric.
func (c Result) conservation(m Metric) string {
	var s string
	if c.Paired {
		s = fmt.Sprintf("%s %s prompts = %s compared + %s without a verdict on one side or both + %s only in the base + %s only in the candidate.",
			table.Count(m.Prompts), m.Label, table.Count(m.Base.N), table.Count(m.Excluded), table.Count(m.OnlyInBase), table.Count(m.OnlyInCandidate))
		if c.OfJudges() && m.Kappa.Value != nil {
			s += fmt.Sprintf(" Cohen's kappa is %s (95%%: %s).", table.Measure(m.Kappa.Value), table.KappaInterval(m.Kappa))
		}
		if m.Excluded == 0 {
			return s
		}
	}
	for i, n := range []SideCounts{m.BaseCounts, m.CandidateCounts} {
		if c.Paired && n.Prompts == n.Judged {
			continue
		}
		s += fmt.Sprintf(" %s: %s prompts = %s judged + %s unjudged + %s failed + %s unanswered.",
			[]string{"Base", "Candidate"}[i], table.Count(n.Prompts), table.Count(n.Judged), table.Count(n.Unjudged), table.Count(n.Failed), table.Count(n.Unanswered))
	}
	return strings.TrimSpace(s)
}

func (c Result) flipSection() table.Section {
	s := table.Section{Left: 4, Header: []string{"", "label", "category", "prompt"}}
	for _, f := range c.Flips.Shown[:min(tableFlips, len(c.Flips.Shown))] {
		s.Rows = append(s.Rows, []string{c.flipped(f.NowRefused()), string(f.Prompt.Label), table.Category(f.Prompt.Category), untrusted.Ellipsis(untrusted.Terminal(f.Prompt.Text()), tableFlipText)})
	}
	s.Title = c.flipTitle(len(s.Rows))
	if c.Flips.Total > len(s.Rows) {
		s.Note = "A file of flips has all of them, with both answers."
	}
	return s
}

// flipped says which way a prompt flipped.
func (c Result) flipped(nowRefused bool) string {
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
	s := fmt.Sprintf("%s: %s %s, %s %s", what, table.Count(refused), c.flipped(true), table.Count(answered), c.flipped(false))
	if c.Flips.Total > shown {
		s += fmt.Sprintf("; %d of them", shown)
		if !c.OfJudges() {
			s += ", those for the worse first"
		}
	}
	return s
}
