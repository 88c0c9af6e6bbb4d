package compare

import (
	"fmt"

	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/table"
)

// The sizes of a summary for a pull request.
const (
	summaryCategories = 4
	summaryFlips      = 10
	summaryFlipText   = 160
)

// addSummary adds a summary that fits a pull request: the gates, both metrics with
// the categories that got worse the most, and the first flipped prompts with
// both answers, collapsed. It is shorter than 60 lines unless there are very
// many gates.
func (c Result) addSummary(d *table.Document) {
	add := func(parts ...table.Part) { d.AddTo(table.InMarkdown, parts...) }
	for _, line := range c.Warnings() {
		add(table.Warning(line))
	}
	if len(c.Gates) > 0 {
		s, marks := table.Section{Header: []string{"", "gate", "why"}, Left: 3}, map[GateStatus]string{Passed: "✅ passed", Tripped: "❌ failed", Undecided: "⚠️ undecided"}
		for _, g := range c.Gates {
			s.Add(marks[g.Status], g.Gate, g.why())
		}
		title, _ := c.verdict()
		add(table.Raw("**"+title+"**\n\n"), s)
	}
	add(c.overview())
	addFilled(d, table.InMarkdown, provenance.Section(c.SettingsThatDiffer), c.correctedSection())
	if !c.OfJudges() { // nothing gets worse by another judge
		add(table.Raw(fmt.Sprintf("<details><summary>By category, the worst changes first; at most %d of each label</summary>\n\n", summaryCategories)))
		for _, m := range c.Metrics {
			s := c.metricSection(m, summaryCategories)
			s.Note = "" // the overview has it
			add(s)
		}
		add(table.Raw("</details>\n"))
	}
	if c.Flips.Total > 0 {
		add(table.Raw("<details><summary>"+c.flipTitle(summaryFlips)+"</summary>\n\n"), c.flipSection(), table.Raw("</details>\n"))
	}
	if sections := c.Provenance.Sections(); len(sections) > 0 {
		add(table.Raw("<details><summary>How both runs were made</summary>\n\n"))
		addFilled(d, table.InMarkdown, sections...)
		add(table.Raw("</details>\n"))
	}
}

// Title names the two sides by what distinguishes them.
func (c Result) Title() string {
	name := func(s Side) string {
		switch {
		case c.OfJudges():
			return s.Judge
		case c.Base.Target == c.Candidate.Target:
			return s.Run
		}
		return s.Target
	}
	return name(c.Candidate) + " against " + name(c.Base)
}
