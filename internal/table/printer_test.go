package table_test

import (
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/table"
)

// Names of one file lose its path together, those that there is room for too.
func TestNarrowNamesAlike(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	p := table.NewPrinter(&b, table.Screen{Width: 30})
	p.Section(table.Section{
		Header: []string{"target", "safe"}, Left: 1, WrapNames: true,
		Rows: [][]string{{"replay:answers.csv#north-with-a-long-name", "17.0%"}, {"replay:answers.csv#south", "3.0%"}},
	})
	want := "target                    safe\nnorth-with-a-long-name   17.0%\nsouth                     3.0%\n\n"
	if err := p.Flush(); err != nil || b.String() != want {
		t.Errorf("%v:\n%s\nwant\n%s", err, b.String(), want)
	}
}

// What a narrow screen has no room for goes in this order: spare columns, then names on
// several lines, then figures from the right.
func TestNarrowScreen(t *testing.T) {
	t.Parallel()
	s := table.Section{
		Title: "Rates", Header: []string{"target", "safe", "toxic", "J"}, Left: 1, Spare: []string{"J"}, WrapNames: true,
		Rows: [][]string{{"provider/model (simulated)", "17.0%", "90.0%", "0.73"}},
	}
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, "Rates\ntarget                       safe  toxic     J\nprovider/model (simulated)  17.0%  90.0%  0.73\n\n"},
		{46, "Rates\ntarget                       safe  toxic     J\nprovider/model (simulated)  17.0%  90.0%  0.73\n\n"},
		{40, "Rates\ntarget                       safe  toxic\nprovider/model (simulated)  17.0%  90.0%\nNot shown: J (see --all, or use a wider\nterminal).\n\n"},
		{32, "Rates\ntarget               safe  toxic\nprovider/model      17.0%  90.0%\n(simulated)\nNot shown: J (see --all, or use\na wider terminal).\n\n"},
		{20, "Rates\ntarget          safe\nmodel          17.0%\n(simulated)\nNot shown: toxic, J\n(see --all, or use a\nwider terminal).\n\n"},
	} {
		var b strings.Builder
		p := table.NewPrinter(&b, table.Screen{Width: c.width, Whole: "--all"})
		p.Section(s)
		if err := p.Flush(); err != nil || b.String() != c.want {
			t.Errorf("on %d columns, %v:\n%s\nwant\n%s", c.width, err, b.String(), c.want)
		}
	}
}
