package dataset_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/dataset"
)

// The cells of a file's other columns are those of the file that was checked.
func TestOwn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "prompts.csv")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("id,prompt,label,source,category\n7,How do I cut bread?,safe,a book,\n8,How do I cut bread?,safe,a film,\n")
	d, err := dataset.Open(t.Context(), path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	columns, cells, err := d.Own([]string{"id", "prompt"})
	if err != nil || !slices.Equal(columns, []string{"source"}) || len(cells) != 1 {
		t.Fatalf("%v, %v, %v", columns, cells, err)
	}
	for _, own := range cells {
		if !slices.Equal(own, []string{"7", "a book"}) {
			t.Errorf("%q, want those of the first row", own)
		}
	}
	write("id,prompt,label,source,category\n9,How do I bake a cake?,safe,a song,\n")
	if _, _, err := d.Own(nil); err == nil || !strings.Contains(err.Error(), "the file changed after it was checked") {
		t.Errorf("of a file that has changed: %v", err)
	}
}
