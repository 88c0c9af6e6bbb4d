package folder_test

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
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
	f, err := folder.Create(dir, folder.Subject{})
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
	if err := folder.Vacant(dir, folder.Subject{}); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
	if err := folder.Vacant(filepath.Join(dir, "missing"), folder.Subject{}); err != nil {
		t.Errorf("no folder: %v", err)
	}
	mine := filepath.Join(dir, "mine.txt")
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, taken := range []string{dir, mine, filepath.Join(mine, "below")} {
		if _, err := folder.Create(taken, folder.Subject{}); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), taken) {
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

// write makes a folder of a subject that holds two files, and gives what is wrong.
func write(t *testing.T, dir, text string, of folder.Subject, final bool) error {
	t.Helper()
	f, err := folder.Create(dir, of)
	if err != nil {
		return err
	}
	for _, name := range []string{"text.txt", "more.txt"} {
		out, err := f.Stream(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(out, text); err != nil {
			t.Fatal(err)
		}
	}
	if final {
		f.Final()
	}
	return f.Finish()
}

// Only a whole and unchanged folder of the same subject is replaced, and whatever is
// refused stays as it is.
func TestReplace(t *testing.T) {
	t.Parallel()
	of, other := folder.NewSubject("report of a", 1), folder.NewSubject("report of b", 1)
	for name, c := range map[string]struct {
		first  folder.Subject
		final  bool
		change func(dir string) error
		want   string
	}{
		"the same":       {first: of},
		"another":        {first: other, want: "report of b"},
		"other settings": {first: folder.NewSubject("report of a", 2), want: "other settings"},
		"of nobody":      {want: "not empty"},
		"final":          {first: of, final: true, want: "not empty"},
		"a file added":   {first: of, change: func(dir string) error { return os.WriteFile(filepath.Join(dir, "mine.txt"), nil, 0o600) }, want: "mine.txt"},
		"a folder added": {first: of, change: func(dir string) error { return os.Mkdir(filepath.Join(dir, "mine"), 0o700) }, want: "mine"},
		"a file changed": {first: of, change: func(dir string) error { return os.WriteFile(filepath.Join(dir, "text.txt"), []byte("mine"), 0o600) }, want: "was changed"},
		"two files changed": {first: of, change: func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "text.txt")), os.WriteFile(filepath.Join(dir, "more.txt"), nil, 0o600))
		}, want: "more.txt was changed"},
		"a file gone":       {first: of, change: func(dir string) error { return os.Remove(filepath.Join(dir, "text.txt")) }, want: "was changed"},
		"behind a link":     {first: of, change: link},
		"the mark is empty": {first: of, change: func(dir string) error { return os.WriteFile(filepath.Join(dir, folder.MarkFile), nil, 0o600) }, want: "not empty"},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			dir := filepath.Join(parent, "out")
			if err := write(t, dir, "old", c.first, c.final); err != nil {
				t.Fatal(err)
			}
			if c.change != nil {
				if err := c.change(dir); err != nil {
					t.Fatal(err)
				}
			}
			before := files(t, dir)
			err := write(t, dir, "new", of, false)
			if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("the error is %v, want %q", err, c.want)
			}
			if after := files(t, dir); !slices.Equal(after, before) {
				t.Errorf("the folder held %q and holds %q", before, after)
			}
			text, _ := os.ReadFile(filepath.Join(dir, "text.txt"))
			if (string(text) == "new") != (c.want == "") {
				t.Errorf("the file says %q", text)
			}
			for _, left := range files(t, parent) {
				if strings.HasPrefix(left, ".") {
					t.Errorf("left behind: %s", left)
				}
			}
		})
	}
}

// link moves a folder and leaves a symbolic link to it.
func link(dir string) error {
	if err := os.Rename(dir, dir+"-real"); err != nil {
		return err
	}
	return os.Symlink(filepath.Base(dir)+"-real", dir)
}

// A file that was left unfinished is replaced by the same subject, one that is whole or
// was changed by nothing.
func TestFile(t *testing.T) {
	t.Parallel()
	of := folder.NewSubject("unfinished verdicts", 1)
	path := filepath.Join(t.TempDir(), "rows.csv")
	put := func(text string, of folder.Subject, unfinished bool) error {
		f, err := folder.CreateFile(path, of)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(f, text); err != nil {
			t.Fatal(err)
		}
		return f.Finish(unfinished)
	}
	for i, step := range []struct {
		text       string
		of         folder.Subject
		unfinished bool
		edit, want string
		mode       os.FileMode
		holds      []string
	}{
		{text: "one", of: of, unfinished: true, holds: []string{"rows.csv", "rows.csv.unfinished.json"}},
		{text: "two", of: folder.NewSubject("unfinished verdicts", 2), want: "other settings", holds: []string{"rows.csv", "rows.csv.unfinished.json"}},
		{text: "two", of: of, unfinished: true, holds: []string{"rows.csv", "rows.csv.unfinished.json"}},
		{edit: "mine", text: "three", of: of, want: "was changed", holds: []string{"rows.csv", "rows.csv.unfinished.json"}},
		{edit: "two", mode: 0o640, text: "three", of: of, holds: []string{"rows.csv"}},
		{text: "four", of: of, want: "exists already", holds: []string{"rows.csv"}},
	} {
		if step.edit != "" {
			if err := os.WriteFile(path, []byte(step.edit), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		mode := cmp.Or(step.mode, 0o600)
		if step.mode != 0 {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		err := put(step.text, step.of, step.unfinished)
		if info, err := os.Stat(path); runtime.GOOS != "windows" && step.want == "" && (err != nil || info.Mode() != mode) {
			t.Errorf("step %d: %v has another mode than %v, or %v", i, info, mode, err)
		}
		if step.want == "" && err != nil || step.want != "" && (!errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), step.want)) {
			t.Errorf("step %d: the error is %v, want %q", i, err, step.want)
		}
		if got := files(t, filepath.Dir(path)); !slices.Equal(got, step.holds) {
			t.Errorf("step %d: there is %q, want %q", i, got, step.holds)
		}
	}
}

// Files may be in a folder of their own. It is replaced with the rest, unless something of
// somebody else is in it.
func TestFilesInAFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	of := folder.NewSubject("pages", 1)
	write := func() error {
		f, err := folder.Create(dir, of)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Put("texts/0.js", []byte("hello")), f.Put("texts/1.js", nil)); err != nil {
			return err
		}
		return f.Finish()
	}
	for range 2 {
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	if got := files(t, filepath.Join(dir, "texts")); !slices.Equal(got, []string{"0.js", "1.js"}) {
		t.Errorf("the folder holds %q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "texts", "mine.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var input *orbench.InputError
	if err := write(); !errors.As(err, &input) || !strings.Contains(input.Problem, "mine.txt") {
		t.Errorf("a folder with a file of somebody else is replaced: %v", err)
	}
}
