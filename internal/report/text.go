package report

import (
	"bufio"
	"cmp"
	"io"

	"github.com/orbench/orbench/internal/probe"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// View is a result that writes itself in every format.
type View struct{ score.Result }

// Text writes the figures for people to read on a terminal: for each label one
// line per target, dataset and judge with its counts, rate and 95% interval, then
// the refusals by category, where the judges disagree, warnings and the cost; on a brief
// screen one line per target in place of the tables. Names from outside lose whatever a
// terminal would obey.
func (v View) Text(b *table.Printer) error {
	r := v.Aggregated()
	if r.Simulated {
		b.Line(table.SimulatedNotice)
		b.WriteString("\n")
	}
	if !b.Brief {
		for _, line := range judgeErrorLines(r) {
			b.Paragraph("", untrusted.Terminal(line))
			b.WriteString("\n")
		}
	}
	if s := provenance.Section(r.SettingsThatDiffer); len(s.Rows) > 0 {
		b.Section(s)
	}
	if b.Brief {
		b.Section(overview(r))
		b.Leave(sectionsOf(r)...)
		b.Line(untrusted.Terminal(judgeErrorInBrief(r)))
		b.Line(untrusted.Terminal(probe.InBrief(r.Susceptibility)))
	} else {
		for _, s := range sectionsOf(r) {
			b.Section(s)
		}
	}
	b.Line(untrusted.Terminal(accountLine(r)))
	b.Line(untrusted.Terminal(intervalNote(r)))
	for _, line := range warningsOf(r) {
		b.Warning(untrusted.Terminal(line))
	}
	b.Line(costLine(r.Cost))
	b.Line(r.Provenance.Spent())
	return b.Flush()
}

// Markdown writes the tables of Text as GitHub-flavored Markdown. Whatever
// would be markup in a name is escaped.
func (v View) Markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	r := v.Aggregated()
	b.WriteString("# orbench report\n\n")
	if r.Simulated {
		b.WriteString("**" + table.SimulatedNotice + "**\n\n")
	}
	for _, line := range judgeErrorLines(r) {
		b.WriteString(untrusted.Markdown(line) + "\n\n")
	}
	if s := provenance.Section(r.SettingsThatDiffer); len(s.Rows) > 0 {
		s.Markdown(b)
	}
	for _, s := range sectionsOf(r) {
		s.Markdown(b)
	}
	b.WriteString(untrusted.Markdown(accountLine(r)) + "\n\n")
	if note := intervalNote(r); note != "" {
		b.WriteString(untrusted.Markdown(note) + "\n\n")
	}
	for _, line := range warningsOf(r) {
		b.WriteString("**Warning.** " + untrusted.Markdown(line) + "\n\n")
	}
	b.WriteString(untrusted.Markdown(cmp.Or(r.Provenance.Spent(), costLine(r.Cost))) + "\n")
	for _, s := range r.Provenance.Sections() {
		b.WriteString("\n")
		s.Markdown(b)
	}
	return b.Flush()
}

// costLine says in one line what a command spent. An unknown price is said to be
// unknown and is never shown as a sum.
func costLine(c score.Cost) string {
	if c.Calls == 0 && c.FromMemo == 0 {
		// A stored run shown again: nothing was looked up to be asked.
		return "Cost: no new calls."
	}
	if c.Calls == 0 {
		return "Cost: no new calls; " + table.Count(c.FromMemo) + " were already answered."
	}
	return "Cost: " + table.Counted(c.Calls, "call", "calls") + ", " + table.Count(c.FromMemo) + " already answered; " +
		table.Count(c.InputTokens) + " input and " + table.Count(c.OutputTokens) + " output tokens; " +
		table.Price(c.USD, c.Unpriced) + table.FailedCost(c.FailedAttempts, c.FailedUSD) + "."
}
