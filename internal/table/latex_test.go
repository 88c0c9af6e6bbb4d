package table_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// Tables of long names and many columns fit into a page of a class with two columns: 8 models on
// 3 sets by 2 judges have at most 60 lines, and names wrap, heads are short and what is too high
// is several tables. Where there is pdflatex, it sets them without a box that is too wide.
func TestLaTeXFits(t *testing.T) {
	t.Parallel()
	matrix := table.Section{Title: "8 targets on 3 sets", Header: []string{"target"}, Left: 1, Note: "Ranges: 95%"}
	for _, set := range []string{"cyberseceval-frr-multilingual@7fd9732f: 300 safe prompts", "refusalbench-dual-use@3fc92e09: 200 safe and 100 toxic prompts", "wildjailbreak-eval@5adbafb5: 200 safe and 150 toxic prompts"} {
		columns := 3
		matrix.Header = append(matrix.Header, "safe refused", "toxic refused", "rank")
		if len(matrix.Groups) == 0 {
			columns, matrix.Header = 2, []string{"target", "safe refused", "rank"}
		}
		matrix.Groups = append(matrix.Groups, table.Group{Name: set, Columns: columns})
	}
	wide := table.Section{Title: "By category", Header: []string{"category"}, Left: 1}
	high := table.Section{Title: "Flips", Header: []string{"target", "prompt", "answer", "of what there is", "p (Holm) by verdicts alone"}, Left: 4}
	for i := range 8 {
		model := fmt.Sprintf("vllm/our_team/Llama-%d-Maverick-17B_100%%-Instruct-FP8", i)
		row := []string{model}
		for _, head := range matrix.Header[1:] {
			cell := "100.0% (97.1–100.0) /  50.0% (not checked)"
			if head == "rank" {
				cell = "1–7 / 1–7"
			}
			row = append(row, cell)
		}
		matrix.Rows = append(matrix.Rows, row)
		wide.Header = append(wide.Header, model)
		for range 20 {
			high.Rows = append(high.Rows, []string{model, strings.Repeat("Where is shed number one? ", 9), "Here.", model + " (simulated)", "<0.0001"})
		}
	}
	for range 10 {
		wide.Rows = append(wide.Rows, append([]string{"harassment"}, strings.Split(strings.Repeat("▲ 152/300  50.7%  42.2–100.0;", 8), ";")[:8]...))
	}
	dir := t.TempDir()
	for name, section := range map[string]table.Section{"matrix": matrix, "wide": wide, "high": high} {
		var d table.Document
		d.Sections(section)
		text := &strings.Builder{}
		if err := d.LaTeX(text); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(text.String(), "\n"); name == "matrix" && lines > 60 {
			t.Errorf("%d lines, want at most 60:\n%s", lines, text)
		}
		if several := strings.Contains(text.String(), "(1 of "); several != (name == "high") {
			t.Errorf("%s: several tables: %v", name, several)
		}
		pdflatex, err := exec.LookPath("pdflatex")
		if err != nil {
			continue
		}
		for class, options := range map[string]string{"article": "[twocolumn]", "IEEEtran": ""} {
			source := `\documentclass` + options + "{" + class + "}\\begin{document}\n" + text.String() + "\\end{document}\n"
			file := filepath.Join(dir, name+class+".tex")
			if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			said, err := exec.Command(pdflatex, "-interaction=nonstopmode", "-output-directory", dir, file).CombinedOutput()
			switch log := string(said); {
			case strings.Contains(log, class+".cls' not found"):
			case err != nil || strings.Contains(log, "Overfull") || strings.Contains(log, "Float too large"):
				t.Errorf("%s in %s: %v\n%s", name, class, err, log)
			}
		}
	}
}
