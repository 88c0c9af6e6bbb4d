package identity

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// JSON writes the result in its documented form.
func (r *Result) JSON(w io.Writer) error { return table.JSON(w, r) }

// Text prints the result for people to read on a terminal.
func (r *Result) Text(b *table.Printer) error {
	b.Line(untrusted.Terminal(fmt.Sprintf("run %s: %s, %s remembered, %s to ask", r.Run, calls(r.Calls), table.Count(r.Remembered), table.Count(r.ToAsk))))
	if r.Unanswered > 0 {
		b.Paragraph("", table.Counted(r.Unanswered, "answer is", "answers are")+" lacking; what will be asked about them is not known yet.")
	}
	b.WriteByte('\n')
	s := table.Section{Title: "Calls", Header: []string{"target", "judge", "calls", "remembered", "to ask"}, Left: 2}
	for _, g := range r.Groups {
		judge := g.Judge
		if judge == "" {
			judge = table.None
		}
		s.Rows = append(s.Rows, []string{g.Target, judge, table.Count(g.Calls), table.Count(g.Remembered), table.Count(g.ToAsk)})
	}
	b.Section(s)
	if len(r.Detail) > 0 {
		for _, c := range r.Detail {
			state := "to ask"
			if c.Remembered {
				state = "remembered"
			}
			b.Paragraph("", untrusted.Terminal(fmt.Sprintf("%s  %s of %s: %s", c.Prompt, whose(c.Target, c.Judge), c.Dataset, state)))
			b.Paragraph("  ", "call "+table.ShortHash(c.Hash)+" asks "+untrusted.Terminal(c.Model)+"; "+untrusted.Terminal(c.why(c.Differs)))
		}
		return b.Flush()
	}
	for _, remembered := range []bool{false, true} {
		title := "Why calls are to be asked: how they differ from the nearest remembered one"
		if remembered {
			title = "Why the remembered were asked: how they differed from other runs' calls then"
		}
		for _, c := range r.Causes {
			if c.Remembered != remembered {
				continue
			}
			if title != "" {
				b.WriteString(title + "\n")
				title = ""
			}
			b.Paragraph(fmt.Sprintf("%7s  ", table.Count(c.Calls)), untrusted.Terminal(whose(c.Target, c.Judge)+": "+c.Example.why(c.Differs)))
			b.Paragraph(strings.Repeat(" ", 9), untrusted.Terminal("such as prompt "+string(c.Example.Prompt)+" of "+c.Example.Dataset))
		}
		if title == "" {
			b.WriteByte('\n')
		}
	}
	return b.Flush()
}

func calls(n int) string { return table.Counted(n, "call", "calls") }

// whose names the target or the judge.
func whose(target, judge string) string {
	if judge == "" {
		return target
	}
	return judge + " about " + target
}

// why says why a call was or is to be asked, in words; differs are its own differences or
// those of all that share the cause.
func (c Call) why(differs []Difference) string {
	switch {
	case c.Failure != "":
		return "it was asked and failed, at last with: " + c.Failure
	case c.Nearest == "" && c.Remembered:
		return "nothing like it was remembered then"
	case c.Nearest == "":
		return "nothing like it is remembered"
	}
	var said []string
	for _, d := range differs {
		said = append(said, fmt.Sprintf("%s was %s, is %s", d.Part, d.values(d.Was), d.values(d.Is)))
	}
	return strings.Join(said, "; ") + " (nearest: call " + table.ShortHash(c.Nearest) + ")"
}

// values lists values of a part.
func (d Difference) values(values []string) string {
	shown := slices.Clone(values)
	if d.long {
		for i, v := range shown {
			if shown[i] = untrusted.Quote(v); v == "" {
				shown[i] = "none"
			}
		}
	}
	list := strings.Join(shown, ", ")
	if d.More {
		list += ", …"
	}
	return list
}
