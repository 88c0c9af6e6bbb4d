package table

import (
	"bufio"
	"io"
	"strings"

	"github.com/orbench/orbench/internal/untrusted"
)

// Document is what people read: tables and the text around them, in their order. Text and
// Markdown follow from it. It may hold text from outside, which each of them makes fit.
type Document struct {
	// Title heads Markdown, at a depth of Level, where 0 means 1. A terminal does without.
	Title string
	Level int
	// Simulated is true where figures come from simulated models. That is said first.
	Simulated bool
	parts     []placed
}

// placed is a part with where it stands.
type placed struct {
	Part
	on Place
}

// Place says where a part of a document stands.
type Place uint8

// The places. Wherever a section stands that is a detail, a brief screen names it alone.
const (
	OnBrief Place = 1 << iota
	OnFull
	InMarkdown
	OnScreen   = OnBrief | OnFull
	everywhere = OnScreen | InMarkdown
)

// Part is a part of a document: a Section or a text.
type Part interface {
	text(*Printer)
	markdown(*bufio.Writer)
}

// The texts of a document. An empty Line or Paragraph is none.
type (
	// Line is a paragraph that text breaks only where the screen ends.
	Line string
	// Paragraph is broken into lines of at most MaxWidth columns.
	Paragraph string
	// Note is an entry of a list, in text with a mark of its own before it.
	Note struct{ Mark, Text string }
	// Warning says what makes figures no fair measure.
	Warning string
	// Raw is written as it is, fit for its place by its author.
	Raw string
)

// Gap is an empty line of text. Markdown has its own.
const Gap Raw = "\n"

// Add adds parts that stand everywhere.
func (d *Document) Add(parts ...Part) { d.AddTo(everywhere, parts...) }

// AddTo adds parts that stand in some places alone.
func (d *Document) AddTo(on Place, parts ...Part) {
	for _, p := range parts {
		d.parts = append(d.parts, placed{p, on})
	}
}

// Sections adds tables.
func (d *Document) Sections(sections ...Section) {
	for _, s := range sections {
		d.Add(s)
	}
}

// Details adds tables that a brief screen does without.
func (d *Document) Details(sections ...Section) {
	for _, s := range sections {
		s.Detail = true
		d.Add(s)
	}
}

// Basis adds paragraphs that say what the figures rest on, apart from what follows.
func (d *Document) Basis(paragraphs ...string) {
	for _, text := range paragraphs {
		d.Add(Paragraph(text))
	}
	d.AddTo(OnScreen, Gap)
}

// AsText is the format for people at a terminal.
var AsText = Format{"table", func(w io.Writer, s Screen, v View) error { return v.Document().Text(w, s) }}

// Text writes the document for a screen.
func (d Document) Text(w io.Writer, s Screen) error {
	p := NewPrinter(w, s)
	if d.Simulated {
		p.Line(SimulatedNotice)
		p.WriteString("\n")
	}
	on := OnFull
	if s.Brief {
		on = OnBrief
	}
	for _, part := range d.parts {
		switch section, isTable := part.Part.(Section); {
		case s.Brief && isTable && section.Detail:
			p.Leave(section)
		case part.on&on != 0:
			part.text(p)
		}
	}
	return p.Flush()
}

// AsMarkdown is GitHub's Markdown, in which no text from outside is markup.
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

func (s Section) text(p *Printer)          { p.Section(s) }
func (s Section) markdown(b *bufio.Writer) { s.Markdown(b) }

func (l Line) text(p *Printer)          { p.Line(untrusted.Terminal(string(l))) }
func (l Line) markdown(b *bufio.Writer) { Paragraph(l).markdown(b) }

func (t Paragraph) text(p *Printer) {
	if t != "" {
		Note{Text: string(t)}.text(p)
	}
}

func (t Paragraph) markdown(b *bufio.Writer) {
	if t != "" {
		b.WriteString(untrusted.Markdown(string(t)) + "\n\n")
	}
}

func (n Note) text(p *Printer)          { p.Paragraph(n.Mark, untrusted.Terminal(n.Text)) }
func (n Note) markdown(b *bufio.Writer) { b.WriteString("- " + untrusted.Markdown(n.Text) + "\n") }

func (t Warning) text(p *Printer) { p.Warning(untrusted.Terminal(string(t))) }
func (t Warning) markdown(b *bufio.Writer) {
	b.WriteString("**Warning.** " + untrusted.Markdown(string(t)) + "\n\n")
}

func (r Raw) text(p *Printer)          { p.WriteString(string(r)) }
func (r Raw) markdown(b *bufio.Writer) { b.WriteString(string(r)) }
