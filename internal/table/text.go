package table

import (
	"io"

	"github.com/orbench/orbench/internal/untrusted"
)

// AsText writes text for people at a terminal.
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
			p.left += min(1, len(section.Rows))
		case part.on&on != 0:
			part.text(p)
		}
	}
	return p.Flush()
}

func (s Section) text(p *Printer) { p.Section(s) }

func (l Line) text(p *Printer) { p.Line(untrusted.Terminal(string(l))) }

func (t Toned) text(p *Printer) { p.styled(string(t.Tone), untrusted.Terminal(string(t.Line))) }

func (t Paragraph) text(p *Printer) {
	if t != "" {
		Note{Text: string(t)}.text(p)
	}
}

func (n Note) text(p *Printer) { p.Paragraph(n.Mark, untrusted.Terminal(n.Text)) }

func (t Warning) text(p *Printer) { p.Warning(untrusted.Terminal(string(t))) }

func (r Raw) text(p *Printer) { p.WriteString(string(r)) }
