package compare

import (
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/table"
)

// Words are what a comparison says beside its figures, for a page.
type Words struct {
	// Title names both sides, and Sides says what they are.
	Title, Sides string
	// Verdicts has one for each metric. Its first word is MORE, FEWER, Unclear or Not.
	Verdicts []string
	// Ranges has the range of each metric's difference, in points. Accounts say what became
	// of its prompts.
	Ranges, Accounts []string
	// JudgeError says what is assumed of the judge's error.
	JudgeError string
	// Refused and Answered say which way a prompt flipped.
	Refused, Answered string
	Warnings          []string
	// Tables are all tables but those of the metrics. Each has at least one row: the gates,
	// the settings that differ, the corrected rates, and the pairs.
	Tables []table.Section
}

// Words gives the words of the comparison.
func (c Result) Words() Words {
	w := Words{
		Title: c.title(), Sides: c.sides(), JudgeError: c.judgeNote(), Refused: c.flipped(true), Answered: c.flipped(false), Warnings: c.warnings(),
	}
	for _, m := range c.Metrics {
		verdict := c.verdictOn(m)
		if m.Undone {
			verdict += " " + c.undoneNote(m)
		}
		w.Verdicts = append(w.Verdicts, verdict)
		w.Ranges, w.Accounts = append(w.Ranges, c.ranged(m)), append(w.Accounts, c.account(m))
	}
	tables := []table.Section{c.gates(), provenance.Section(c.SettingsThatDiffer), c.correctedSection()}
	for _, s := range tables {
		if len(s.Rows) > 0 {
			w.Tables = append(w.Tables, s)
		}
	}
	return w
}
