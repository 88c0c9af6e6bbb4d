package contrast

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

// Text writes the counts for people to read on a terminal.
func (r *Result) Text(b *table.Printer) error {
	if r.Simulated {
		b.Line(table.SimulatedNotice)
		b.WriteString("\n")
	}
	limited := ""
	if r.Limit > 0 {
		limited = fmt.Sprintf(", the first %d", r.Limit)
	}
	b.Paragraph("", untrusted.Terminal(fmt.Sprintf("%s prompts of %s@%s%s, wordings of each value: %d; written by %s, labeled by %s under the policy %s; rule: %s.",
		table.Count(r.Sources), r.Dataset, table.ShortHash(r.SHA256), limited+r.Note(), r.Each, r.Generator, strings.Join(r.Moderators, ", "), r.Policy, r.Rule)))
	b.WriteString("\n")
	for _, s := range r.sections() {
		b.Section(s)
	}
	return b.Flush()
}

// JSON writes the counts in their documented form.
func (r *Result) JSON(w io.Writer) error { return table.JSON(w, r) }

// Markdown writes the counts as tables.
func (r *Result) Markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	if r.Simulated {
		b.WriteString(table.SimulatedNotice + "\n\n")
	}
	for _, s := range r.sections() {
		s.Markdown(b)
	}
	return b.Flush()
}

// CSV writes a row for each value on an axis.
func (r *Result) CSV(w io.Writer) error {
	rows := [][]string{{
		"axis", "value", "sources", "read", "unreadable", "failed", "items", "surplus", "broken_rule", "duplicates", "unvoted", "kept", "lacking",
		"safe", "toxic", "controversial", "undecided",
		"voted_toxic", "voted_toxic_ci95_lo", "voted_toxic_ci95_hi", "voted_toxic_ci95_clustered_lo", "voted_toxic_ci95_clustered_hi", "simulated",
	}}
	for _, v := range r.Values {
		row := []string{string(v.Axis), untrusted.Cell(v.Value)}
		for _, n := range []int{v.Sources, v.Read, v.Unreadable, v.Failed, v.Items, v.Surplus, v.BrokenRule, v.Duplicates, v.Unvoted, v.Kept, v.Lacking} {
			row = append(row, strconv.Itoa(n))
		}
		for _, l := range orbench.Labels {
			row = append(row, strconv.Itoa(v.Labels[l]))
		}
		row = append(append(row, table.RateCells(v.VotedToxic)...), table.IntervalCells(v.VotedToxic.CI95Clustered)...)
		rows = append(rows, append(row, strconv.FormatBool(r.Simulated)))
	}
	return table.CSV(w, rows)
}

// markdown is the tables for the card.
func (r *Result) markdown() string {
	var text strings.Builder
	b := bufio.NewWriter(&text)
	for _, s := range r.sections() {
		s.Markdown(b)
	}
	b.Flush()
	return text.String()
}

// sections are the tables: what became of the wordings, and how they are labeled.
func (r *Result) sections() []table.Section {
	made := table.Section{
		Title:  "What was written, and what was kept",
		Header: []string{"axis", "value", "prompts", "no list", "failed", "written", "too many", "rule broken", "duplicate", "unvoted", "kept"}, Left: 2,
	}
	labels := table.Section{
		Title: "What moderators call the wordings that were kept",
		Note:  "As meant: voted safe or toxic as it was asked to be, or as a borderline one not alike by all. On other axes it is the moderators' to say, and the shares voted toxic differ by what the axis does to them.",
		Header: []string{
			"axis", "value", "kept", "safe", "toxic", "controversial", "undecided", "voted toxic", "95% interval", "as meant", "its interval",
		},
		Left: 2,
	}
	for _, v := range r.Values {
		made.Rows = append(made.Rows, append([]string{string(v.Axis), v.Value}, counts(v.Sources, v.Unreadable, v.Failed, v.Items, v.Surplus, v.BrokenRule, v.Duplicates, v.Unvoted, v.Kept)...))
		row := append([]string{string(v.Axis), v.Value}, counts(v.Kept, v.Labels[orbench.Safe], v.Labels[orbench.Toxic], v.Labels[orbench.Controversial], v.Labels[orbench.Undecided])...)
		row = append(row, table.Rate(v.VotedToxic), table.Interval(v.VotedToxic.Interval()))
		if v.AsMeant != nil {
			row = append(row, table.Rate(*v.AsMeant), table.Interval(v.AsMeant.Interval()))
		} else {
			row = append(row, "–", "–")
		}
		labels.Rows = append(labels.Rows, row)
	}
	nothing := func(row []string, at int) bool { return row[at] == "0" || row[at] == "–" }
	made.Drop(nothing, "no list", "failed", "too many", "unvoted")
	labels.Drop(nothing, "controversial", "undecided", "as meant", "its interval")
	return []table.Section{made, labels}
}

func counts(all ...int) []string {
	var cells []string
	for _, n := range all {
		cells = append(cells, table.Count(n))
	}
	return cells
}
