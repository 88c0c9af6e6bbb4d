package sqlite

import (
	"database/sql"
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// written makes a database with rows of all types and lengths, some of them in the log,
// and gives its file and the rows.
func written(t testing.TB) (string, map[int64][]any) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	do := func(query string, args ...any) {
		t.Helper()
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	do(`CREATE TABLE t (id INTEGER PRIMARY KEY, name BLOB UNIQUE, text TEXT, n INTEGER)`)
	want := map[int64][]any{}
	numbers := []any{nil, int64(0), int64(1), int64(-1), int64(300), int64(-70000), int64(1 << 23), int64(-1 << 40), int64(1 << 60)}
	for id := int64(1); id <= 300; id++ {
		name := binary.BigEndian.AppendUint64(nil, uint64(id*7919))
		text, n := strings.Repeat("é ", int(id*id)%9000), numbers[int(id)%len(numbers)]
		do(`INSERT INTO t VALUES (?,?,?,?)`, id, name, text, n)
		want[id] = []any{nil, name, text, n}
		if id == 150 {
			do(`PRAGMA wal_checkpoint(TRUNCATE)`)
		}
	}
	return path, want
}

// TestPages reads the rows and the entries of a database that SQLite wrote, which lie in
// the file, in the log, and on chains of pages.
func TestPages(t *testing.T) {
	t.Parallel()
	path, want := written(t)
	f, err := OpenPages(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, entries, chained := map[int64][]any{}, map[int64]bool{}, 0
	for p, err := range f.All() {
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range p.Rows {
			if !r.Old && len(r.Values) == 4 {
				rows[r.ID] = r.Values
			}
			if len(r.Pages) > 1 {
				chained++
			}
		}
		for _, e := range p.Entries {
			if !e.Old && string(e.Values[0].([]byte)) == string(want[e.Values[1].(int64)][1].([]byte)) {
				entries[e.Values[1].(int64)] = true
			}
		}
	}
	if !reflect.DeepEqual(rows, want) || len(entries) != len(want) || chained == 0 || len(f.Faults) > 0 {
		t.Errorf("%d rows and %d entries of %d, %d on several pages, faults %q", len(rows), len(entries), len(want), chained, f.Faults)
	}
}

// FuzzPages reads anything as a database: there is an end, and nothing but files that
// cannot be read is an error.
func FuzzPages(f *testing.F) {
	path, _ := written(f)
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole[:3*4096], []byte{})
	f.Add(whole[4096:3*4096], whole[:4096])
	f.Fuzz(func(t *testing.T, main, log []byte) {
		path := filepath.Join(t.TempDir(), "a.db")
		for name, content := range map[string][]byte{path: main, path + "-wal": log} {
			if err := os.WriteFile(name, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		file, err := OpenPages(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for _, err := range file.All() {
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
