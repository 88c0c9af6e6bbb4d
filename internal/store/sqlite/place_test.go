package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/storetest"
	"github.com/orbench/orbench/model"
)

// A store that is deleted or replaced while it is open says so at the next row, and all
// that it held and is still given is in a new file.
func TestStoreGone(t *testing.T) {
	t.Parallel()
	remove := func(endings ...string) func(string) error {
		return func(path string) (err error) {
			for _, ending := range endings {
				err = errors.Join(err, os.Remove(path+ending))
			}
			return err
		}
	}
	for name, c := range map[string]struct {
		lose func(path string) error
		want string
	}{
		"deleted":  {remove("", "-wal", "-shm"), "the file was deleted"},
		"file":     {remove(""), "the file was deleted"},
		"log":      {remove("-wal"), "its log (-wal) was deleted"},
		"moved":    {func(path string) error { return os.Rename(path, path+".old") }, "the file was deleted"},
		"folder":   {func(path string) error { return os.RemoveAll(filepath.Dir(path)) }, "the file was deleted"},
		"replaced": {func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, []byte("x"), 0o600)) }, "another file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "work")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "gone "+name+".db")
			s, err := Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			put := func(n int) error { return s.Put(t.Context(), []store.Record{storetest.Record(n)}) }
			if _, err := s.Claim(t.Context(), []model.Hash{{1}}, time.Hour, 0); err != nil {
				t.Fatal(err)
			}
			for n := range 30 {
				if err := put(n); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.lose(path); err != nil {
				t.Skip(err)
			}
			err = put(30)
			if !errors.Is(err, store.ErrGone) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want an error that says %q", err, c.want)
			}
			if _, err := s.Claim(t.Context(), []model.Hash{{2}}, time.Hour, 0); !errors.Is(err, store.ErrGone) {
				t.Errorf("a claim: %v", err)
			}
			if lost := os.Remove(path); lost != nil && !errors.Is(lost, fs.ErrNotExist) {
				t.Fatal(lost)
			}
			if again := put(31); again == nil || again.Error() != err.Error() {
				t.Errorf("the next says %v after %v", again, err)
			}
			if err := s.Close(); err != nil {
				t.Errorf("closing says it once more: %v", err)
			}
			found := regexp.MustCompile(`saved in (.*\.db):`).FindStringSubmatch(err.Error())
			if found == nil {
				t.Fatalf("%v names no file", err)
			}
			t.Cleanup(func() { os.Remove(found[1]) })
			saved := mustOpen(t, found[1])
			n, err := saved.Count(t.Context())
			if err != nil || n != 32 {
				t.Errorf("%d records were saved, %v; want 32", n, err)
			}
			if c, err := saved.Claim(t.Context(), []model.Hash{{1}}, time.Hour, 0); err != nil || len(c.Taken) > 0 {
				t.Errorf("what the gone store had claimed: %+v, %v", c, err)
			}
		})
	}
}

// A store that is gone when its command ends is not left unsaid.
func TestStoreGoneAtTheEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), []store.Record{storetest.Record(1)}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Skip(err)
	}
	if err := s.Close(); !errors.Is(err, store.ErrGone) {
		t.Errorf("closing says %v", err)
	}
	saved := mustOpen(t, filepath.Join(filepath.Dir(path), "m-saved.db"))
	if n, err := saved.Count(t.Context()); err != nil || n != 1 {
		t.Errorf("%d saved, %v", n, err)
	}
}

// copied gives how many calls a copy of the file without its log has.
func copied(t *testing.T, path string) int {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(alone, content, 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := mustOpen(t, alone).Count(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The file alone holds what was written, some time after it was, and at the end of each
// command, though another still has the store open.
func TestFileAlone(t *testing.T) {
	t.Parallel()
	const n = 338
	var records []store.Record
	for i := range n {
		records = append(records, storetest.Record(i))
	}
	t.Run("in time", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "m.db")
		s := mustOpen(t, path)
		s.copyAfter = time.Millisecond
		if err := s.Put(t.Context(), records); err != nil {
			t.Fatal(err)
		}
		for began := time.Now(); copied(t, path) < n; time.Sleep(5 * time.Millisecond) {
			if time.Since(began) > 10*time.Second {
				t.Fatalf("the file alone has %d of %d calls", copied(t, path), n)
			}
		}
	})
	t.Run("at the end", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "m.db")
		mustOpen(t, path)
		s := mustOpen(t, path)
		if err := s.Put(t.Context(), records); err != nil {
			t.Fatal(err)
		}
		if got := copied(t, path); got != 0 {
			t.Fatalf("the file alone has %d calls already", got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := copied(t, path); got != n {
			t.Errorf("the file alone has %d of %d calls", got, n)
		}
	})
}

// The log that a killed command left is read.
func TestLogLeftBehind(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m.db")
	if err := mustOpen(t, path).Put(t.Context(), []store.Record{storetest.Record(1)}); err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(t.TempDir(), "killed.db")
	if err := errors.Join(copyFile(killed, path), copyFile(killed+"-wal", path+"-wal")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if n, err := mustOpen(t, killed).Count(t.Context()); err != nil || n != 1 {
			t.Errorf("%d calls, %v; want that of the log", n, err)
		}
	}
}

// What a process is about to ask it asks for its own store: a backup holds nothing of it.
func TestBackupWithoutClaims(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, filepath.Join(t.TempDir(), "m.db"))
	if _, err := s.Claim(t.Context(), []model.Hash{{1}}, time.Hour, 0); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "backup.db")
	if err := s.Backup(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	if hasLog(to) {
		t.Error("the backup has a log beside it")
	}
	if c, err := mustOpen(t, to).Claim(t.Context(), []model.Hash{{1}}, time.Hour, 0); err != nil || len(c.Taken) > 0 {
		t.Errorf("%+v, %v; want the call free", c, err)
	}
}
