package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/score/scoretest"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

var update = flag.Bool("update", false, "rewrite the expected outputs in testdata")

var formats = map[string]table.Format{"table.txt": table.AsText, "report.json": table.AsJSON, "report.csv": table.AsCSV, "report.md": table.AsMarkdown}

// The outputs of a small result, for people to read when they change.
func TestFormats(t *testing.T) {
	t.Parallel()
	r, _ := scoretest.Fixture{Targets: 2, Safe: 4, Toxic: 2, Simulated: true}.Make()
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			if err := format.Of(View{Result: r})(&b); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Errorf("changed (-want +got); if that is meant, run the test with -update:\n%s", diff)
			}
		})
	}
}

func TestFormatsAreDeterministic(t *testing.T) {
	t.Parallel()
	r, _ := scoretest.Fixture{Targets: 6, Safe: 5, Toxic: 3}.Make()
	again, _ := scoretest.Fixture{Targets: 6, Safe: 5, Toxic: 3}.Make()
	for name, format := range formats {
		var a, b bytes.Buffer
		if err := format.Of(View{Result: r})(&a); err != nil {
			t.Fatal(err)
		}
		if err := format.Of(View{Result: again})(&b); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s differs for equal results", name)
		}
	}
}

// An empty result is a valid one: nothing was asked yet.
func TestFormatsOfNothing(t *testing.T) {
	t.Parallel()
	for name, format := range formats {
		var b bytes.Buffer
		if err := format.Of(View{Result: score.Result{}})(&b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if b.Len() == 0 {
			t.Errorf("%s is empty", name)
		}
	}
	var b bytes.Buffer
	if err := table.AsJSON.Of(View{Result: score.Result{}})(&b); err != nil || !strings.Contains(b.String(), `"figures": []`) {
		t.Errorf("no figures are not an empty list: %s", b.String())
	}
}

func TestJSONReadsBack(t *testing.T) {
	t.Parallel()
	r, _ := scoretest.Fixture{Targets: 2, Safe: 3, Toxic: 2}.Make()
	want := View{Result: r}.Data().(Published)
	var b bytes.Buffer
	if err := table.AsJSON.Of(View{Result: r})(&b); err != nil {
		t.Fatal(err)
	}
	var got Published
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestUnjudgedRunsAreShown(t *testing.T) {
	t.Parallel()
	r := score.Result{Runs: []score.RunResult{
		{About: score.About{Target: "a/b", Dataset: "d", Label: orbench.Safe}, N: 3, Failed: 3, Judges: []score.JudgeResult{{Judge: "lexical"}}},
		{About: score.About{Target: "a/c", Dataset: "d", Label: orbench.Safe}, N: 3, Answered: 3},
	}}
	r.Runs[0].Finish()
	var b bytes.Buffer
	if err := table.AsText.Of(View{Result: r})(&b); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if strings.HasPrefix(line, "a/b") && strings.Contains(line, "0.0%") {
			t.Errorf("nothing judged is shown as a rate of zero: %s", line)
		}
	}
	if !strings.Contains(b.String(), "a/b") || !strings.Contains(b.String(), "a/c") {
		t.Errorf("a run is missing:\n%s", b.String())
	}
}

// untrustedResult has a name that every output must disarm.
func untrustedResult(name string) score.Result {
	r, _ := scoretest.Fixture{Targets: 1, Safe: 2, Toxic: 2}.Make()
	for i := range r.Runs {
		r.Runs[i].Target, r.Runs[i].Dataset = name, name
		for k := range r.Runs[i].Judges {
			r.Runs[i].Judges[k].Judge = name
			r.Runs[i].Judges[k].ByCategory[orbench.Category(name)] = score.Count{N: 2, Refused: 1}
		}
		for k := range r.Runs[i].Agreement {
			r.Runs[i].Agreement[k].A = name
		}
		r.Runs[i].Finish()
	}
	return r
}

func TestTableStripsControls(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := table.AsText.Of(View{Result: untrustedResult("a\x1b[31m\u009b\u202e\r\nb\x00")})(&b); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(b.String(), func(r rune) bool { return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e') }); i >= 0 {
		t.Errorf("a control character got through: %q", b.String()[i:min(i+40, b.Len())])
	}
}

// Columns line up by what a terminal shows, also with wide characters.
func TestTableLinesUp(t *testing.T) {
	t.Parallel()
	r, _ := scoretest.Fixture{Targets: 3, Safe: 3, Toxic: 2}.Make()
	r.Runs[0].Target, r.Runs[2].Dataset = "模型/大", "e\u0301te\u0301"
	var b bytes.Buffer
	if err := table.AsText.Of(View{Result: r})(&b); err != nil {
		t.Fatal(err)
	}
	tables := 0
	for _, block := range strings.Split(b.String(), "\n\n") {
		lines := slices.DeleteFunc(strings.Split(strings.TrimRight(block, "\n"), "\n"), func(line string) bool {
			return strings.HasPrefix(line, "starter@") && !strings.Contains(line, "  ") // the name of a group of columns
		})
		if len(lines) < 3 || strings.Contains(block, " was checked on answers that its developers never saw ") {
			continue // a table has three lines, and what is known of a judge is none
		}
		tables++
		// The last column is aligned to the right, so all lines end at the same
		// column, except a note below, which is a sentence.
		for i, line := range lines[2:] {
			if i == len(lines)-3 && strings.HasSuffix(line, ".") {
				continue
			}
			if untrusted.Width(line) != untrusted.Width(lines[1]) {
				t.Errorf("a line of %d columns under a head of %d:\n%s\n%s", untrusted.Width(line), untrusted.Width(lines[1]), lines[1], line)
			}
		}
	}
	if tables < 4 {
		t.Errorf("only %d tables", tables)
	}
}

func TestMarkdownEscapes(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := table.AsMarkdown.Of(View{Result: untrustedResult("x | <img src=x> [a](https://b.c) `d` *e*\n# f @g")})(&b); err != nil {
		t.Fatal(err)
	}
	columns := 0
	for _, line := range strings.Split(b.String(), "\n") {
		bare := strings.Count(line, "|") - strings.Count(line, `\|`)
		switch {
		case !strings.HasPrefix(line, "|"):
			columns = 0
		case columns == 0:
			columns = bare
		case bare != columns:
			t.Errorf("a row with %d bars in a table of %d: %s", bare, columns, line)
		}
	}
	// Without the escaped characters no markup is left except the tables' own.
	bare := regexp.MustCompile(`\\.`).ReplaceAllString(b.String(), "")
	for _, raw := range []string{"<", ">", "[", "]", "(", "`", "*", "@", "://", "\n# f"} {
		if strings.Contains(bare, raw) {
			t.Errorf("%q is live in the Markdown", raw)
		}
	}
}

func TestCSVDisarmsFormulas(t *testing.T) {
	t.Parallel()
	for _, evil := range []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\u00a0=1", "＝1", "＠x", "\ufeff=1", "\x00=1"} {
		var b bytes.Buffer
		if err := table.AsCSV.Of(View{Result: untrustedResult(evil)})(&b); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, row := range rows {
			for _, cell := range row {
				if strings.HasPrefix(cell, "'") {
					found = true
				} else if strings.ContainsAny(strings.TrimLeft(cell, " \t\r\u00a0\ufeff\x00")+" ", "=@＝＠") {
					t.Errorf("%q is live in the CSV as %q", evil, cell)
				}
			}
		}
		if !found {
			t.Errorf("%q left no trace", evil)
		}
	}
	for _, fine := range []string{"openai/gpt-4o", "a=b", "", "llm:openai/gpt-4o", "3-4"} {
		if got := untrusted.Cell(fine); got != fine {
			t.Errorf("untrusted.Cell(%q) = %q", fine, got)
		}
	}
}

// The CSV holds every figure of the result, and by category the same sums.
func TestCSVIsComplete(t *testing.T) {
	t.Parallel()
	r, _ := scoretest.Fixture{Targets: 3, Safe: 5, Toxic: 3}.Make()
	var b bytes.Buffer
	if err := table.AsCSV.Of(View{Result: r})(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all, categories := 0, 0
	for _, row := range rows[1:] {
		switch m := figure.Measure(row[0]); {
		case m != figure.OverRefusal && m != figure.ToxicRefusal || row[slices.Index(rows[0], "judge")] == "":
		case row[slices.Index(rows[0], "category")] == "":
			all++
		default:
			categories++
		}
	}
	if all != 3*2*2 || categories != 3*2*2*10 {
		t.Errorf("%d lines for runs, %d for categories; want 12 and 120", all, categories)
	}
}
