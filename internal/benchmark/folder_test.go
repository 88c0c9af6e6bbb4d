package benchmark_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
)

// changed copies the small benchmark with one of its files changed.
func changed(t *testing.T, name string, change func(text string) string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "changed")
	if err := os.CopyFS(dir, os.DirFS("testdata/tiny")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(change(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// rows reads a lineage to its end or its first error.
func rows(f *benchmark.Folder) (n int, err error) {
	for _, err := range f.Rows() {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func TestOpenRefusesWhatIsNoBenchmark(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ dir, want string }{
		"no folder":   {filepath.Join(t.TempDir(), "none"), "is not the folder of a benchmark"},
		"no manifest": {t.TempDir(), "is not the folder of a benchmark"},
		"no JSON":     {changed(t, benchmark.ManifestFile, func(string) string { return "{" }), "not a manifest"},
		"another format": {changed(t, benchmark.ManifestFile, func(s string) string {
			return strings.Replace(s, `"orbench_benchmark": 1`, `"orbench_benchmark": 2`, 1)
		}), "another version"},
	} {
		if _, err := benchmark.Open(test.dir); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, test.want)
		}
	}
}

// TestLineageIsTheManifests reads the lineage in both ways, as it was built and
// changed since.
func TestLineageIsTheManifests(t *testing.T) {
	t.Parallel()
	whole, err := benchmark.Open("testdata/tiny")
	if err != nil {
		t.Fatal(err)
	}
	seeds, err := whole.Seeds()
	if err != nil || len(seeds) != whole.Manifest.Files[benchmark.SeedsFile].Rows {
		t.Fatalf("%d seeds, %v", len(seeds), err)
	}
	isSeed := map[orbench.PromptID]bool{}
	for _, s := range seeds {
		isSeed[s.ID] = true
	}
	origins, err := whole.Origins(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range whole.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		if origin := origins.Of(row.ID); !isSeed[origin] || origin != row.SeedID {
			t.Errorf("%s goes back to %s, want %s", row.ID, origin, row.SeedID)
		}
	}
	for name, test := range map[string]struct {
		change func(string) string
		want   string
	}{
		"another text": {func(s string) string { return strings.Replace(s, `"text":"`, `"text":"X`, 1) }, "its hash is not"},
		"a row less":   {func(s string) string { return s[strings.Index(s, "\n")+1:] }, "its hash is not"},
		"empty line":   {func(s string) string { return "\n" + s }, "not a row"},
		"cut":          {func(s string) string { return s[:len(s)/2] }, "lineage.jsonl"},
	} {
		folder, err := benchmark.Open(changed(t, benchmark.LineageFile, test.change))
		if err != nil {
			t.Fatal(err)
		}
		_, byRow := rows(folder)
		_, byOrigin := folder.Origins(t.Context())
		for _, err := range []error{byRow, byOrigin} {
			if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: the error is %v, want %q", name, err, test.want)
			}
		}
	}
	none := changed(t, benchmark.LineageFile, func(s string) string { return s })
	if err := os.Remove(filepath.Join(none, benchmark.LineageFile)); err != nil {
		t.Fatal(err)
	}
	folder, err := benchmark.Open(none)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rows(folder); !errors.Is(err, orbench.ErrInput) {
		t.Errorf("without a lineage: %v", err)
	}
	if origins, err := folder.Origins(t.Context()); origins != nil || err != nil {
		t.Errorf("without a lineage: %v, %v", origins, err)
	}
}
