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
