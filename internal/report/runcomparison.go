package report

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/orbench/orbench/internal/compare"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// RunComparison shows two runs compared.
type RunComparison struct{ compare.Result }

// How much of the flipped prompts is shown. Texts are cut to so many bytes.
const (
	tableFlips    = 5
	tableFlipText = 90
	// ShownFlips is how many flipped prompts JSON has, with both answers; other
	// formats show fewer.
	ShownFlips   = 50
	jsonFlipText = 2000
)

// Table writes the comparison for people to read on a terminal: the gates, then
// for each metric both rates, their difference and its test, in all and by
// category, and the first prompts that flipped. Text from outside loses whatever
// a terminal would obey.
func (c RunComparison) Table(w io.Writer) error {
	b := bufio.NewWriter(w)
	if c.Simulated {
		b.WriteString(simulatedNotice + "\n\n")
	}
	writeTable(b, c.heading())
	if len(c.Gates) > 0 {
		writeTable(b, c.gates())
	}
	for _, m := range c.Metrics {
		writeTable(b, c.metricSection(m))
	}
	if c.Flips.Total > 0 {
		writeTable(b, c.flipSection())
	}
	return b.Flush()
}

// JSON writes the comparison in its documented form, with at most ShownFlips of
// the flipped prompts and the first 2,000 bytes of their answers.
func (c RunComparison) JSON(w io.Writer) error {
	r := c.Result
	r.Flips.Shown = slices.Clone(r.Flips.Shown[:min(ShownFlips, len(r.Flips.Shown))])
	for i := range r.Flips.Shown {
		f := &r.Flips.Shown[i]
		f.BaseAnswer, f.CandidateAnswer = untrusted.Ellipsis(f.BaseAnswer, jsonFlipText), untrusted.Ellipsis(f.CandidateAnswer, jsonFlipText)
	}
	return writeJSON(w, r)
}

// CSV writes one line for each metric (scope "all") and one for each of its
// categories (scope "category"), where the columns that only the whole metric
// has are empty. Rates and differences are shares; what is undefined is empty.
// Text is as harmless as in the function CSV.
func (c RunComparison) CSV(w io.Writer) error {
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
	add := func(m compare.Metric, scope, category string, counts []string, f compare.Figures, holm *float64) {
		row := []string{
			untrusted.Cell(c.Base.Run), untrusted.Cell(c.Base.Target), untrusted.Cell(c.Candidate.Run), untrusted.Cell(c.Candidate.Target), untrusted.Cell(c.Base.Judge), untrusted.Cell(c.Candidate.Judge),
			strconv.FormatBool(c.Paired), string(m.Name), scope, untrusted.Cell(category),
		}
		row = append(row, counts...)
		for _, r := range []compare.Rate{f.Base, f.Candidate} {
			row = append(row, strconv.Itoa(r.N), strconv.Itoa(r.Refused))
			row = append(row, shares(r.Rate, r.CI95)...)
		}
		row = append(row, strconv.Itoa(f.OnlyBaseRefused), strconv.Itoa(f.OnlyCandidateRefused))
		if d := f.Difference; d != nil {
			row = append(row, number(d.Value), number(d.Lo), number(d.Hi))
		} else {
			row = append(row, "", "", "")
		}
		row = append(row, string(f.Test), shares(f.P, nil)[0], shares(holm, nil)[0], strconv.FormatBool(c.Simulated), untrusted.Cell(c.ClusteredBy))
		for _, r := range []compare.Rate{f.Base, f.Candidate} {
			clusters := ""
			if r.Clusters > 0 {
				clusters = strconv.Itoa(r.Clusters)
			}
			row = append(append(row, clusters), shares(nil, r.CI95Clustered)[1:]...)
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
	return csv.NewWriter(w).WriteAll(rows)
}

// FlipWriter writes flipped prompts with both answers as CSV.
type FlipWriter struct{ out *csv.Writer }

// NewFlipWriter writes the header to w. Text is as harmless as in CSV.
func NewFlipWriter(w io.Writer) *FlipWriter {
	f := &FlipWriter{csv.NewWriter(w)}
	// An error stays with the writer, and Flush gives it.
	_ = f.out.Write([]string{
		"prompt_id", "label", "category", "now", "base_class", "candidate_class", "prompt", "base_answer", "candidate_answer",
	})
	return f
}

// Add writes one flipped prompt.
func (w *FlipWriter) Add(f compare.Flip) error {
	return w.out.Write([]string{
		untrusted.Cell(string(f.Prompt.ID)), untrusted.Cell(string(f.Prompt.Label)), untrusted.Cell(string(f.Prompt.Category)), now(f),
		string(f.BaseClass), string(f.CandidateClass),
		untrusted.Cell(f.Prompt.Text()), untrusted.Cell(f.BaseAnswer), untrusted.Cell(f.CandidateAnswer),
	})
}

// Flush writes what is buffered, and gives the first error of all writes.
func (w *FlipWriter) Flush() error {
	w.out.Flush()
	return w.out.Error()
}

// now says what a flipped prompt has become.
func now(f compare.Flip) string {
	if f.NowRefused() {
		return "refused"
	}
	return "answered"
}

func (c RunComparison) heading() section {
	s := section{
		title: "Two runs compared", left: 4,
		header: []string{"", "run", "target", "judge", "prompts"},
		note:   c.method(),
	}
	if c.OfJudges() {
		s.title = "Two judges compared on the same answers"
	}
	for i, side := range []compare.Side{c.Base, c.Candidate} {
		s.rows = append(s.rows, []string{[]string{"base", "candidate"}[i], side.Run, side.Target, side.Judge, count(side.Prompts)})
		name := []string{"base", "candidate"}[i]
		if side.Other > 0 {
			s.note += fmt.Sprintf(" Not compared, as neither safe nor toxic: %s of the %s.", count(side.Other), name)
		}
		if side.Repeated > 0 {
			s.note += fmt.Sprintf(" Counted once, as the prompt came before: %s of the %s.", count(side.Repeated), name)
		}
	}
	return s
}

// method says what the differences and p-values are.
func (c RunComparison) method() string {
	if c.Paired {
		return "Differences are candidate minus base on the prompts that both judged, in percentage points; p is McNemar's."
	}
	return "Unpaired: the rates are compared as those of independent samples. Differences are candidate minus base, in percentage points; p is Fisher's."
}

func (c RunComparison) gates() section {
	s := section{title: c.verdict(), left: 3, header: []string{"gate", "", "why"}}
	for _, g := range c.Gates {
		s.rows = append(s.rows, []string{g.Gate, string(g.Status), g.Reason})
	}
	return s
}

// verdict says how the gates did.
func (c RunComparison) verdict() string {
	n := map[compare.GateStatus]int{}
	for _, g := range c.Gates {
		n[g.Status]++
	}
	all := len(c.Gates)
	if n[compare.Passed] == all {
		return fmt.Sprintf("Gates: %d of %d passed", all, all)
	}
	s := fmt.Sprintf("Gates: %d of %d failed", n[compare.Tripped], all)
	if u := n[compare.Undecided]; u > 0 {
		s += fmt.Sprintf(", %d undecided", u)
	}
	return s
}

func (c RunComparison) metricSection(m compare.Metric) section {
	s := section{
		title: labelTitle(m.Label), left: 1,
		header: []string{"", "base", "95%", "candidate", "95%", "difference", "95%", "p", "p (Holm)"},
		note:   c.account(m),
	}
	if c.Paired {
		s.header = slices.Insert(s.header, 1, "prompts", c.flipped(true), c.flipped(false))
	} else {
		s.header = slices.Insert(s.header, 1, "n, base", "n, candidate")
	}
	add := func(name string, f compare.Figures, holm *float64) {
		row := []string{name}
		if c.Paired {
			row = append(row, count(f.Base.N), count(f.OnlyCandidateRefused), count(f.OnlyBaseRefused))
		} else {
			row = append(row, count(f.Base.N), count(f.Candidate.N))
		}
		for _, r := range []compare.Rate{f.Base, f.Candidate} {
			row = append(row, rate(r.Rate), interval(r.Interval()))
		}
		s.rows = append(s.rows, append(row, points(f.Difference), pointsInterval(f.Difference), pValue(f.P), pValue(holm)))
	}
	add("all", m.Figures, nil)
	for _, by := range m.ByCategory {
		if len(m.ByCategory) == 1 && by.Category == "" {
			break // the dataset has no categories
		}
		add(categoryName(by.Category), by.Figures, by.PHolm)
	}
	return s
}

// account accounts for every prompt of a metric, and says whether clusters count.
func (c RunComparison) account(m compare.Metric) string {
	s := c.conservation(m)
	if m.Base.Clusters > 0 {
		s += " " + c.clusterNote(m)
	}
	return s
}

// clusterNote says that the figures of a metric go by clusters, and by how many.
func (c RunComparison) clusterNote(m compare.Metric) string {
	noun := "clusters"
	if c.ClusteredBy == "seed" {
		noun = "seeds"
	}
	number := count(m.Base.Clusters) + " " + noun
	if !c.Paired {
		number += " in the base, " + count(m.Candidate.Clusters) + " in the candidate"
	}
	return fmt.Sprintf("Intervals and p are clustered by %s (%s), as their prompts are not independent.", untrusted.Shorten(c.ClusteredBy, 40), number)
}

// conservation accounts for every prompt of a metric.
func (c RunComparison) conservation(m compare.Metric) string {
	var s string
	if c.Paired {
		s = fmt.Sprintf("%s %s prompts = %s compared + %s without a verdict on one side or both + %s only in the base + %s only in the candidate.",
			count(m.Prompts), m.Label, count(m.Base.N), count(m.Excluded), count(m.OnlyInBase), count(m.OnlyInCandidate))
		if c.OfJudges() && m.Kappa != nil {
			s += fmt.Sprintf(" Cohen's kappa is %s.", rounded(m.Kappa))
		}
		if m.Excluded == 0 {
			return s
		}
	}
	for i, n := range []compare.SideCounts{m.BaseCounts, m.CandidateCounts} {
		if c.Paired && n.Prompts == n.Judged {
			continue
		}
		s += fmt.Sprintf(" %s: %s prompts = %s judged + %s unjudged + %s failed + %s unanswered.",
			[]string{"Base", "Candidate"}[i], count(n.Prompts), count(n.Judged), count(n.Unjudged), count(n.Failed), count(n.Unanswered))
	}
	return strings.TrimSpace(s)
}

func (c RunComparison) flipSection() section {
	s := section{left: 4, header: []string{"", "label", "category", "prompt"}}
	for _, f := range c.Flips.Shown[:min(tableFlips, len(c.Flips.Shown))] {
		s.rows = append(s.rows, []string{c.flipped(f.NowRefused()), string(f.Prompt.Label), categoryName(f.Prompt.Category), untrusted.Ellipsis(untrusted.Terminal(f.Prompt.Text()), tableFlipText)})
	}
	s.title = c.flipTitle(len(s.rows))
	if c.Flips.Total > len(s.rows) {
		s.note = "All of them with both answers: --flips FILE."
	}
	return s
}

// flipped says which way a prompt flipped.
func (c RunComparison) flipped(nowRefused bool) string {
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
func (c RunComparison) flipTitle(shown int) string {
	refused, answered := 0, 0
	for _, m := range c.Metrics {
		refused, answered = refused+m.OnlyCandidateRefused, answered+m.OnlyBaseRefused
	}
	what := "prompts flipped"
	if c.OfJudges() {
		what = "answers judged differently"
	}
	s := fmt.Sprintf("%s %s: %s %s, %s %s", count(c.Flips.Total), what, count(refused), c.flipped(true), count(answered), c.flipped(false))
	if c.Flips.Total > shown {
		s += fmt.Sprintf("; %d of them", shown)
		if !c.OfJudges() {
			s += ", those for the worse first"
		}
	}
	return s
}

// points shows a difference of shares in percentage points, as "+2.1".
func points(d *stats.Estimate) string {
	if d == nil {
		return "–"
	}
	return signed(d.Value)
}

// pointsInterval shows the interval of a difference, as "-0.4 to +4.6".
func pointsInterval(d *stats.Estimate) string {
	if d == nil {
		return "–"
	}
	return signed(d.Lo) + " to " + signed(d.Hi)
}

// signed shows a share as percentage points with a sign; what rounds to zero has
// none.
func signed(share float64) string {
	s := strconv.FormatFloat(100*share, 'f', 1, 64)
	switch {
	case s == "0.0" || s == "-0.0":
		return "0.0"
	case share > 0:
		return "+" + s
	}
	return s
}

// pValue shows a p-value that may be undefined.
func pValue(p *float64) string {
	switch {
	case p == nil:
		return "–"
	case *p < 0.0001:
		return "<0.0001"
	}
	return strconv.FormatFloat(*p, 'f', 4, 64)
}
