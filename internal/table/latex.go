package table

import (
	"bufio"
	"io"
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
	for _, part := range d.parts {
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

// latex writes a table, without a caption if it has no title.
func (s Section) latex(b *bufio.Writer) {
	b.WriteString("\\begin{table}[htbp]\n\\centering\\footnotesize\\setlength{\\tabcolsep}{4pt}\n")
	if s.Title != "" {
		b.WriteString(`\caption{` + latexText(s.Title) + "}\n")
	}
	left := min(s.Left, len(s.Header))
	b.WriteString(`\begin{tabular}{` + strings.Repeat("l", left) + strings.Repeat("r", len(s.Header)-left) + "}\n\\hline\n")
	latexRow(b, s.Header)
	b.WriteString("\\hline\n")
	for _, row := range s.Rows {
		latexRow(b, row)
	}
	b.WriteString("\\hline\n\\end{tabular}\n")
	if s.Note != "" {
		b.WriteString("\n\\smallskip\n" + latexText(s.Note) + "\n")
	}
	b.WriteString("\\end{table}\n\n")
}

func latexRow(b *bufio.Writer, row []string) {
	for i, text := range row {
		if i > 0 {
			b.WriteString(" & ")
		}
		b.WriteString(latexText(text))
	}
	b.WriteString(" \\\\\n")
}
