package training

import (
	"cmp"

	"github.com/orbench/orbench/internal/table"
)

// Document is the report for people: the content of the set and what was left out.
func (m *Manifest) Document() table.Document {
	d := table.Document{Title: "Training data"}
	if m.Simulated {
		d.Basis("SIMULATED: answers, verdicts or prompts are of simulated models. They teach nothing.")
	}
	parts := table.Section{
		Title: "Training data: " + string(m.Kind), Left: 1,
		Header: []string{"split", "prompts", "safe", "toxic", "rows", "safe", "toxic"},
	}
	for _, f := range m.SplitFacts() {
		parts.Add(f.Split, f.Prompts, f.SafePrompts, f.ToxicPrompts, f.Rows, f.SafeRows, f.ToxicRows)
	}
	d.Sections(parts, m.Prompts.section("prompts", promptCauses))
	if m.Answers.All > 0 && m.Kind != Prompts {
		d.Sections(m.Answers.section("answers", answerCauses))
	}
	d.Basis(m.Evaluations.Compared()...)
	if !m.Empty() {
		for _, warning := range m.Warnings() {
			d.Add(table.Note{Mark: "! ", Text: warning})
		}
	}
	return d
}

// Rows are the parts of the set.
func (m *Manifest) Rows() any { return m.Parts }

// Data is the manifest.
func (m *Manifest) Data() any { return m }

// section is a ledger as a table.
func (l Ledger) section(of string, causes []Cause) table.Section {
	s := table.Section{Title: "What became of the " + of, Header: []string{"", of}, Left: 1}
	for _, line := range l.lines(causes) {
		s.Add(line.What, line.N)
	}
	return s
}

// Advice says what to do about a set without rows. It follows from the cause that left
// out the most prompts.
func (m *Manifest) Advice() string {
	var most Cause
	for _, cause := range promptCauses {
		if most == "" || m.Prompts.Left[cause] > m.Prompts.Left[most] {
			most = cause
		}
	}
	switch left := m.Prompts.Left; {
	case left[Ratio] > 0:
		most = Ratio // it takes from what all others left
	case most == NoRejected && left[NoChosen] > 0:
		most = NoChosen // what was refused had no other answer
	}
	evaluated := "its prompts are those of an evaluation set: evaluate prompts of your own (orbench build makes them), or give up the set for measuring with `except`"
	return cmp.Or(map[Cause]string{
		InEvaluation: evaluated, NearEvaluation: evaluated,
		HeldBack:   "write the answers that comply with toxic prompts, to be rejected, with `harmful-answers`, or use the format kto or sft",
		NoRejected: "name a target that refused some of the safe prompts with `target`",
		NoChosen:   "evaluate a target that answers the safe prompts too, in the same run, or use the format kto",
		Ratio:      "no prompts of one of the two labels are left for `toxic-share`: leave it out, evaluate both, or write answers that comply with toxic prompts, to be rejected, with `harmful-answers`",
	}[most], "see above what they were left out for")
}
