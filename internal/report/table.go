package report

import (
	"bufio"
	"io"
	"strings"

	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/untrusted"
)

// Table writes the figures for people to read on a terminal: for each label one
// line per target, dataset and judge with its counts, rate and 95% interval, then
// the refusals by category, where the judges disagree, warnings and the cost. Columns line
// up by display width. Names from outside lose whatever a terminal would obey.
func Table(w io.Writer, r score.Result) error {
	b := bufio.NewWriter(w)
	r = r.Aggregated()
	if r.Simulated {
		b.WriteString(simulatedNotice + "\n\n")
	}
	for _, s := range sectionsOf(r) {
		writeTable(b, s)
	}
	b.WriteString(untrusted.Terminal(accountLine(r)) + "\n")
	if note := clusterNote(r); note != "" {
		b.WriteString(untrusted.Terminal(note) + "\n")
	}
	for _, line := range warningsOf(r) {
		b.WriteString("Warning. " + untrusted.Terminal(line) + "\n")
	}
	b.WriteString(costLine(r.Cost) + "\n")
	return b.Flush()
}

func writeTable(b *bufio.Writer, s section) {
	widths := make([]int, len(s.header))
	lines := append([][]string{s.header}, s.rows...)
	for i, line := range lines {
		lines[i] = make([]string, len(line))
		for j, text := range line {
			lines[i][j] = untrusted.Terminal(text)
			widths[j] = max(widths[j], untrusted.Width(lines[i][j]))
		}
	}
	b.WriteString(untrusted.Terminal(s.title) + "\n")
	for _, line := range lines {
		for j, text := range line {
			line[j] = pad(text, widths[j], j >= s.left)
		}
		b.WriteString(strings.TrimRight(strings.Join(line, "  "), " ") + "\n")
	}
	if s.note != "" {
		b.WriteString(untrusted.Terminal(s.note) + "\n")
	}
	b.WriteString("\n")
}
