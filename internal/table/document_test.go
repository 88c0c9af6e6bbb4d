package table_test

import (
	"io"
	"testing"

	"github.com/orbench/orbench/internal/table"
)

// TestDocument has every part of a document at every place.
func TestDocument(t *testing.T) {
	t.Parallel()
	section := func(title string) table.Section {
		return table.Section{Title: title, Header: []string{"n"}, Left: 1, Rows: [][]string{{"1"}}}
	}
	d := table.Document{Title: "A <title>", Level: 2, Simulated: true}
	d.Basis("Of *these*\x1b[31m.", "And those.")
	d.Add(table.Line(""), table.Paragraph(""), table.Line("A line."), table.Warning("Mind <it>."), table.Note{Mark: "! ", Text: "A note."})
	d.Sections(section("Always"))
	d.AddTo(table.OnBrief, section("In brief"))
	d.Details(section("More of 1,500, as they came"))
	d.AddTo(table.OnFull|table.InMarkdown, table.Paragraph("At length."))
	d.AddTo(table.InMarkdown, table.Raw("<hr>\n"))
	const (
		notice = table.SimulatedNotice
		head   = notice + "\n\nOf *these*[31m.\nAnd those.\n\nA line.\n! Mind <it>.\n! A note.\nAlways\nn\n1\n\n"
		cells  = "\n\n| n |\n| --- |\n| 1 |\n\n"
	)
	for name, c := range map[string]struct {
		write func(io.Writer) error
		want  string
	}{
		"full":  {func(w io.Writer) error { return d.Text(w, table.Screen{}) }, head + "More of 1,500, as they came\nn\n1\n\nAt length.\n"},
		"brief": {func(w io.Writer) error { return d.Text(w, table.Screen{Brief: true, Whole: "--full"}) }, head + "In brief\nn\n1\n\nMore with --full: 1 table.\n"},
		"Markdown": {
			d.Markdown, "## A \\<title\\>\n\n**" + notice + "**\n\nOf \\*these\\*\\[31m.\n\nAnd those.\n\nA line.\n\n**Warning.** Mind \\<it\\>.\n\n- A note.\n" +
				"## Always" + cells + "## More of 1,500, as they came" + cells + "At length.\n\n<hr>\n",
		},
	} {
		if got := written(t, c.write); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
	}
}
