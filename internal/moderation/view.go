package moderation

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// Text writes the result for people to read on a terminal: on a brief screen the labels,
// and a line for each change.
func (r *Result) Text(b *table.Printer) error {
	if r.Simulated {
		b.Line(table.SimulatedNotice)
		b.WriteString("\n")
	}
	for _, line := range r.basis() {
		b.Paragraph("", untrusted.Terminal(line))
	}
	b.WriteString("\n")
	sections := r.sections()
	b.Section(sections[0])
	if b.Brief && len(r.Changes) > 0 {
		b.Section(r.changes())
	}
	b.Details(sections[1:]...)
	return b.Flush()
}

// Markdown writes the tables of Text as Markdown.
func (r *Result) Markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString("# Moderation\n\n")
	if r.Simulated {
		b.WriteString("**" + table.SimulatedNotice + "**\n\n")
	}
	for _, line := range r.basis() {
		b.WriteString(untrusted.Markdown(line) + "\n\n")
	}
	for _, s := range r.sections() {
		s.Markdown(b)
	}
	return b.Flush()
}

// JSON writes the result in its documented form.
func (r *Result) JSON(w io.Writer) error { return table.JSON(w, r) }

// CSV writes a line for each label of the dataset and of each policy (scope
// "label"), for each category of toxic prompts (scope "category"), for each change
// from one policy to another (scope "changed"), and for each cell of its table (scope
// "transition"). Shares are from 0 to 1; what is undefined is empty.
func (r *Result) CSV(w io.Writer) error {
	rows := [][]string{{
		"scope", "policy", "to_policy", "label", "to_label", "category", "n", "of",
		"rate", "rate_ci95_lo", "rate_ci95_hi", "rate_ci95_clustered_lo", "rate_ci95_clustered_hi", "kappa", "kappa_ci95_lo", "kappa_ci95_hi", "kappa_ci95_clustered_lo", "kappa_ci95_clustered_hi", "simulated",
	}}
	of, marked := strconv.Itoa(r.Prompts), strconv.FormatBool(r.Simulated)
	empty := make([]string, 10)
	labels := func(policy string, counts []LabelCount) {
		for _, c := range counts {
			row := append([]string{"label", untrusted.Cell(policy), "", string(c.Label), "", "", strconv.Itoa(c.N), of}, table.RateCells(c.Rate)...)
			row = append(append(row, table.IntervalCells(c.CI95Clustered)...), "", "", "", "", "", marked)
			rows = append(rows, row)
		}
	}
	labels(Own, r.Own)
	for _, p := range r.Policies {
		labels(p.Policy, p.Labels)
		for _, c := range p.Categories {
			rows = append(rows, append(append([]string{
				"category", untrusted.Cell(p.Policy), "", string(orbench.Toxic), "", untrusted.Cell(string(c.Category)), strconv.Itoa(c.N), of,
			}, empty...), marked))
		}
	}
	for _, c := range r.Changes {
		row := append([]string{"changed", untrusted.Cell(c.From), untrusted.Cell(c.To), "", "", "", strconv.Itoa(c.Changed), of}, table.RateCells(c.Rate)...)
		row = append(row, table.IntervalCells(c.CI95Clustered)...)
		row = append(append(row, table.NumberCell(c.Value)), table.IntervalCells(c.KappaCI95)...)
		row = append(row, table.IntervalCells(c.KappaCI95Clustered)...)
		rows = append(rows, append(row, marked))
		for i, line := range c.Table {
			for j, n := range line {
				rows = append(rows, append(append([]string{
					"transition", untrusted.Cell(c.From), untrusted.Cell(c.To), string(orbench.Labels[i]), string(orbench.Labels[j]), "", strconv.Itoa(n), of,
				}, empty...), marked))
			}
		}
	}
	return table.CSV(w, rows)
}

// basis says in a few lines what the figures rest on.
func (r *Result) basis() []string {
	of := r.Dataset + "@" + table.ShortHash(r.SHA256)
	if r.Limit > 0 {
		of += fmt.Sprintf(", the first %d", r.Limit)
	}
	of += r.Note()
	lines := []string{fmt.Sprintf("%s prompts of %s, put to the vote of %s; rule: %s.", table.Count(r.Prompts), of, strings.Join(r.Moderators, ", "), r.Rule)}
	if r.Clusters > 0 {
		lines = append(lines, fmt.Sprintf("Intervals are clustered, as prompts of one cluster are not independent: by %s (%s clusters).",
			r.ClusteredBy, table.Count(r.Clusters)))
	}
	if r.LeftOut > 0 {
		lines = append(lines, table.Count(r.LeftOut)+" more are left out of every figure: a vote is missing, its call not made or failed.")
	}
	return lines
}

// sections are the tables.
func (r *Result) sections() []table.Section {
	sections := []table.Section{r.labels(), r.voting()}
	for _, p := range r.Policies {
		sections = append(sections, p.categories())
	}
	for _, c := range r.Changes {
		sections = append(sections, c.section(r.Prompts))
	}
	return sections
}

// labels is the table of labels by policy. A label that nobody gives has no rows.
func (r *Result) labels() table.Section {
	s := table.Section{Title: "Labels by policy", Header: []string{"policy", "label", "prompts", "share", "95% interval"}, Left: 2}
	sets := append([]PolicyResult{{Policy: Own, Labels: r.Own}}, r.Policies...)
	given := map[orbench.Label]bool{}
	for _, p := range sets {
		for _, c := range p.Labels {
			given[c.Label] = given[c.Label] || c.N > 0
		}
	}
	for _, p := range sets {
		for _, c := range p.Labels {
			if given[c.Label] {
				s.Rows = append(s.Rows, []string{p.Policy, string(c.Label), table.Count(c.N), table.Rate(c.Rate), table.Interval(c.Interval())})
			}
		}
	}
	return s
}

// voting is the table of how the moderators voted.
func (r *Result) voting() table.Section {
	s := table.Section{Title: "Votes by policy", Header: []string{"policy", "votes", "abstentions", "Fleiss' κ"}, Left: 1}
	for _, p := range r.Policies {
		s.Rows = append(s.Rows, []string{p.Policy, table.Count(p.Votes), table.Count(p.Abstentions), table.Kappa(p.Agreement.Fleiss)})
	}
	return s
}

// categories is the table of toxic prompts by category.
func (p PolicyResult) categories() table.Section {
	s := table.Section{Title: "Toxic prompts by category, under " + p.Policy, Header: []string{"category", "prompts"}, Left: 1}
	for _, c := range p.Categories {
		s.Rows = append(s.Rows, []string{string(c.Category), table.Count(c.N)})
	}
	return s
}

// changes has a line for each change from one policy to another.
func (r *Result) changes() table.Section {
	s := table.Section{
		Title: "Labels that change with the policy", Left: 2,
		Header: []string{"from", "to", "changed", "share", "95% interval", "to toxic", "to safe", "Cohen's κ", "95%"},
	}
	for _, c := range r.Changes {
		s.Rows = append(s.Rows, []string{
			c.From, c.To, table.Count(c.Changed), table.Rate(c.Rate), table.Interval(c.Interval()),
			table.Count(c.ToToxic), table.Count(c.ToSafe), table.Kappa(c.Value), table.KappaInterval(c.Kappa),
		})
	}
	return s
}

// section is the table of transitions.
func (c Change) section(prompts int) table.Section {
	s := table.Section{
		Title: fmt.Sprintf("From %s to %s: %s of %s prompts change their label, %s (%s); Cohen's κ %s (%s)", c.From, c.To,
			table.Count(c.Changed), table.Count(prompts), table.Rate(c.Rate), table.Interval(c.Interval()), table.Kappa(c.Value), table.KappaInterval(c.Kappa)),
		Note:   fmt.Sprintf("%s become toxic, %s become safe. Rows are labels under %s, columns those under %s.", table.Count(c.ToToxic), table.Count(c.ToSafe), c.From, c.To),
		Header: []string{"label"}, Left: 1,
	}
	for _, l := range orbench.Labels {
		s.Header = append(s.Header, string(l))
	}
	for i, line := range c.Table {
		row := []string{string(orbench.Labels[i])}
		for _, n := range line {
			row = append(row, table.Count(n))
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}
