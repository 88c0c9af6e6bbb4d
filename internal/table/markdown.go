package table

import (
	"bufio"
	"io"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/untrusted"
)

// AsMarkdown writes GitHub Markdown. Untrusted text in it is never markup.
var AsMarkdown = Format{"md", func(w io.Writer, _ Screen, v View) error { return v.Document().Markdown(w) }}

// Markdown writes the document as Markdown.
func (d Document) Markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	if d.Title != "" {
		b.WriteString(strings.Repeat("#", max(1, d.Level)) + " " + untrusted.Markdown(d.Title) + "\n\n")
	}
	if d.Simulated {
		b.WriteString("**" + SimulatedNotice + "**\n\n")
	}
	for _, part := range d.parts {
		if part.on&InMarkdown != 0 {
			part.markdown(b)
		}
	}
	return b.Flush()
}

func (l Line) markdown(b *bufio.Writer) { Paragraph(l).markdown(b) }

func (t Paragraph) markdown(b *bufio.Writer) {
	if t != "" {
		b.WriteString(untrusted.Markdown(string(t)) + "\n\n")
	}
}

func (n Note) markdown(b *bufio.Writer) { b.WriteString("- " + untrusted.Markdown(n.Text) + "\n") }

func (t Warning) markdown(b *bufio.Writer) {
	b.WriteString("**Warning.** " + untrusted.Markdown(string(t)) + "\n\n")
}

func (r Raw) markdown(b *bufio.Writer) { b.WriteString(string(r)) }

// markdown writes a table, without a heading if it has no title.
func (s Section) markdown(b *bufio.Writer) {
	if s.Title != "" {
		b.WriteString("## " + untrusted.Markdown(s.Title) + "\n\n")
	}
	head, at := slices.Clone(s.Header), s.Left
	for _, g := range s.Groups {
		for range g.Columns {
			head[at] = strings.TrimPrefix(g.Name+", ", ", ") + head[at]
			at++
		}
	}
	markdownRow(b, head)
	for i := range s.Header {
		if i < s.Left {
			b.WriteString("| --- ")
		} else {
			b.WriteString("| ---: ")
		}
	}
	b.WriteString("|\n")
	for _, row := range s.Rows {
		markdownRow(b, row)
	}
	b.WriteString("\n")
	if s.Note != "" {
		b.WriteString(untrusted.Markdown(s.Note) + "\n\n")
	}
}

func markdownRow(b *bufio.Writer, row []string) {
	for _, text := range row {
		b.WriteString("| " + untrusted.Markdown(text) + " ")
	}
	b.WriteString("|\n")
}
