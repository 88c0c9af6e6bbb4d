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
		if h, err := Check(t.Context(), path, ""); err != nil || !h.Sound() || h.Kinds[0].Good != want {
			t.Errorf("%s: a check says %+v, %v", name, h, err)
		}
		if _, err := Open(t.Context(), path); !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%s: open for writing: %v", name, err)
		}
	}
}
