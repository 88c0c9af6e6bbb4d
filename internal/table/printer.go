package table

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/untrusted"
)

// Screen describes where text is printed. The zero value is a file with lines
// of any length: everything is printed in full.
type Screen struct {
	// Brief leaves details out and names them.
	Brief bool
	// Width is the number of columns of a line; 0 means no limit. A table that
	// is wider loses columns, and the output names them.
	Width int
	// Whole tells the reader how to see everything, such as by a flag.
	Whole string
	// Color turns colors on.
	Color bool
	// Commands completes the commands that a text names; nil leaves them as they are.
	Commands func(text string) string
}

// Printer prints tables and paragraphs on a screen.
type Printer struct {
	*bufio.Writer
	Screen
	// left is how many tables were left out.
	left int
}

// NewPrinter makes a printer. Output is buffered until Flush.
func NewPrinter(w io.Writer, s Screen) *Printer {
	if s.Commands == nil {
		s.Commands = strings.Clone
	}
	return &Printer{Writer: bufio.NewWriter(w), Screen: s}
}

// Flush says how many tables were left out, and writes what is buffered.
func (p *Printer) Flush() error {
	if p.left > 0 {
		p.styled(dim, "More with "+p.Whole+": "+Counted(p.left, "table", "tables")+".")
	}
	p.left = 0
	return p.Writer.Flush()
}

// Section prints a section and an empty line. Columns are aligned by display
// width; groups of columns that do not fit side by side stand one below the other, and other
// columns that do not fit are left out.
func (p *Printer) Section(s Section) {
	s = s.clean()
	p.styled(cmp.Or(string(s.Tone), bold), s.Title)
	var dropped Names
	for i, block := range s.blocks(cmp.Or(p.Width, MaxWidth)) {
		if i > 0 {
			p.WriteString("\n")
		}
		if p.Width > 0 {
			var gone []string
			block, gone = block.fit(p.Width)
			dropped.Add(gone...)
		}
		p.block(block)
	}
	p.Line(s.Note)
	if len(dropped) > 0 {
		p.styled(dim, "Not shown: "+strings.Join(dropped, ", ")+" (see "+p.Whole+", or use a wider terminal).")
	}
	p.WriteString("\n")
}

// block prints the heads and the rows of a table.
func (p *Printer) block(s Section) {
	widths := s.widths()
	if p.Width > 0 && total(widths) > p.Width {
		s.narrow(widths, p.Width)
	}
	head, at := strings.Repeat(" ", total(widths[:s.Left])), s.Left
	for i, g := range s.Groups {
		if i == 0 && len(s.Groups) == 1 {
			head = g.Name
			break
		}
		of := widths[at : at+g.Columns]
		widths[at+g.Columns-1] += max(0, untrusted.Width(g.Name)-total(of))
		head += "  " + Pad(g.Name, total(of), true)
		at += g.Columns
	}
	if len(s.Groups) > 0 && s.Groups[0].Name != "" {
		p.Line(strings.TrimRight(head, " "))
	}
	p.row(s.Header, widths, s.Left)
	for _, row := range s.Rows {
		p.row(row, widths, s.Left)
	}
}

// The styles of text. They do not change the background or ordinary text, so
// they work on light and dark terminals.
const (
	bold  = "\x1b[1m"
	red   = "\x1b[1;31m"
	dim   = "\x1b[2m"
	plain = "\x1b[0m" // ends the other styles
)

// Tone is the style of what a line says: that something is worse or better, or that it is not
// clear which.
type Tone string

// The tones.
const (
	Worse   Tone = red
	Better  Tone = "\x1b[1;32m"
	Unclear Tone = "\x1b[1;33m"
)

// Styles returns the control sequences that a Printer writes if its screen has
// colors.
func Styles() []string { return []string{bold, red, string(Better), string(Unclear), dim, plain} }

// styled prints a line in a style if the screen has colors.
func (p *Printer) styled(style, text string) {
	if !p.Color || text == "" || style == "" {
		p.Line(text)
		return
	}
	p.WriteString(style)
	p.Line(text)
	p.WriteString(plain)
}

// Warning prints why figures are not a fair measure.
func (p *Printer) Warning(text string) { p.styled(red, "! "+text) }

// Line prints a line, wrapped if the screen is narrower. One that begins with a blank is a
// command to copy, and is broken so that it can be pasted. It prints nothing if the text is empty.
func (p *Printer) Line(text string) {
	switch text = p.Commands(text); {
	case text == "":
	case p.Width > 0 && text[0] == ' ':
		p.WriteString(WrapCommands(text, p.Width) + "\n")
	case p.Width > 0:
		p.Paragraph("", text)
	default:
		p.WriteString(text + "\n")
	}
}

// row prints a line of cells. A cell that is wider than its column takes
// several lines.
func (p *Printer) row(cells []string, widths []int, left int) {
	parts := make([][]string, len(cells))
	height := 1
	for i, text := range cells {
		parts[i] = untrusted.Wrap(text, max(2, widths[i]))
		height = max(height, len(parts[i]))
	}
	line := make([]string, len(cells))
	for y := range height {
		for i := range cells {
			text := ""
			if y < len(parts[i]) {
				text = parts[i][y]
			}
			line[i] = Pad(text, widths[i], i >= left)
		}
		p.WriteString(strings.TrimRight(strings.Join(line, "  "), " ") + "\n")
	}
}

// Paragraph prints a text wrapped to the width of the screen, and at most to
// MaxWidth. The first line follows a mark; the others are indented to the text.
func (p *Printer) Paragraph(mark, text string) {
	most := MaxWidth
	if p.Width > 0 {
		most = min(most, p.Width)
	}
	line := mark
	indent := strings.Repeat(" ", untrusted.Width(mark))
	for word := range strings.FieldsSeq(p.Commands(text)) {
		if untrusted.Width(line)+untrusted.Width(word) > most && line != indent && line != mark {
			p.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		}
		line += word + " "
	}
	p.WriteString(strings.TrimRight(line, " ") + "\n")
}

// clean returns the section with its texts made safe for a terminal.
func (s Section) clean() Section {
	s.Title, s.Note = untrusted.Terminal(s.Title), untrusted.Terminal(s.Note)
	lines := append([][]string{s.Header}, s.Rows...)
	for i, line := range lines {
		lines[i] = make([]string, len(line))
		for j, text := range line {
			lines[i][j] = untrusted.Terminal(text)
		}
	}
	s.Header, s.Rows = lines[0], lines[1:]
	s.Groups = RowsOf(s.Groups, func(g Group) Group { return Group{untrusted.Terminal(g.Name), g.Columns} })
	return s
}

// blocks divides a table by its groups into tables of at most width columns, if a group fits.
func (s Section) blocks(width int) (all []Section) {
	if len(s.Groups) < 2 {
		return []Section{s}
	}
	// Names may take a third of the width, or what they need at least.
	widths := s.widths()[:s.Left]
	least := RowsOf(widths, func(w int) int { return min(w, narrowest) })
	names := min(total(widths), max(total(least), width/3))
	for first, at := 0, s.Left; first < len(s.Groups); {
		last, end := first, at
		for used := names; last < len(s.Groups); last++ {
			g := s.Groups[last]
			of := s.columns(end, end+g.Columns)
			if used += 2 + max(total(of.widths()[s.Left:]), untrusted.Width(g.Name)); used > width && last > first {
				break
			}
			end += g.Columns
		}
		one := s.columns(at, end)
		one.Groups = s.Groups[first:last]
		all, first, at = append(all, one), last, end
	}
	return all
}

// columns is the table with some of its columns of figures.
func (s Section) columns(from, to int) Section {
	some := func(row []string) []string { return slices.Concat(row[:s.Left], row[from:to]) }
	s.Header, s.Rows, s.Groups = some(s.Header), RowsOf(s.Rows, some), nil
	return s
}

// widths returns the width of the widest cell of each column.
func (s Section) widths() []int {
	widths := make([]int, len(s.Header))
	for _, line := range append([][]string{s.Header}, s.Rows...) {
		for j, text := range line {
			widths[j] = max(widths[j], untrusted.Width(text))
		}
	}
	return widths
}

// total returns the width of a line of columns.
func total(widths []int) int {
	n := 2 * (len(widths) - 1)
	for _, w := range widths {
		n += w
	}
	return n
}

// fit leaves out columns until a line fits into width columns of the screen. It
// leaves out the Spare columns in their order, then the figures from the right
// except the first, unless WrapNames makes room for them. It returns the
// headers of the columns left out, in the order of the columns.
func (s Section) fit(width int) (_ Section, dropped []string) {
	widths := s.widths()
	need, names := total(widths), min(s.Left, len(widths))
	// room is how much width the name columns can give up; see narrow.
	room := 0
	for _, w := range widths[:names] {
		room += max(0, w-narrowest)
	}
	var first, then []int
	for _, name := range s.Spare {
		if at := slices.Index(s.Header, name); at >= 0 {
			first = append(first, at)
		}
	}
	for at := len(s.Header) - 1; at > s.Left; at-- {
		then = append(then, at)
	}
	gone := make([]bool, len(s.Header))
	for i, at := range append(first, then...) {
		if need <= width || s.WrapNames && i >= len(first) && need-room <= width {
			break
		}
		if gone[at] {
			continue
		}
		gone[at] = true
		need -= widths[at] + 2
		if at < names {
			room -= max(0, widths[at]-narrowest)
		}
	}
	if !slices.Contains(gone, true) {
		return s, nil
	}
	var left Names
	for i, name := range s.Header {
		if gone[i] {
			left.Add(name)
		}
	}
	keep := func(line []string) []string {
		var kept []string
		for i, text := range line {
			if !gone[i] {
				kept = append(kept, text)
			}
		}
		return kept
	}
	s.Left = len(keep(s.Header[:names]))
	s.Header, s.Rows = keep(s.Header), RowsOf(s.Rows, keep)
	return s, left
}

// narrowest is the smallest width to which a name column is narrowed.
const narrowest = 12

// narrow takes width from the widest name columns until a line fits or no more
// can be taken. Their cells then take several lines, and longer words are shortened.
func (s Section) narrow(widths []int, width int) {
	for total(widths) > width {
		widest := 0
		for i := range min(s.Left, len(widths)) {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= narrowest {
			break
		}
		widths[widest]--
	}
	for at := range min(s.Left, len(widths)) {
		var words Names
		for _, row := range s.Rows {
			for word := range strings.FieldsSeq(row[at]) {
				// Names of one file or provider are shortened together.
				if untrusted.Width(word) > widths[at] || strings.ContainsAny(word, "#/") {
					words.Add(word)
				}
			}
		}
		short := Short(words, widths[at])
		for _, row := range s.Rows {
			if len(words) > 0 {
				row[at] = strings.Join(RowsOf(strings.Fields(row[at]), func(word string) string { return cmp.Or(short[word], word) }), " ")
			}
		}
	}
}
