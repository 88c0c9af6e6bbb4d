package folder_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/folder"
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

func begin(t *testing.T, dir string) *folder.Folder {
	t.Helper()
	f, err := folder.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func hello(w io.Writer) error {
	_, err := io.WriteString(w, "hello")
	return err
}

func TestFinish(t *testing.T) {
	t.Parallel()
	parent := filepath.Join(t.TempDir(), "deep")
	dir := filepath.Join(parent, "out")
	f := begin(t, dir)
	stream, err := f.Stream("stream.txt")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := f.Write("hello.txt", hello)
	if err != nil || sum != "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" {
		t.Fatalf("the hash is %s, the error %v", sum, err)
	}
	if err := hello(stream); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a folder is in place: %v", err)
	}
	if err := f.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := f.Discard(); err != nil {
		t.Fatal(err)
	}
	if got := files(t, parent); !slices.Equal(got, []string{"out"}) {
		t.Errorf("beside the folder lie %q", got)
	}
	for _, name := range []string{"hello.txt", "stream.txt"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != "hello" {
			t.Errorf("%s holds %q: %v", name, b, err)
		}
	}
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	f := begin(t, filepath.Join(parent, "out"))
	if _, err := f.Stream("stream.txt"); err != nil {
		t.Fatal(err)
	}
	fault := errors.New("no more paper")
	if _, err := f.Write("a.txt", func(io.Writer) error { return fault }); !errors.Is(err, fault) || !strings.Contains(err.Error(), "a.txt") {
		t.Errorf("the error is %v", err)
	}
	for range 2 {
		if err := f.Discard(); err != nil {
			t.Fatal(err)
		}
	}
	if got := files(t, parent); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := folder.Vacant(dir); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
	if err := folder.Vacant(filepath.Join(dir, "missing")); err != nil {
		t.Errorf("no folder: %v", err)
	}
	mine := filepath.Join(dir, "mine.txt")
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, taken := range []string{dir, mine, filepath.Join(mine, "below")} {
		if _, err := folder.Create(taken); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), taken) {
			t.Errorf("%s: %v, want an input error that names it", taken, err)
		}
	}
	if got := files(t, dir); !slices.Equal(got, []string{"mine.txt"}) {
		t.Errorf("left behind: %q", got)
	}
}

// Whoever puts a file into the directory while it is being written keeps it.
func TestFolderThatFillsMeanwhile(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	dir := filepath.Join(parent, "out")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f := begin(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := f.Finish(); err == nil {
		t.Error("the folder was put over a file")
	}
	if got := files(t, parent); !slices.Equal(got, []string{"out"}) {
		t.Errorf("left behind: %q", got)
	}
	if got := files(t, dir); !slices.Equal(got, []string{"notes.txt"}) {
		t.Errorf("the directory holds %q", got)
	}
}
