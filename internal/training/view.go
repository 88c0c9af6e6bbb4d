package training

import (
	"io"

	"github.com/orbench/orbench/internal/table"
)

// Text writes what the set holds and what was left out, for a terminal.
func (m *Manifest) Text(b *table.Printer) error {
	if m.Simulated {
		b.Paragraph("", "SIMULATED: answers, verdicts or prompts are of simulated models. They teach nothing.")
		b.WriteString("\n")
	}
	parts := table.Section{
		Title: "Training data: " + string(m.Kind), Left: 1,
		Header: []string{"split", "prompts", "safe", "toxic", "rows", "safe", "toxic"},
	}
	for _, f := range m.splitFacts() {
		row := []string{f.Split}
		for _, n := range []int{f.Prompts, f.SafePrompts, f.ToxicPrompts, f.Rows, f.SafeRows, f.ToxicRows} {
			row = append(row, table.Count(n))
		}
		parts.Rows = append(parts.Rows, row)
	}
	b.Section(parts)
	b.Section(m.Prompts.section("prompts", promptCauses))
	if m.Answers.All > 0 {
		b.Section(m.Answers.section("answers", answerCauses))
	}
	m.Evaluations.Text(b)
	if m.Empty() {
		return b.Flush()
	}
	for _, warning := range m.Warnings() {
		b.Paragraph("! ", warning)
	}
	return b.Flush()
}

// View shows a set that was made, in every format.
type View struct{ *Manifest }

// JSON writes the manifest, of no command.
func (v View) JSON(w io.Writer) error { return table.JSON(w, v.Manifest) }

// CSV writes a row for each split and label.
func (v View) CSV(w io.Writer) error {
	parts := v.Parts
	if parts == nil {
		parts = []Part{}
	}
	return table.CSV(w, parts)
}

// Markdown writes the tables.
func (v View) Markdown(w io.Writer) error {
	var d table.Document
	d.Title, d.Simulated = "Training data: "+string(v.Kind), v.Simulated
	d.Sections(v.Prompts.section("prompts", promptCauses), v.Answers.section("answers", answerCauses))
	return d.Markdown(w)
}

// section is a ledger as a table.
func (l Ledger) section(of string, causes []Cause) table.Section {
	s := table.Section{Title: "What became of the " + of, Header: []string{"", of}, Left: 1}
	for _, line := range l.lines(causes) {
		s.Rows = append(s.Rows, []string{line.What, table.Count(line.N)})
	}
	return s
}

// Advice says what to do about a set without rows, by the cause that most prompts are
// left out for.
func (m *Manifest) Advice() string {
	var most Cause
	for _, cause := range promptCauses {
		if most == "" || m.Prompts.Left[cause] > m.Prompts.Left[most] {
			most = cause
		}
	}
	switch most {
	case InEvaluation, NearEvaluation:
		return "its prompts are those of an evaluation set: evaluate prompts of your own (orbench build makes them), or give up the set for measuring with `except`"
	case HeldBack:
		return "write the answers that comply with toxic prompts, to be rejected, with `harmful-answers`, or use the format kto or sft"
	case NoRejected:
		return "name a target that refused some of the safe prompts with `target`"
	case NoChosen:
		return "evaluate a target that answers the safe prompts too, in the same run"
	case Ratio:
		return "there are no prompts of one of the two labels: leave `toxic-share` out, or evaluate both"
	}
	return "see above what they were left out for"
}
