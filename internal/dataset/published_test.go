package dataset_test

import (
	"regexp"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
)

// TestTable holds every row of published.json to what Open and Pull rely on.
func TestTable(t *testing.T) {
	t.Parallel()
	revision := regexp.MustCompile(`^([0-9a-f]{40}|main)$`)
	sum := regexp.MustCompile(`^([0-9a-f]{64})?$`)
	file := regexp.MustCompile(`^[\w./-]+\.(csv|tsv|jsonl|ndjson|json|parquet)$`)
	names := map[string]bool{}
	for _, e := range dataset.List(t.TempDir()) {
		if names[e.Name] || e.Rows <= 0 || e.License == "" || e.About == "" || e.Columns.Prompt == "" {
			t.Errorf("incomplete or twice: %+v", e)
		}
		names[e.Name] = true
		// A label for all rows and a column of labels exclude each other.
		_, known := orbench.ParseLabel(e.Label)
		perFile := len(e.Files) > 1 && e.Files[0].Label != ""
		if known == (e.Columns.Label != "" || perFile) || !known && e.Label != "per row" {
			t.Errorf("%s: label %q with column %q", e.Name, e.Label, e.Columns.Label)
		}
		if e.BuiltIn {
			if e.URL() != "" || e.Repo != "" {
				t.Errorf("%s is built in and has a repository", e.Name)
			}
			continue
		}
		if !revision.MatchString(e.Revision) || e.Present {
			t.Errorf("bad entry %+v", e)
		}
		// Nothing but the address says which commit a file on GitHub is of.
		if e.Host == "github" && e.Revision == "main" {
			t.Errorf("%s: GitHub, and no commit", e.Name)
		}
		if (e.File != "") == (len(e.Files) > 0 || e.List != "") {
			t.Errorf("%s: one file as it is, or files to put together", e.Name)
		}
		if !sum.MatchString(e.FileSHA256) || len(dataset.Paths(e.Name)) == 0 {
			t.Errorf("bad files %+v", e)
		}
		for _, path := range dataset.Paths(e.Name) {
			if !file.MatchString(path) {
				t.Errorf("%s: file %q", e.Name, path)
			}
		}
		for _, f := range e.Files {
			if !sum.MatchString(f.SHA256) {
				t.Errorf("%s: checksum of %s", e.Name, f.Path)
			}
		}
		for value, label := range e.LabelValues {
			if parsed, ok := orbench.ParseLabel(string(label)); !ok || parsed != label {
				t.Errorf("%s: the value %q means %q", e.Name, value, label)
			}
		}
		want := "https://huggingface.co/datasets/" + e.Repo
		if e.Host == "github" {
			want = "https://github.com/" + e.Repo
		}
		if e.URL() != want {
			t.Errorf("%s: URL %s", e.Name, e.URL())
		}
	}
}
