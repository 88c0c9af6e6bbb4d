package table

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/untrusted"
)

// AsLaTeX writes LaTeX for the body of a document, without packages. Untrusted
// text in it is never a command. Letters beyond Latin need an engine that reads
// Unicode.
var AsLaTeX = Format{"latex", func(w io.Writer, _ Screen, v View) error { return v.Document().LaTeX(w) }}

// LaTeX writes the document as LaTeX.
func (d Document) LaTeX(w io.Writer) error {
	b := bufio.NewWriter(w)
	if d.Simulated {
		Paragraph(SimulatedNotice).latex(b)
	}
	for _, s := range d.Paper {
		s.latex(b)
	}
	for _, part := range d.parts {
		if d.Paper != nil {
			break
		}
		if _, raw := part.Part.(Raw); part.on&InLaTeX != 0 || !raw && part.on&InMarkdown != 0 {
			part.latex(b)
		}
	}
	return b.Flush()
}

// escapes makes a text safe in LaTeX, and writes signs that old engines lack by
// their commands.
var escapes = strings.NewReplacer(
	`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "$", `\$`, "&", `\&`, "#", `\#`, "%", `\%`, "_", `\_`, "^", `\textasciicircum{}`, "~", `\textasciitilde{}`,
	"<", `\textless{}`, ">", `\textgreater{}`, "|", `\textbar{}`, "[", "{[}", "]", "{]}", `"`, "''", "“", "``", "”", "''", "–", "--", "—", "---", "…", `\ldots{}`,
	"−", "$-$", "→", `$\to$`, "±", `$\pm$`, "×", `$\times$`, "·", `$\cdot$`, "▲", `$\triangle$`, "▼", `$\nabla$`,
)

// latexText returns an untrusted text as LaTeX.
func latexText(s string) string { return escapes.Replace(untrusted.Terminal(s)) }

func (l Line) latex(b *bufio.Writer) { Paragraph(l).latex(b) }

func (t Paragraph) latex(b *bufio.Writer) {
	if t != "" {
		b.WriteString(latexText(string(t)) + "\n\n")
	}
}

func (n Note) latex(b *bufio.Writer) { Paragraph(n.Text).latex(b) }

func (t Warning) latex(b *bufio.Writer) {
	b.WriteString(`\textbf{Warning.} ` + latexText(string(t)) + "\n\n")
}

func (r Raw) latex(b *bufio.Writer) { b.WriteString(string(r)) }

// wideTable is the number of characters of a row from which a table takes the width of a page
// with two columns.
const wideTable = 60

// latex writes a table, without a caption if it has no title.
func (s Section) latex(b *bufio.Writer) {
	left := min(s.Left, len(s.Header))
	for at := range left {
		column := []string{}
		for _, row := range s.Rows {
			column = append(column, row[at])
		}
		short := Short(column, 34)
		s.Rows = RowsOf(s.Rows, func(row []string) []string {
			row = slices.Clone(row)
			if untrusted.Width(row[at]) > 34 && !strings.Contains(row[at], " ") {
				row[at] = short[row[at]]
			}
			return row
		})
	}
	environment, size := "table", `\footnotesize\setlength{\tabcolsep}{4pt}`
	if total(s.widths()) > wideTable {
		environment, size = "table*", `\scriptsize\setlength{\tabcolsep}{3pt}`
	}
	b.WriteString(`\begin{` + environment + "}[htbp]\n\\centering" + size + "\n")
	if s.Title != "" {
		b.WriteString(`\caption{` + latexText(s.Title) + "}\n")
	}
	b.WriteString(`\begin{tabular}{` + strings.Repeat("l", left) + strings.Repeat("r", len(s.Header)-left) + "}\n\\hline\n")
	if len(s.Groups) > 0 && s.Groups[0].Name != "" {
		b.WriteString(strings.Repeat("& ", max(0, left-1)))
		for _, g := range s.Groups {
			fmt.Fprintf(b, `& \multicolumn{%d}{c}{%s} `, g.Columns, latexText(g.Name))
		}
		b.WriteString("\\\\\n")
	}
	latexRow(b, s.Header)
	b.WriteString("\\hline\n")
	for _, row := range s.Rows {
		latexRow(b, row)
	}
	b.WriteString("\\hline\n\\end{tabular}\n")
	if s.Note != "" {
		b.WriteString("\n\\smallskip\n" + latexText(s.Note) + "\n")
	}
	b.WriteString(`\end{` + environment + "}\n\n")
}

func latexRow(b *bufio.Writer, row []string) {
	for i, text := range row {
		if i > 0 {
			b.WriteString(" & ")
		}
		b.WriteString(latexText(strings.Join(strings.Fields(text), " ")))
	}
	b.WriteString(" \\\\\n")
}
