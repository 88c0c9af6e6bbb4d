package report

import (
	"bufio"
	"io"

	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/untrusted"
)

// Markdown writes the tables of Table as GitHub-flavoured Markdown. Whatever
// would be markup in a name is escaped.
func Markdown(w io.Writer, r score.Result) error {
	b := bufio.NewWriter(w)
	r = r.Aggregated()
	b.WriteString("# orbench report\n\n")
	if r.Simulated {
		b.WriteString("**" + simulatedNotice + "**\n\n")
	}
	for _, s := range sectionsOf(r) {
		writeMarkdownSection(b, s)
	}
	b.WriteString(untrusted.Markdown(accountLine(r)) + "\n\n")
	if note := clusterNote(r); note != "" {
		b.WriteString(untrusted.Markdown(note) + "\n\n")
	}
	for _, line := range warningsOf(r) {
		b.WriteString("**Warning.** " + untrusted.Markdown(line) + "\n\n")
	}
	b.WriteString(untrusted.Markdown(costLine(r.Cost)) + "\n")
	return b.Flush()
}

// writeMarkdownSection writes a heading, a table and its note.
func writeMarkdownSection(b *bufio.Writer, s section) {
	b.WriteString("## " + untrusted.Markdown(s.title) + "\n\n")
	writeMarkdownRow(b, s.header)
	for i := range s.header {
		if i < s.left {
			b.WriteString("| --- ")
		} else {
			b.WriteString("| ---: ")
		}
	}
	b.WriteString("|\n")
	for _, row := range s.rows {
		writeMarkdownRow(b, row)
	}
	b.WriteString("\n")
	if s.note != "" {
		b.WriteString(untrusted.Markdown(s.note) + "\n\n")
	}
}

func writeMarkdownRow(b *bufio.Writer, row []string) {
	for _, text := range row {
		b.WriteString("| " + untrusted.Markdown(text) + " ")
	}
	b.WriteString("|\n")
}
