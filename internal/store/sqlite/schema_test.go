package sqlite

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/storetest"
	"github.com/orbench/orbench/model"
)

// changedStore makes a store with one call, and does statements in it as another program.
func changedStore(t *testing.T, statements string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Put(t.Context(), []store.Record{storetest.Record(1)}), s.Close()); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(statements)
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// schema.json is what the migrations make; ORBENCH_UPDATE=1 writes it.
func TestSchemas(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	made := []map[string]string{{}}
	for _, name := range migrations {
		text, err := schemaFiles.ReadFile(name)
		if err == nil {
			_, err = db.Exec(string(text))
		}
		_, _, found, also := schemaOf(t.Context(), db)
		if err := errors.Join(err, also); err != nil {
			t.Fatal(name, err)
		}
		made = append(made, found)
	}
	want, err := json.MarshalIndent(made, "", " ")
	if err == nil && os.Getenv("ORBENCH_UPDATE") != "" {
		err = os.WriteFile("schema.json", want, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, schemas) {
		t.Error("schema.json is not what the migrations make: ORBENCH_UPDATE=1 go test -run TestSchemas writes it")
	}
}

// A part of a schema that is not of orbench is named, and nothing is written to its file.
// Where it is a part of ours that is another, the file is not read either.
func TestSchema(t *testing.T) {
	t.Parallel()
	const trigger = `CREATE TRIGGER "after" AFTER INSERT ON runs BEGIN DELETE FROM calls; END`
	for statements, want := range map[string]struct{ extra, changed string }{
		trigger: {extra: "trigger after"},
		`CREATE VIEW all_calls AS SELECT * FROM calls`:                            {extra: "view all_calls"},
		`CREATE TABLE notes (text TEXT)`:                                          {extra: "table notes"},
		`CREATE VIRTUAL TABLE lost_and_found USING dbstat`:                        {extra: "virtual table lost_and_found"},
		`CREATE INDEX by_saved ON runs (saved)`:                                   {extra: "index by_saved"},
		`ALTER TABLE calls ADD COLUMN more TEXT AS (hex(response))`:               {changed: "table calls"},
		`DROP INDEX calls_by_hash`:                                                {changed: "index calls_by_hash"},
		`DROP TABLE runs; CREATE VIEW runs AS SELECT 1 AS name`:                   {changed: "table runs"},
		`CREATE TABLE lost_and_found (rootpgno, pgno, nfield, id, c0, c1)`:        {},
		`CREATE TABLE lost_and_found_0 (id); ANALYZE; PRAGMA journal_mode=DELETE`: {},
	} {
		path := changedStore(t, statements)
		before, _ := os.ReadFile(path)
		s, err := Open(t.Context(), path)
		has := "the schema of the store has " + want.extra + ", which orbench does not make"
		said := func(err error, what string) bool {
			return errors.Is(err, orbench.ErrInput) && strings.HasPrefix(err.Error(), path+": "+what)
		}
		switch {
		case want.changed != "":
			if _, again := OpenExisting(t.Context(), path); !said(err, want.changed+" of the store is not as orbench makes it") || again == nil {
				t.Errorf("%s: opening says %v, and %v", statements, err, again)
			}
			continue
		case want.extra == "":
			if err != nil {
				t.Errorf("%s: %v", statements, err)
				continue
			}
			if h, err := Check(t.Context(), path); err != nil || !h.Sound() {
				t.Errorf("%s: a check says %+v, %v", statements, h, err)
			}
			if err := errors.Join(s.SaveRun(t.Context(), store.Run{Name: "r"}), s.Vacuum(t.Context()), s.Close()); err != nil {
				t.Errorf("%s: %v", statements, err)
			}
			continue
		case !said(err, has+"; nothing is written to it; ") || !errors.Is(err, store.ErrReadOnly):
			t.Errorf("%s: opening says %v", statements, err)
			continue
		}
		if s, err = OpenExisting(t.Context(), path); err != nil {
			t.Errorf("%s: reading: %v", statements, err)
			continue
		}
		if found, err := s.Get(t.Context(), []model.Hash{storetest.Record(1).Hash}); err != nil || len(found) != 1 || len(s.Notes()) != 1 || !strings.Contains(s.Notes()[0], has) {
			t.Errorf("%s: %d calls, %v; notes %q", statements, len(found), err, s.Notes())
		}
		for what, err := range map[string]error{
			"save": s.SaveRun(t.Context(), store.Run{Name: "r"}), "vacuum": s.Vacuum(t.Context()), "backup": s.Backup(t.Context(), filepath.Join(t.TempDir(), "b.db")),
		} {
			if !said(err, has) {
				t.Errorf("%s: %s says %v", statements, what, err)
			}
		}
		h, err := Check(t.Context(), path)
		if err != nil || !slices.Equal(h.Faults, []string{has}) || !(store.Health{Kinds: h.Kinds}).Sound() {
			t.Errorf("%s: a check says %+v, %v", statements, h, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		after, _ := os.ReadFile(path)
		if beside, _ := os.ReadDir(filepath.Dir(path)); !slices.Equal(after, before) || len(beside) != 1 {
			t.Errorf("%s: the file was changed, or has others beside it: %v", statements, beside)
		}
	}
}

// An older store with a part that is not of orbench is not migrated.
func TestSchemaOfOlder(t *testing.T) {
	t.Parallel()
	path := olderStore(t, "schema2.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`CREATE TRIGGER late AFTER INSERT ON failures BEGIN DELETE FROM calls; END`)
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	if _, err := OpenExisting(t.Context(), path); err == nil || !strings.Contains(err.Error(), "trigger late") {
		t.Errorf("opening says %v", err)
	}
	if after, _ := os.ReadFile(path); !slices.Equal(after, before) {
		t.Error("the file was changed")
	}
}

// Every connection has the limits: none attaches a file, writes to the schema or reads a
// value that is too large, whose row is named.
func TestLimits(t *testing.T) {
	t.Parallel()
	path := changedStore(t, `UPDATE calls SET response = hex(zeroblob(105000000))`)
	s := mustOpen(t, path)
	for name, db := range map[string]*sql.DB{"writer": s.write, "readers": s.readers} {
		for statement, want := range map[string]string{
			`ATTACH ':memory:' AS other`:                            "too many attached databases",
			`PRAGMA writable_schema = 1; DELETE FROM sqlite_schema`: "may not be modified",
		} {
			_, err := db.Exec(statement)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s: %v", name, statement, err)
			}
		}
		var trusted bool
		if err := db.QueryRow(`PRAGMA trusted_schema`).Scan(&trusted); err != nil || trusted {
			t.Errorf("%s: the schema is trusted, %v", name, err)
		}
	}
	_, get := s.Get(t.Context(), []model.Hash{storetest.Record(1).Hash})
	_, check := Check(t.Context(), path)
	_, marks := s.Marks(t.Context(), []int64{1})
	for what, err := range map[string]error{"get": get, "check": check, "marks": marks} {
		if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "row 1 of calls, of 200 MB, is larger than the 192 MB that are read") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
