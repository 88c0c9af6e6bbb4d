package folder_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/folder"
)

func TestFree(t *testing.T) {
	t.Parallel()
	base := filepath.Join(t.TempDir(), "reports", "demo")
	for _, want := range []string{base, base + "-2", base + "-3"} {
		got, err := folder.Free(base)
		if err != nil || got != want {
			t.Fatalf("got %s, %v; want %s", got, err, want)
		}
		if err := os.Mkdir(got, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// A link to nowhere is in the way too.
	if err := os.Symlink("nowhere", base+"-4"); err != nil {
		t.Fatal(err)
	}
	if got, err := folder.Free(base); err != nil || got != base+"-5" {
		t.Errorf("got %s, %v", got, err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Free(filepath.Join(file, "demo")); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "out: ") {
		t.Errorf("a file where a folder should be: %v", err)
	}
}
