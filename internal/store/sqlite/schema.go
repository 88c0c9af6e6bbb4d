package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/untrusted"
)

// schemaOf reads the marks of a file and its schema at one moment, as another process may
// be making it. The schema has the SQL of each part by its kind and name.
func schemaOf(ctx context.Context, db *sql.DB) (id, version int, schema map[string]string, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, 0, nil, err
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	const marks = `SELECT application_id, user_version FROM pragma_application_id, pragma_user_version`
	if err := tx.QueryRowContext(ctx, marks).Scan(&id, &version); err != nil {
		return 0, 0, nil, err
	}
	rows, err := tx.QueryContext(ctx, `SELECT iif(type = 'table' AND ifnull(rootpage, 0) = 0, 'virtual table', type) || ' ' || name, ifnull(sql, '') FROM sqlite_schema`)
	schema = map[string]string{}
	if err == nil {
		err = scanAll(rows, func(rows *sql.Rows) error {
			var name, text string
			err := rows.Scan(&name, &text)
			schema[name] = plain(text)
			return err
		})
	}
	return id, version, schema, err
}

var comments, spaces = regexp.MustCompile(`--[^\n]*`), regexp.MustCompile(`\s+`)

// plain is SQL without its comments, which differ between versions.
func plain(text string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(comments.ReplaceAllString(text, ""), " "))
}

// others are tables that a store may have: what sqlite3 makes as it recovers a file, and
// what SQLite keeps for itself.
var others = regexp.MustCompile(`^table (lost_and_found(_[0-9]+)?|sqlite_(stat[0-9]|sequence))$`)

// schemas has the schema of each version as the migrations make it. It is kept, since making it
// anew takes longer than the rest of opening a store; TestSchemas writes it.
//
//go:embed schema.json
var schemas []byte

// compare compares a schema with that of orbench for a version. What is not of it is noted
// as extra; a part that is missing or another is an error.
func (s *Store) compare(version int, found map[string]string) error {
	var all []map[string]string
	if err := json.Unmarshal(schemas, &all); err != nil {
		return err
	}
	want := all[version]
	s.extra = nil
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if _, ok := want[name]; !ok && !others.MatchString(name) {
			s.extra = append(s.extra, untrusted.Terminal(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if found[name] != want[name] {
			return &orbench.InputError{
				File: s.path, Problem: name + " of the store is not as orbench makes it, so the store is not read",
				Hint: "name another file with `store`, such as a backup",
			}
		}
	}
	return nil
}

// notOurs is the error for who would write to a store with parts that are not of orbench.
func (s *Store) notOurs() error {
	return &orbench.InputError{
		File: s.path, Problem: s.foreignParts() + "; nothing is written to it",
		Hint: "copy what it holds into a store of your own with orbench store merge " + untrusted.Shell(s.path) + " `out` FILE", Err: store.ErrReadOnly,
	}
}

// foreignParts names what is extra in the schema.
func (s *Store) foreignParts() string {
	return "the schema of the store has " + strings.Join(s.extra, ", ") + ", which orbench does not make"
}

// oversized is the error for a value that is larger than store.MaxValue. It finds the row by the
// length alone.
func (s *Store) oversized(cause error) error {
	where := "a value"
	ctx := context.Background()
	for _, table := range []string{"calls", "failures", "runs", "annotations", "pieces", "datasets", "batches", "batch_calls", "identity"} {
		var sizes string
		var row, size int64
		err := s.readers.QueryRowContext(ctx, `SELECT group_concat('ifnull(octet_length(' || name || '), 0)') FROM pragma_table_info(?)`, table).Scan(&sizes)
		if err == nil {
			err = s.readers.QueryRowContext(ctx, fmt.Sprintf(`SELECT rowid, max(0, %s) AS size FROM %s WHERE size > ?`, sizes, table), store.MaxValue).Scan(&row, &size)
		}
		if err == nil {
			where = fmt.Sprintf("row %d of %s, of %d MB,", row, table, size>>20)
			break
		}
	}
	return &orbench.InputError{
		File: s.path, Problem: fmt.Sprintf("%s is larger than the %d MB that are read", where, store.MaxValue>>20),
		Hint: "no orbench wrote it: name another store with `store`", Err: cause,
	}
}
