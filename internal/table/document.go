package table

import (
	"bufio"

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

// mostQuoted is the most bytes that a quote shows of a text.
const mostQuoted = 160

// Quote is a text from outside in quotation marks, shortened, after a mark.
func Quote(mark, text string) Note {
	return Note{mark, "“" + untrusted.Excerpt(text, mostQuoted) + "”"}
}

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
