package index_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/index"
)

// TestUnfitFile puts what is no index of the store into its place: it is thrown away, figures
// are right, and nothing else on the disk changes.
func TestUnfitFile(t *testing.T) {
	t.Parallel()
	do := func(path, statement string) error {
		db, err := sql.Open("sqlite", path)
		if err == nil {
			_, err = db.Exec(statement)
		}
		return errors.Join(err, db.Close())
	}
	for name, put := range map[string]func(at, bait string) error{
		"a link":               func(at, bait string) error { return errors.Join(os.Remove(at), os.Symlink(bait, at)) },
		"a link to nothing":    func(at, bait string) error { return errors.Join(os.Remove(at), os.Symlink(bait+"-none", at)) },
		"a second name":        func(at, bait string) error { return errors.Join(os.Remove(at), os.Link(bait, at)) },
		"a folder":             func(at, _ string) error { return errors.Join(os.Remove(at), os.Mkdir(at, 0o700)) },
		"a log that is a link": func(at, bait string) error { return os.Symlink(bait, at+"-wal") },
		"a log with two names": func(at, bait string) error { return os.Link(bait, at+"-wal") },
		"memory with a link":   func(at, bait string) error { return os.Symlink(bait, at+"-shm") },
		"a journal of a link":  func(at, bait string) error { return os.Link(bait, at+"-journal") },
		"a place of a link": func(at, bait string) error {
			place := filepath.Join(filepath.Dir(at), "place")
			return errors.Join(os.Remove(place), os.Symlink(bait, place))
		},
		"a folder of a link": func(at, bait string) error {
			dir := filepath.Dir(at)
			return errors.Join(os.RemoveAll(dir), os.Symlink(filepath.Dir(bait), dir))
		},
		"a folder of all": func(at, _ string) error { return os.Chmod(filepath.Dir(at), 0o777) },
		"a table's name": func(at, bait string) error {
			return errors.Join(os.Remove(at), do(at, `CREATE TABLE "z""; ATTACH '`+bait+`' AS b; DELETE FROM b.work; --" (a); CREATE TABLE z (a)`))
		},
		"a trigger": func(at, _ string) error {
			return do(at, `CREATE TRIGGER lie AFTER UPDATE ON meta BEGIN DELETE FROM figures; END`)
		},
		"another format": func(at, _ string) error { return do(at, `ALTER TABLE figures ADD COLUMN more TEXT`) },
		"no meta":        func(at, _ string) error { return do(at, `DELETE FROM meta`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, filepath.Join(t.TempDir(), "m.db"))
			r := p.open(plain)
			p.fill(r, everything)
			p.wantWalk("before", true, r)
			at, bait := p.index.Path(), filepath.Join(t.TempDir(), "bait.sqlite")
			p.index.Close()
			if err := do(bait, `CREATE TABLE work (text); INSERT INTO work VALUES ('of many days')`); err != nil {
				t.Fatal(err)
			}
			was, _ := os.ReadFile(bait)
			if err := put(at, bait); err != nil {
				t.Fatal(err)
			}
			p.openIndex()
			if p.index == nil {
				t.Fatalf("there is no index: %q", p.said)
			}
			p.wantWalk("at first", true, r)
			p.wantWalk("again", false, r)
			if now, _ := os.ReadFile(bait); string(now) != string(was) {
				t.Error("another file has changed")
			}
			if files, _ := os.ReadDir(filepath.Dir(bait)); len(files) != 1 {
				t.Errorf("%d files are beside another file", len(files)-1)
			}
		})
	}
}

// TestPlaces has one store at several places: each has an index, which is deleted with the
// store, with time, or with what the store forgets.
func TestPlaces(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "m.db"))
	other := newPlace(t, filepath.Join(t.TempDir(), "other.db"))
	dir := filepath.Join(t.TempDir(), "index")
	open := func(p *place, place string) string {
		t.Helper()
		x := index.Open(t.Context(), dir, place, p.store, t.Logf)
		if x == nil {
			t.Fatal("there is no index")
		}
		x.Close()
		return filepath.Dir(x.Path())
	}
	want := func(why string, at ...string) {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(dir, "*-*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range at {
			if _, err := os.Stat(filepath.Join(one, "index.db")); err != nil {
				t.Errorf("%s: %v", why, err)
			}
		}
		if len(found) != len(at) {
			t.Errorf("%s: there are %d indexes, want %d", why, len(found), len(at))
		}
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	write(t, copied, "")
	first, second := open(p, p.path), open(p, copied)
	want("of a store and its copy", first, second)
	os.Remove(copied)
	server, others := open(p, "postgres://ana@db.example/orbench"), open(other, other.path)
	want("of a server and another store, without the copy that is gone", first, server, others)
	info, err := os.Stat(filepath.Join(first, "index.db"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode of the file is %v, %v", info.Mode(), err)
	}
	// A folder that only looks like an index stays.
	foreign := filepath.Join(dir, strings.Repeat("0", 24)+"-"+strings.Repeat("1", 24))
	write(t, filepath.Join(foreign, "index.db"), "")
	write(t, filepath.Join(foreign, "place"), "/nowhere")
	long := time.Now().Add(-31 * 24 * time.Hour)
	for _, at := range []string{first, server, foreign} {
		if err := os.Chtimes(filepath.Join(at, "place"), long, long); err != nil {
			t.Fatal(err)
		}
	}
	open(other, other.path)
	want("not used for long", others, foreign)
	open(p, p.path)
	open(p, "postgres://ana@db.example/orbench")
	if err := index.Remove(t.Context(), dir, p.store); err != nil {
		t.Fatal(err)
	}
	want("forgotten", others, foreign)
}

// TestNoFolder names folders that cannot have indexes.
func TestNoFolder(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "m.db"))
	dir := t.TempDir()
	file, open := filepath.Join(dir, "file"), filepath.Join(dir, "open")
	write(t, file, "")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below"), open} {
		var said []string
		say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
		if x := index.Open(t.Context(), dir, p.path, p.store, say); x != nil {
			t.Errorf("%s has an index", dir)
		}
		if len(said) != 1 || !strings.Contains(said[0], "each command derives all figures again") || !strings.Contains(said[0], filepath.Dir(file)) {
			t.Errorf("of %s it says %q", dir, said)
		}
		if err := index.Remove(t.Context(), dir, p.store); err != nil {
			t.Errorf("nothing is to be deleted: %v", err)
		}
	}
	if files, _ := os.ReadDir(open); len(files) > 0 {
		t.Errorf("%d files are in a folder of all", len(files))
	}
}
