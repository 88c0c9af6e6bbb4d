package dataset_test

import (
	"regexp"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
)

// TestTable holds every row of published.json to what Open and Pull rely on.
func TestTable(t *testing.T) {
	t.Parallel()
	revision := regexp.MustCompile(`^([0-9a-f]{40}|main)$`)
	sum := regexp.MustCompile(`^([0-9a-f]{64})?$`)
	file := regexp.MustCompile(`^[\w.-]+\.(csv|tsv|jsonl|ndjson|parquet)$`)
	names := map[string]bool{}
	for _, e := range dataset.List(t.TempDir()) {
		if names[e.Name] || e.Rows <= 0 || e.License == "" || e.About == "" || e.Columns.Prompt == "" {
			t.Errorf("incomplete or twice: %+v", e)
		}
		names[e.Name] = true
		// A label for all rows and a column of labels exclude each other.
		_, known := orbench.ParseLabel(e.Label)
		if known == (e.Columns.Label != "") || !known && e.Label != "per row" {
			t.Errorf("%s: label %q with column %q", e.Name, e.Label, e.Columns.Label)
		}
		if e.BuiltIn {
			if e.URL() != "" || e.Repo != "" {
				t.Errorf("%s is built in and has a repository", e.Name)
			}
			continue
		}
		if !revision.MatchString(e.Revision) || !sum.MatchString(e.FileSHA256) || !file.MatchString(e.File) || e.Present {
			t.Errorf("bad entry %+v", e)
		}
		if e.URL() != "https://huggingface.co/datasets/"+e.Repo {
			t.Errorf("%s: URL %s", e.Name, e.URL())
		}
	}
}
