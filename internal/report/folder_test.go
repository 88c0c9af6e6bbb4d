package report_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/score/scoretest"
)

// files lists a directory, hidden files too.
func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// writeReport writes a report of a fixture into dir.
func writeReport(t testing.TB, dir string, r score.Result, rows []score.AnswerRow) {
	t.Helper()
	f := begin(t, dir, rows, false)
	if err := f.Finish(r); err != nil {
		t.Fatal(err)
	}
}

// begin begins a report at dir and adds rows, prompt by prompt.
func begin(t testing.TB, dir string, rows []score.AnswerRow, redacted bool) *report.Folder {
	t.Helper()
	f, err := report.Create(dir, folder.Subject{}, redacted)
	if err != nil {
		t.Fatal(err)
	}
	type name struct {
		dataset string
		id      orbench.PromptID
	}
	var chunks []score.Chunk
	at := map[name]int{}
	for _, row := range rows {
		of := name{row.Dataset, row.Prompt.ID}
		n, ok := at[of]
		if !ok {
			n = len(chunks)
			at[of], chunks = n, append(chunks, score.Chunk{Prompts: []orbench.Prompt{row.Prompt}})
		}
		chunks[n].Rows = append(chunks[n].Rows, [][]score.AnswerRow{{row}})
	}
	for _, c := range chunks {
		if err := f.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func TestFolder(t *testing.T) {
	t.Parallel()
	r, rows := scoretest.Fixture{Targets: 2, Safe: 6, Toxic: 3, Simulated: true}.Make()
	parent := t.TempDir()
	dir := filepath.Join(parent, "reports", "first")
	writeReport(t, dir, r, rows)
	want := []string{
		"answers", "answers.html", "answers.jsonl",
		"categories-starter-safe.pdf", "categories-starter-safe.png", "categories-starter-safe.svg",
		"categories-starter-toxic.pdf", "categories-starter-toxic.png", "categories-starter-toxic.svg", "radar.pdf", "radar.png", "radar.svg", "report.csv", "report.html",
		"report.json", "report.md", "tradeoff-column.pdf", "tradeoff-column.png", "tradeoff-column.svg", "tradeoff.pdf", "tradeoff.png", "tradeoff.svg",
	}
	if got := files(t, dir); !slices.Equal(got, want) {
		t.Errorf("the report holds %q, want %q", got, want)
	}
	if got := files(t, filepath.Dir(dir)); !slices.Equal(got, []string{"first"}) {
		t.Errorf("beside the report lie %q", got)
	}
	page, err := os.ReadFile(filepath.Join(dir, report.PageFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"SIMULATED", "1a2b3c4d", "llm:openai/gpt-4o", "Content-Security-Policy"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, out := range []string{"http://", "https://", "//cdn", "@import", "url("} {
		// An address in a namespace declaration is a name and not fetched.
		if bytes.Contains(bytes.ReplaceAll(page, []byte(`xmlns="http://www.w3.org/2000/svg"`), nil), []byte(out)) {
			t.Errorf("the page points outside with %q", out)
		}
	}
}

func TestFolderIsDeterministic(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	for _, name := range []string{"a", "b"} {
		r, rows := scoretest.Fixture{Targets: 2, Safe: 6, Toxic: 3}.Make()
		writeReport(t, filepath.Join(parent, name), r, rows)
	}
	for _, name := range append(files(t, filepath.Join(parent, "a")), "answers/0.js", "answers/rows.js") {
		if name == "answers" {
			continue
		}
		a, err := os.ReadFile(filepath.Join(parent, "a", name))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(parent, "b", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs between two reports of the same run", name)
		}
	}
}

func TestFolderIntoAnEmptyDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, rows := scoretest.Fixture{Targets: 1, Safe: 6, Toxic: 3}.Make()
	writeReport(t, dir, r, rows)
	if !slices.Contains(files(t, dir), report.PageFile) {
		t.Error("no page was written")
	}
}

// Until Finish nothing has the report's name, and Discard leaves nothing at all.
func TestDiscard(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	dir := filepath.Join(parent, "out")
	_, rows := scoretest.Fixture{Targets: 1, Safe: 6, Toxic: 3}.Make()
	f := begin(t, dir, rows, false)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a report is in place: %v", err)
	}
	if err := f.Discard(); err != nil {
		t.Fatal(err)
	}
	if got := files(t, parent); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
	if err := f.Discard(); err != nil {
		t.Errorf("the second Discard fails: %v", err)
	}
}

func TestDiscardAfterFinishKeepsTheReport(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	f, err := report.Create(dir, folder.Subject{}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Finish(score.Result{}); err != nil {
		t.Fatalf("a report of nothing fails: %v", err)
	}
	if err := f.Discard(); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(files(t, dir), report.PageFile) {
		t.Error("the report is gone")
	}
}

// BenchmarkFolder writes whole reports, plots and page included.
func BenchmarkFolder(b *testing.B) {
	for _, targets := range []int{1, 6, 32} {
		b.Run(fmt.Sprintf("targets=%d", targets), func(b *testing.B) {
			r, rows := scoretest.Fixture{Targets: targets, Safe: 6, Toxic: 3}.Make()
			parent := b.TempDir()
			for i := 0; b.Loop(); i++ {
				writeReport(b, filepath.Join(parent, fmt.Sprint(i)), r, rows)
			}
		})
	}
}
