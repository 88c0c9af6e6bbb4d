package identity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// Data is the result in its documented form.
func (r Result) Data() any { return r }

// Document is what people read: why calls would be made, or, for the prompts that were named,
// all of their calls.
func (r Result) Document() table.Document {
	d := table.Document{Title: "Calls of run " + r.Run}
	d.Add(table.Line(fmt.Sprintf("run %s: %s, %s remembered, %s to ask", r.Run, calls(r.Calls), table.Count(r.Remembered), table.Count(r.ToAsk))))
	if r.Unanswered > 0 {
		d.Add(table.Paragraph(table.Counted(r.Unanswered, "answer is", "answers are") + " missing; the calls that follow from them are not known yet."))
	}
	d.AddTo(table.OnScreen, table.Gap)
	s := table.Section{Title: "Calls", Header: []string{"target", "judge", "calls", "remembered", "to ask"}, Left: 2}
	for _, g := range r.Groups {
		s.Rows = append(s.Rows, []string{g.Target, cmp.Or(g.Judge, table.None), table.Count(g.Calls), table.Count(g.Remembered), table.Count(g.ToAsk)})
	}
	d.Sections(s)
	for _, c := range r.Detail {
		state := "to ask"
		if c.Remembered {
			state = "remembered"
		}
		d.Add(table.Paragraph(fmt.Sprintf("%s  %s of %s: %s", c.Prompt, whose(c.Target, c.Judge), c.Dataset, state)),
			table.Note{Mark: "  ", Text: "call " + table.ShortHash(c.Hash) + " asks " + c.Model + "; " + c.why(c.Differs)})
	}
	if len(r.Detail) > 0 {
		return d
	}
	for _, remembered := range []bool{false, true} {
		title := "Why calls will be asked: how they differ from the nearest remembered call"
		if remembered {
			title = "Why remembered calls were asked: differences from other runs at that time"
		}
		why := table.Section{Title: title, Header: []string{"calls", "whose", "why", "such as prompt"}, Left: 4}
		for _, c := range r.Causes {
			if c.Remembered != remembered {
				continue
			}
			if len(why.Rows) == 0 {
				d.AddTo(table.OnScreen, table.Raw(title), table.Gap)
			}
			n, of, reason, example := table.Count(c.Calls), whose(c.Target, c.Judge), c.Example.why(c.Differs), string(c.Example.Prompt)+" of "+c.Example.Dataset
			why.Rows = append(why.Rows, []string{n, of, reason, example})
			d.AddTo(table.OnScreen, table.Note{Mark: fmt.Sprintf("%7s  ", n), Text: of + ": " + reason},
				table.Note{Mark: strings.Repeat(" ", 9), Text: "such as prompt " + example})
		}
		if len(why.Rows) > 0 {
			d.AddTo(table.OnScreen, table.Gap)
			d.AddTo(table.InMarkdown, why)
		}
	}
	return d
}

// Rows has a row for each target and for each judge of its answers.
func (r Result) Rows() any { return r.Groups }

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
		return "it was asked and failed; the last error: " + c.Failure
	case c.Nearest == "" && c.Remembered:
		return "nothing similar was remembered at that time"
	case c.Nearest == "":
		return "nothing similar is remembered"
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
