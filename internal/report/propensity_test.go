package report_test

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/propensity"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/table"
)

// A run with samples has files and sections of its own; TestFolder has one without.
func TestFolderWithSamples(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "r")
	f, err := report.Create(dir, folder.Subject{})
	if err != nil {
		t.Fatal(err)
	}
	r, rows := report.Fixture(1, true)
	r.Propensity = report.Propensity()
	for _, row := range rows {
		row.Variant, row.Sample = r.Propensity[0].Target, 2
		if err := f.Add(row); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []propensity.Prompt{
		{
			Target: "=cmd()", Dataset: "starter", Prompt: "p1", Category: "+privacy", Label: orbench.Safe, Judge: "lexical",
			Samples: 5, Judged: 4, Refused: 1, Unjudged: 1, Greedy: orbench.Refusal,
		},
		{Target: "t", Dataset: "starter", Prompt: "p2", Label: orbench.Toxic, Judge: "lexical", Samples: 5, Unjudged: 5},
	} {
		if err := f.AddPropensity(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Finish(r); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"propensity.csv", "propensity.png", "propensity.svg"} {
		if !slices.Contains(files(t, dir), name) {
			t.Errorf("the report lacks %s", name)
		}
	}
	table, err := os.ReadFile(filepath.Join(dir, "propensity.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"prompt_id", "category", "label", "dataset", "target", "judge", "samples", "judged", "refused", "propensity", "greedy_class"},
		{"p1", "'+privacy", "safe", "starter", "'=cmd()", "lexical", "5", "4", "1", "0.25", "refusal"},
		{"p2", "", "toxic", "starter", "t", "lexical", "5", "0", "0", "", ""},
	}
	if !slices.EqualFunc(lines, want, slices.Equal) {
		t.Errorf("propensity.csv is\n%q, want\n%q", lines, want)
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`id="propensity"`, `href="#propensity"`, "refused of 5 samples", "var(--plot-2,", `<span class="tag">sample 2</span>`,
		`data-target="openai/gpt-1-mini [temperature 0.7]"`,
	} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestDiscardWithSamples(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	f, err := report.Create(filepath.Join(parent, "r"), folder.Subject{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.AddPropensity(propensity.Prompt{Target: "t"}); err != nil {
		t.Fatal(err)
	}
	if err := f.Discard(); err != nil {
		t.Fatal(err)
	}
	if got := files(t, parent); len(got) != 0 {
		t.Errorf("discarded, but there is %q", got)
	}
}

// The table has one row for all samples of a target, with the interval that counts
// that they are of the same prompts.
func TestTableFoldsSamples(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	r := report.Sampled()
	if err := (report.View{r}).Text(table.NewPrinter(&b, table.Screen{})); err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(b.String()) {
		found = append(found, strings.Join(strings.Fields(line), " "))
	}
	for _, want := range []string{
		"openai/gpt-1-mini [temperature 0.7], 2 samples (simulated) starter@1a2b3c4d lexical 400 400 399 1 57 14.3% 11.0–18.4",
		"openai/gpt-1-mini [temperature 0.7] (simulated) starter safe lexical 5 200 1 0 14.3% 11.0–18.4 140 52 7 29.6% 3.5% 0.62",
		"openai/gpt-1-mini [temperature 0.7] (simulated) openai/gpt-1-mini starter safe lexical 200 12.0% +2.3 +0.4 to +4.2 90.0% 5 11 4 6.5% 71.0%",
	} {
		if !slices.Contains(found, want) {
			t.Errorf("the table lacks\n%s\nin\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "sample 2]") {
		t.Errorf("the table shows single samples:\n%s", b.String())
	}
	b.Reset()
	if err := (report.View{r}).CSV(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "sample 2]") {
		t.Error("the CSV lacks the single samples")
	}
}
