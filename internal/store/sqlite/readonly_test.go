//go:build unix

package sqlite

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/storetest"
	"github.com/orbench/orbench/model"
)

// TestReadOnly opens stores that can only be read, as somebody who may not write: as they
// are, with a log beside them, and of an older version. All of it is read, and writing
// is an error that says so.
func TestReadOnly(t *testing.T) {
	if dir := os.Getenv("ORBENCH_READ_ONLY"); dir != "" {
		readOnlyStores(t, dir)
		return
	}
	t.Parallel()
	dir, err := os.MkdirTemp("", "orbench-read-only-")
	if err != nil {
		t.Fatal(err)
	}
	temp := filepath.Join(dir, "temp")
	stores := filepath.Join(dir, "stores")
	t.Cleanup(func() {
		if err := errors.Join(os.Chmod(stores, 0o700), os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	logged := filepath.Join(t.TempDir(), "m.db")
	s := mustOpen(t, logged)
	err = errors.Join(os.Chmod(dir, 0o755), os.Mkdir(temp, 0o700), os.Mkdir(stores, 0o755), s.Put(t.Context(), []store.Record{storetest.Record(1)}))
	if err != nil {
		t.Fatal(err)
	}
	copied := func(to, from string) {
		if err := errors.Join(copyFile(filepath.Join(stores, to), from), os.Chmod(filepath.Join(stores, to), 0o444)); err != nil {
			t.Fatal(err)
		}
	}
	copied("log.db", logged)
	copied("log.db-wal", logged+"-wal")
	copied("older.db", filepath.Join("testdata", "schema4.db"))
	if err := s.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	copied("whole.db", logged)
	program := filepath.Join(dir, "test")
	self, err := os.Executable()
	if err == nil {
		err = errors.Join(copyFile(program, self), os.Chmod(program, 0o755), os.Chmod(stores, 0o555))
	}
	if err != nil {
		t.Fatal(err)
	}
	again := exec.Command(program, "-test.run", "^TestReadOnly$")
	again.Dir, again.Env = dir, append(os.Environ(), "ORBENCH_READ_ONLY="+stores, "TMPDIR="+temp)
	if os.Getuid() == 0 {
		// Nothing is read-only to root.
		const nobody = 65534
		if err := os.Chown(temp, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		again.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// readOnlyStores is TestReadOnly as somebody who may not write.
func readOnlyStores(t *testing.T, dir string) {
	for name, want := range map[string]int{"whole.db": 1, "log.db": 1, "older.db": 6} {
		path := filepath.Join(dir, name)
		s, err := OpenExisting(t.Context(), path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n, err := s.Count(t.Context()); err != nil || n != want {
			t.Errorf("%s: %d calls, %v; want %d", name, n, err, want)
		}
		_, claimed := s.Claim(t.Context(), []model.Hash{{1}}, 1, 0)
		for what, err := range map[string]error{
			"put": s.Put(t.Context(), []store.Record{storetest.Record(2)}), "save a run": s.SaveRun(t.Context(), store.Run{Name: "r"}), "claim": claimed,
		} {
			if !errors.Is(err, store.ErrReadOnly) || !strings.HasPrefix(err.Error(), path+": the store, or its folder, cannot be written to: ") {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if h, err := Check(t.Context(), path); err != nil || !h.Sound() || h.Kinds[0].Good != want {
			t.Errorf("%s: a check says %+v, %v", name, h, err)
		}
		if _, err := Open(t.Context(), path); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%s: open for writing: %v", name, err)
		}
	}
}

// A file of two names is only read, as commands that know it by different names do not see
// each other. Its backup is a store again.
func TestHardLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, other := filepath.Join(dir, "m.db"), filepath.Join(dir, "other.db")
	s, err := Open(t.Context(), path)
	if err == nil {
		err = errors.Join(s.Put(t.Context(), []store.Record{storetest.Record(1)}), s.Close(), os.Link(path, other))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, other} {
		if _, err := Open(t.Context(), name); !errors.Is(err, store.ErrReadOnly) || !strings.Contains(err.Error(), "the file has 2 names (hard links)") {
			t.Errorf("open for writing: %v", err)
		}
		s, err := OpenExisting(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		backup := name + ".backup"
		if n, err := s.Count(t.Context()); err != nil || n != 1 {
			t.Errorf("%d calls, %v", n, err)
		}
		if err := s.Put(t.Context(), []store.Record{storetest.Record(2)}); !errors.Is(err, store.ErrReadOnly) || !strings.Contains(err.Error(), "2 names") {
			t.Errorf("put: %v", err)
		}
		if err := errors.Join(s.Backup(t.Context(), backup), s.Close()); err != nil {
			t.Error(err)
		}
		if err := mustOpen(t, backup).Put(t.Context(), []store.Record{storetest.Record(2)}); err != nil {
			t.Errorf("the backup: %v", err)
		}
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if err := mustOpen(t, path).Put(t.Context(), []store.Record{storetest.Record(2)}); err != nil {
		t.Errorf("with one name again: %v", err)
	}
}

// New files are their owner's alone, those that are there keep their mode, and the files
// beside them have it too.
func TestModes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]os.FileMode{"new.db": 0o600, "old.db": 0o644} {
		path := filepath.Join(t.TempDir(), name)
		if want != 0o600 {
			if err := errors.Join(os.WriteFile(path, nil, want), os.Chmod(path, want)); err != nil {
				t.Fatal(err)
			}
		}
		s := mustOpen(t, path)
		backup := path + ".backup"
		if err := errors.Join(s.Put(t.Context(), []store.Record{storetest.Record(1)}), s.Backup(t.Context(), backup)); err != nil {
			t.Fatal(err)
		}
		for file, want := range map[string]os.FileMode{path: want, path + "-wal": want, path + "-shm": want, backup: 0o600} {
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s has mode %v, %v; want %v", file, info.Mode(), err, want)
			}
		}
	}
}
