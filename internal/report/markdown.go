package report

import (
	"bufio"
	"io"
	"strings"

	"github.com/orbench/orbench/internal/evaluate"
)

// Markdown writes the tables of Table as GitHub-flavoured Markdown. Whatever
// would be markup in a name is escaped.
func Markdown(w io.Writer, r evaluate.Result) error {
	b := bufio.NewWriter(w)
	r = r.Folded()
	b.WriteString("# orbench report\n\n")
	if r.Simulated {
		b.WriteString("**" + simulatedNotice + "**\n\n")
	}
	for _, s := range sectionsOf(r) {
		writeMarkdownSection(b, s)
	}
	b.WriteString(escapeMarkdown(accountLine(r)) + "\n\n")
	if note := clusterNote(r); note != "" {
		b.WriteString(escapeMarkdown(note) + "\n\n")
	}
	for _, line := range warningsOf(r) {
		b.WriteString("**Warning.** " + escapeMarkdown(line) + "\n\n")
	}
	b.WriteString(escapeMarkdown(costLine(r.Cost)) + "\n")
	return b.Flush()
}

// writeMarkdownSection writes a heading, a table and its note.
func writeMarkdownSection(b *bufio.Writer, s section) {
	b.WriteString("## " + escapeMarkdown(s.title) + "\n\n")
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
		b.WriteString(escapeMarkdown(s.note) + "\n\n")
	}
}

func writeMarkdownRow(b *bufio.Writer, row []string) {
	for _, text := range row {
		b.WriteString("| " + escapeMarkdown(text) + " ")
	}
	b.WriteString("|\n")
}

// escapeMarkdown cleans a text and puts a backslash before the punctuation that
// Markdown or the HTML within it gives a meaning. A colon is escaped where it
// would make a link of an address, an at sign because it would call a user.
func escapeMarkdown(s string) string {
	var b strings.Builder
	s = strings.Join(strings.Fields(clean(s)), " ")
	for i, r := range s {
		switch {
		case strings.ContainsRune("\\`*_{}[]<>()#!|~&$@", r),
			r == ':' && strings.HasPrefix(s[i:], "://"),
			strings.ContainsRune("-+=", r) && i == 0:
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
