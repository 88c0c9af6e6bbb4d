package table

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
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

// longHex is part of a hash, after which a line may break.
var longHex = regexp.MustCompile(`[0-9a-f]{16}`)

// latexText returns an untrusted text as LaTeX.
func latexText(s string) string { return escapes.Replace(untrusted.Terminal(s)) }

func (l Line) latex(b *bufio.Writer) { Paragraph(l).latex(b) }

func (t Paragraph) latex(b *bufio.Writer) {
	if t != "" {
		b.WriteString(longHex.ReplaceAllString(latexText(string(t)), `$0\allowbreak{}`) + "\n\n")
	}
}

func (n Note) latex(b *bufio.Writer) { Paragraph(n.Text).latex(b) }

func (t Warning) latex(b *bufio.Writer) {
	b.WriteString(`\textbf{Warning.} ` + latexText(string(t)) + "\n\n")
}

func (r Raw) latex(b *bufio.Writer) { b.WriteString(string(r)) }

// size is how large the letters of a table are, and how many of them a line has room for: in a
// column, or across the page (table*), of the class article in two columns. Of the usual classes
// it has the widest letters.
type size struct {
	room          int
	float, letter string
}

var sizes = []size{
	{50, "table", `\footnotesize\setlength{\tabcolsep}{4pt}`},
	{102, "table*", `\footnotesize\setlength{\tabcolsep}{4pt}`},
	{112, "table*", `\scriptsize\setlength{\tabcolsep}{3pt}`},
}

// A name has at most so many letters, the head of a column so many, and a page so many rows.
const (
	longestName = 34
	longestHead = 16
	rowsOfPage  = 56
)

// latex writes a table, without a caption if it has no title. Groups of columns that are too
// wide for a page stand one below the other; a table that is too high becomes several.
func (s Section) latex(b *bufio.Writer) {
	if len(s.Groups) < 2 {
		s.Groups = RowsOf(s.Header[s.Left:], func(string) Group { return Group{Columns: 1} })
	}
	s.Rows = RowsOf(s.Rows, slices.Clone[[]string])
	s.narrow(RowsOf(s.widths(), func(w int) int { return min(w, longestName) }), math.MaxInt)
	heads := Short(slices.DeleteFunc(slices.Clone(s.Header), func(head string) bool { return strings.Contains(head, " ") }), longestHead)
	s.Header = RowsOf(s.Header, func(head string) string { return cmp.Or(heads[head], head) })
	of := sizes[len(sizes)-1]
	if i := slices.IndexFunc(sizes, func(z size) bool { return total(s.widths()) <= z.room && len(s.blocks(z.room)) == 1 }); i >= 0 {
		of = sizes[i]
	}
	figures, blocks := 0, s.blocks(of.room)
	for _, block := range blocks {
		figures = max(figures, 2+total(block.widths()[s.Left:]))
	}
	names := s.widths()[:s.Left]
	s.narrow(names, of.room-figures)
	lines := 1
	for at, width := range s.widths()[:s.Left] {
		lines = max(lines, (width+names[at]-1)/max(1, names[at]))
	}
	pages := slices.Collect(slices.Chunk(s.Rows, max(1, rowsOfPage/len(blocks)/lines)))
	for i, rows := range pages {
		page := s
		if page.Rows = rows; len(pages) > 1 {
			page.Title += fmt.Sprintf(" (%d of %d)", i+1, len(pages))
		}
		page.latexPage(b, of, names)
	}
}

// latexPage writes a table that fits into a page. A column of names whose cells are wider than
// names says wraps them.
func (s Section) latexPage(b *bufio.Writer, of size, names []int) {
	b.WriteString(`\begin{` + of.float + "}[htbp]\n\\centering" + of.letter + "\n")
	if s.Title != "" {
		b.WriteString(`\caption{` + latexText(s.Title) + "}\n")
	}
	blocks := s.blocks(of.room)
	widest := slices.MaxFunc(blocks, func(x, y Section) int { return len(x.Header) - len(y.Header) }).Header
	b.WriteString(`\begin{tabular}{`)
	for at, width := range s.widths()[:s.Left] {
		kind := "l"
		if width > names[at] {
			kind = fmt.Sprintf("p{%dem}", names[at]/2)
		}
		b.WriteString(kind)
	}
	b.WriteString(strings.Repeat("r", len(widest)-s.Left) + "}\n")
	for _, block := range blocks {
		b.WriteString("\\hline\n")
		switch {
		case len(block.Groups) == 0 || block.Groups[0].Name == "":
		case len(block.Groups) == 1:
			fmt.Fprintf(b, "\\multicolumn{%d}{l}{%s} \\\\\n", len(widest), latexText(block.Groups[0].Name))
		default:
			b.WriteString(strings.Repeat("& ", max(0, s.Left-1)))
			for _, g := range block.Groups {
				fmt.Fprintf(b, `& \multicolumn{%d}{c}{%s} `, g.Columns, latexText(g.Name))
			}
			b.WriteString("\\\\\n")
		}
		block.latexRow(b, block.Header, widest)
		b.WriteString("\\hline\n")
		for _, row := range block.Rows {
			block.latexRow(b, row, widest)
		}
	}
	b.WriteString("\\hline\n\\end{tabular}\n")
	if s.Note != "" {
		b.WriteString("\n\\smallskip\n" + latexText(s.Note) + "\n")
	}
	b.WriteString(`\end{` + of.float + "}\n\n")
}

// latexRow writes a row, its cells below the heads of the widest block that they share. Blanks
// that align figures are as wide as digits.
func (s Section) latexRow(b *bufio.Writer, row, widest []string) {
	at := 0
	for i, text := range row {
		if i > 0 {
			b.WriteString(" & ")
			at++
		}
		for ; len(s.Groups) == 1 && at < len(widest)-len(row)+i && widest[at] != s.Header[i]; at++ {
			b.WriteString("& ")
		}
		text = latexText(strings.TrimSpace(text))
		for last := strings.LastIndex(text, "  "); last >= 0; last = strings.LastIndex(text, "  ") {
			text = text[:last+1] + `\phantom{0}` + text[last+2:]
		}
		b.WriteString(text)
	}
	b.WriteString(" \\\\\n")
}
