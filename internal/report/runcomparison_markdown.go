package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/orbench/orbench/internal/compare"
)

// How much a summary for a pull request shows.
const (
	summaryCategories = 6
	summaryFlips      = 10
	summaryFlipText   = 160
)

// Markdown writes a summary that fits a pull request: the gates, both metrics,
// the categories that got worse the most, and the first flipped prompts with both
// answers, folded away. It is shorter than 60 lines unless there are very many
// gates.
func (c RunComparison) Markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "## %s against %s\n\n", escapeMarkdown(c.Candidate.Target), escapeMarkdown(c.Base.Target))
	if c.Simulated {
		b.WriteString("**" + simulatedNotice + "**\n\n")
	}
	if len(c.Gates) > 0 {
		fmt.Fprintf(b, "**%s**\n\n", c.verdict())
		writeMarkdownTable(b, []string{"", "gate", "why"}, 3, c.gateRows())
	}
	writeMarkdownTable(b, []string{"", "prompts", "base", "candidate", "difference, pp", "95%", "p", "newly refused", "newly answered"}, 1, c.metricRows())
	if worse := c.worse(); len(worse) > 0 {
		b.WriteString("Categories that got worse the most:\n\n")
		writeMarkdownTable(b, []string{"category", "metric", "prompts", "base", "candidate", "difference, pp", "p (Holm)"}, 2, worse)
	}
	c.writeMarkdownFlips(b)
	fmt.Fprintf(b, "Base: run %s. Candidate: run %s. Judge: %s. %s", escapeMarkdown(c.Base.Run), escapeMarkdown(c.Candidate.Run),
		escapeMarkdown(c.Judge), escapeMarkdown(c.method()))
	for _, m := range c.Metrics {
		b.WriteString(" " + escapeMarkdown(c.conservation(m)))
	}
	b.WriteString("\n")
	return b.Flush()
}

func (c RunComparison) gateRows() [][]string {
	marks := map[compare.GateStatus]string{compare.Passed: "✅ passed", compare.Tripped: "❌ failed", compare.Undecided: "⚠️ undecided"}
	var rows [][]string
	for _, g := range c.Gates {
		rows = append(rows, []string{marks[g.Status], g.Gate, g.Reason})
	}
	return rows
}

func (c RunComparison) metricRows() [][]string {
	var rows [][]string
	for _, m := range c.Metrics {
		name := map[compare.MetricName]string{
			compare.OverRefusal: "Over-refusal, lower is better", compare.ToxicRefusal: "Toxic refusal, higher is better",
		}[m.Name]
		prompts, refused, answered := count(m.Base.N), count(m.OnlyCandidateRefused), count(m.OnlyBaseRefused)
		if !c.Paired {
			prompts, refused, answered = count(m.Base.N)+" / "+count(m.Candidate.N), "–", "–"
		}
		rows = append(rows, []string{
			name, prompts, rate(m.Base.Rate), rate(m.Candidate.Rate), points(m.Difference), pointsInterval(m.Difference), pValue(m.P),
			refused, answered,
		})
	}
	return rows
}

// worse lists the categories that moved the wrong way, the largest move first.
func (c RunComparison) worse() [][]string {
	type move struct {
		by   float64
		cell []string
	}
	var moves []move
	for _, m := range c.Metrics {
		wrong := 1.0
		if m.Name == compare.ToxicRefusal {
			wrong = -1
		}
		for _, f := range m.ByCategory {
			if f.Category == "" || f.Difference == nil || wrong*f.Difference.Value <= 0 {
				continue
			}
			moves = append(moves, move{wrong * f.Difference.Value, []string{
				categoryName(f.Category), string(m.Name), count(f.Candidate.N), rate(f.Base.Rate), rate(f.Candidate.Rate),
				points(f.Difference), pValue(f.PHolm),
			}})
		}
	}
	slices.SortStableFunc(moves, func(a, b move) int { return cmp.Compare(b.by, a.by) })
	var rows [][]string
	for _, m := range moves[:min(summaryCategories, len(moves))] {
		rows = append(rows, m.cell)
	}
	return rows
}

func (c RunComparison) writeMarkdownFlips(b *bufio.Writer) {
	if c.Flips.Total == 0 {
		return
	}
	shown := c.Flips.Shown[:min(summaryFlips, len(c.Flips.Shown))]
	title := c.flipTitle()
	if c.Flips.Total > len(shown) {
		title += fmt.Sprintf("; %d of them, those for the worse first", len(shown))
	}
	fmt.Fprintf(b, "<details><summary>%s</summary>\n\n", title)
	var rows [][]string
	for _, f := range shown {
		row := []string{"newly " + now(f), string(f.Prompt.Label), categoryName(f.Prompt.Category)}
		for _, text := range []string{f.Prompt.Text(), f.BaseAnswer, f.CandidateAnswer} {
			row = append(row, ellipsis(clean(text), summaryFlipText))
		}
		rows = append(rows, row)
	}
	writeMarkdownTable(b, []string{"", "label", "category", "prompt", "base's answer", "candidate's answer"}, 6, rows)
	b.WriteString("</details>\n\n")
}

// writeMarkdownTable writes a table without a heading.
func writeMarkdownTable(b *bufio.Writer, header []string, left int, rows [][]string) {
	writeMarkdownRow(b, header)
	for i := range header {
		if i < left {
			b.WriteString("| --- ")
		} else {
			b.WriteString("| ---: ")
		}
	}
	b.WriteString("|\n")
	for _, row := range rows {
		writeMarkdownRow(b, row)
	}
	b.WriteString("\n")
}
