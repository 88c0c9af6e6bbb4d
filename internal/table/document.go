package table

import (
	"bufio"

	"github.com/orbench/orbench/internal/untrusted"
)

// Document is what people read: tables and the text around them, in order. Text
// and Markdown are written from it. It may hold untrusted text; each format
// makes that safe.
type Document struct {
	// Title is the heading in Markdown, at depth Level (0 means 1). Text output
	// has no title.
	Title string
	Level int
	// Simulated is true if figures come from simulated models. The output then
	// begins with a notice.
	Simulated bool
	// Paper is what LaTeX writes in place of all parts; nil for these.
	Paper []Section
	parts []placed
}

// placed is a part and where it appears.
type placed struct {
	Part
	on Place
}

// Place is where a part of a document appears.
type Place uint8

// The places. A section that is a detail is only named on a brief screen,
// wherever it appears otherwise.
const (
	OnBrief Place = 1 << iota
	OnFull
	// InMarkdown is Markdown, and LaTeX but for what is Raw; InLaTeX is LaTeX
	// alone.
	InMarkdown
	InLaTeX
	OnScreen   = OnBrief | OnFull
	everywhere = OnScreen | InMarkdown
)

// Part is a part of a document: a Section or a text.
type Part interface {
	text(*Printer)
	markdown(*bufio.Writer)
	latex(*bufio.Writer)
}

// The text parts of a document. An empty Line or Paragraph is not printed.
type (
	// Line is a paragraph that text output wraps only at the width of the
	// screen.
	Line string
	// Toned is a line in the color of what it says.
	Toned struct {
		Line
		Tone Tone
	}
	// Paragraph is wrapped to at most MaxWidth columns.
	Paragraph string
	// Note is an item of a list. Text output puts Mark before it.
	Note struct{ Mark, Text string }
	// Warning says why figures are not a fair measure.
	Warning string
	// Raw is written unchanged. Its author makes it safe for its place.
	Raw string
)

// mostQuoted is the most bytes of a text that a quote shows.
const mostQuoted = 160

// Quote shows untrusted text in quotation marks, shortened, after a mark.
func Quote(mark, text string) Note {
	return Note{mark, "“" + untrusted.Excerpt(text, mostQuoted) + "”"}
}

// Gap is an empty line in text output. Markdown sets its own.
const Gap Raw = "\n"

// Add adds parts that appear everywhere.
func (d *Document) Add(parts ...Part) { d.AddTo(everywhere, parts...) }

// AddTo adds parts that appear only in some places.
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

// Details adds tables that a brief screen leaves out.
func (d *Document) Details(sections ...Section) {
	for _, s := range sections {
		s.Detail = true
		d.Add(s)
	}
}

// Basis adds paragraphs that say what the figures rest on, set apart from what
// follows.
func (d *Document) Basis(paragraphs ...string) {
	for _, text := range paragraphs {
		d.Add(Paragraph(text))
	}
	d.AddTo(OnScreen, Gap)
}
