package table_test

import (
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/table"
)

// Untrusted text is no command, no comment and no argument of \\.
func TestLaTeX(t *testing.T) {
	t.Parallel()
	d := table.Document{Simulated: true}
	d.Sections(table.Section{Title: "50% of {a}", Header: []string{"a_b", "n"}, Left: 1, Rows: [][]string{{`[1] \input{x} $x$ #1 ~^`, "1 & 2"}}, Note: "“So” – <it> | is"})
	d.Add(table.Warning("a\x1b[31m"), table.Note{Mark: "! ", Text: "b"}, table.Raw("nowhere"))
	d.AddTo(table.OnScreen, table.Line("on screens"))
	d.AddTo(table.InLaTeX, table.Raw("% raw\n"))
	var b strings.Builder
	if err := d.LaTeX(&b); err != nil {
		t.Fatal(err)
	}
	want := table.SimulatedNotice + `

\begin{table}[htbp]
\centering\footnotesize\setlength{\tabcolsep}{4pt}
\caption{50\% of \{a\}}
\begin{tabular}{lr}
\hline
a\_b & n \\
\hline
{[}1{]} \textbackslash{}input\{x\} \$x\$ \#1 \textasciitilde{}\textasciicircum{} & 1 \& 2 \\
\hline
\end{tabular}

\smallskip
` + "``So'' -- \\textless{}it\\textgreater{} \\textbar{} is" + `
\end{table}

\textbf{Warning.} a{[}31m

b

% raw
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// A share has as many decimals as its interval is narrow.
func TestInPercent(t *testing.T) {
	t.Parallel()
	share := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		share  *float64
		lo, hi float64
		want   string
	}{
		{share(0.385), 0.27, 0.52, "38.5 (27.0–52.0)"},
		{share(0.0011), 0.0009, 0.0013, "0.11 (0.09–0.13)"},
		{share(0.00011), 0.00009, 0.00013, "0.011 (0.009–0.013)"},
		{nil, 0, 1, "– (0.0–100.0)"},
	} {
		if got := table.InPercent(c.share, &[2]float64{c.lo, c.hi}); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if got := table.InPercent(share(0.5), nil); got != "50.0" {
		t.Errorf("without an interval: %q", got)
	}
}
