package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/table"
)

// The sizes of a summary for a pull request.
const (
	summaryCategories = 6
	summaryFlips      = 10
	summaryFlipText   = 160
)

// addSummary adds a summary that fits a pull request: the gates, both metrics,
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
	if worse, significant := c.worse(); len(worse) > 0 && !c.OfJudges() {
		add(table.Raw(fmt.Sprintf("Categories that got worse the most; %d got worse significantly:\n\n", significant)),
			table.Section{Header: []string{"category", "metric", "prompts", "base", "candidate", "difference, pp", "p (Holm)"}, Left: 2, Rows: worse})
	}
	if c.Flips.Total > 0 {
		flips := c.flipSection(summaryFlips, summaryFlipText, true)
		add(table.Raw("<details><summary>"+flips.Title+"</summary>\n\n"), table.Section{Header: flips.Header, Rows: flips.Rows, Left: flips.Left}, table.Raw("</details>\n\n"))
	}
	if sections := c.Provenance.Sections(); len(sections) > 0 {
		add(table.Raw("\n<details><summary>How both runs were made</summary>\n\n"))
		for _, s := range sections {
			add(s)
		}
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

// worse lists the categories that moved in the wrong direction, the largest
// move first. It also counts how many of all categories moved significantly.
func (c Result) worse() (rows [][]string, significant int) {
	type move struct {
		by   float64
		cell []string
	}
	var moves []move
	for _, m := range c.Metrics {
		wrong := 1.0
		if m.Label == orbench.Toxic {
			wrong = -1
		}
		for _, f := range m.ByCategory {
			if f.Category == "" || f.Difference == nil || wrong*f.Difference.Value <= 0 {
				continue
			}
			if *f.PHolm < alpha {
				significant++
			}
			moves = append(moves, move{wrong * f.Difference.Value, []string{
				table.Category(f.Category), string(m.Name), table.Count(f.Candidate.N), table.Rate(f.Base.Rate), table.Rate(f.Candidate.Rate),
				table.Difference(f.Difference, table.Hyphen), table.PValue(f.PHolm),
			}})
		}
	}
	slices.SortStableFunc(moves, func(a, b move) int { return cmp.Compare(b.by, a.by) })
	for _, m := range moves[:min(summaryCategories, len(moves))] {
		rows = append(rows, m.cell)
	}
	return rows, significant
}
