package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/model"
	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// damaged is the error for a store that the database cannot read.
func damaged(path string, err error) error {
	return &orbench.InputError{
		File: path, Problem: "the store is damaged: " + err.Error(),
		Hint: "see what is lost, and save the rest, with orbench store check", Err: err,
	}
}

// isDamage reports whether an error tells of a damaged file.
func isDamage(err error) bool {
	var failed *driver.Error
	return errors.Is(err, errChanged) || errors.As(err, &failed) && (failed.Code()&0xff == codes.SQLITE_CORRUPT || failed.Code()&0xff == codes.SQLITE_NOTADB)
}

// kinds are the tables, in the order in which they are checked, the columns that the
// checksum of a row is of, and what else a good row of each is. A row is given as its
// columns, numbers in decimal digits.
var kinds = []struct {
	name, table string
	summed      []string
	good        func(row map[string][]byte) bool
}{
	{"calls", "calls", []string{"hash", "response"}, func(row map[string][]byte) bool {
		var r model.Response
		return model.HashCanonical(row["request"]) == hashOf(row["hash"]) && json.Unmarshal(row["response"], &r) == nil
	}},
	{"failures", "failures", []string{"hash", "kind", "message"}, func(row map[string][]byte) bool { return hashOf(row["hash"]) != model.Hash{} }},
	{"pieces of prompts", "pieces", nil, func(row map[string][]byte) bool {
		return sha256.Sum256(row["prompts"]) == hashOf(row["hash"])
	}},
	{"datasets", "datasets", []string{"key", "about", "prompts", "sum", "pieces"}, func(row map[string][]byte) bool {
		return memo.KeyOf(row["about"]) == memo.Key(hashOf(row["key"])) && hashOf(row["sum"]) != model.Hash{}
	}},
	{"runs", "runs", []string{"name", "config", "datasets", "made", "saved"}, func(row map[string][]byte) bool {
		var keys []memo.Key
		datasets, ok := row["datasets"]
		return json.Valid(row["config"]) && (!ok || json.Unmarshal(datasets, &keys) == nil)
	}},
	{"annotations", "annotations", nil, func(row map[string][]byte) bool {
		var a orbench.Annotation
		return json.Unmarshal(row["annotation"], &a) == nil && a.ID() == hashOf(row["id"])
	}},
}

// hashOf is a stored hash, zero where it has another length.
func hashOf(b []byte) (h model.Hash) {
	if len(b) == len(h) {
		copy(h[:], b)
	}
	return h
}

// holds reports whether a row has the checksum that was stored of some columns, or none.
func holds(row map[string][]byte, columns []string) bool {
	stored := row["checksum"]
	if len(stored) == 0 {
		return true
	}
	values := make([][]byte, len(columns))
	for i, name := range columns {
		values[i] = row[name]
	}
	return string(stored) == strconv.FormatInt(checksum(values...), 10)
}

// Check reads all of the store at path and tells what is damaged. Where save is not
// empty, it copies what is good to a new store there. Nothing is written to path. A file
// of which not even the list of tables can be read is an *orbench.InputError.
func Check(ctx context.Context, path, save string) (h memo.Health, err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return h, fmt.Errorf("%s: %w", path, err)
	}
	s := &Store{path: path}
	version, err := s.check(ctx, abs)
	if err != nil {
		return h, err
	}
	// A reader that may not write copies nothing from the log to the file.
	if s.readers, err = open(abs, "&mode=ro", 1); err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, s.readers.Close()) }()
	c := checker{store: s}
	if save != "" {
		if c.saved, err = create(ctx, save); err != nil {
			return h, err
		}
		defer func() {
			err = errors.Join(err, c.saved.write.Close())
			if err == nil {
				err = sync(save)
			}
			if err != nil {
				err = errors.Join(err, os.Remove(save))
			}
		}()
	}
	if h.Faults, err = c.faults(ctx); err != nil {
		return h, err
	}
	for _, kind := range kinds {
		found, err := c.kind(ctx, kind.table, func(row map[string][]byte) bool {
			return holds(row, kind.summed) && kind.good(row)
		})
		if err != nil {
			return h, err
		}
		if kind.table == "datasets" && version >= 3 {
			if err := c.sums(ctx, &found); err != nil {
				return h, err
			}
		}
		found.Kind = kind.name
		h.Kinds = append(h.Kinds, found)
	}
	return h, c.forget(ctx)
}

// create makes a new store.
func create(ctx context.Context, path string) (*Store, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, &orbench.InputError{File: path, Problem: "cannot make the file: " + err.Error(), Hint: "name a new one", Err: err}
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path}
	// Until it is whole the file is nobody's store: it reaches the disk once, at the end.
	if s.write, err = open(abs, "&_txlock=immediate&_pragma=journal_mode(MEMORY)&_pragma=synchronous(OFF)", 1); err != nil {
		return nil, err
	}
	for from := range migrations {
		if err := s.migrate(ctx, from); err != nil {
			return nil, errors.Join(s.at(err), s.write.Close(), os.Remove(path))
		}
	}
	return s, nil
}

// sync has a file reach the disk.
func sync(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// checker checks a store.
type checker struct {
	store *Store
	// saved takes what is good, nil for nobody.
	saved *Store
	// broken are the keys of datasets of which prompts are lost.
	broken []memo.Key
}

// mostFaults is how many faults of its structure the database is asked for.
const mostFaults = 20

// faults asks the database what is wrong with its structure.
func (c *checker) faults(ctx context.Context) ([]string, error) {
	faults := []string{}
	found, err := c.store.readers.QueryContext(ctx, fmt.Sprintf("PRAGMA integrity_check(%d)", mostFaults))
	if err == nil {
		err = scanAll(found, func(rows *sql.Rows) error {
			var fault string
			if err := rows.Scan(&fault); err != nil || fault == "ok" {
				return err
			}
			for line := range strings.Lines(fault) {
				faults = append(faults, strings.TrimSpace(line))
			}
			return nil
		})
	}
	if isDamage(err) {
		return append(faults, err.Error()), nil
	}
	return faults, err
}

// kind checks the rows of a table, and saves the good ones.
func (c *checker) kind(ctx context.Context, table string, good func(map[string][]byte) bool) (memo.KindHealth, error) {
	t := tableCheck{checker: c, table: table, good: good}
	columns, err := c.store.readers.QueryContext(ctx, `SELECT name FROM pragma_table_info(?)`, table)
	if err == nil {
		err = scanAll(columns, func(rows *sql.Rows) error {
			var name string
			err := rows.Scan(&name)
			t.columns = append(t.columns, name)
			return err
		})
	}
	if err != nil {
		return t.found, c.store.at(err)
	}
	if len(t.columns) == 0 {
		return t.found, nil // a table of a later version
	}
	last, err := c.last(ctx, table)
	for first := int64(1); err == nil && first <= last; first += rowsPerCheck {
		err = t.read(ctx, first, min(first+rowsPerCheck-1, last))
	}
	return t.found, err
}

// rowsPerCheck is how many rows are read together.
const rowsPerCheck = 256

// last is the greatest ID of a row that there can be.
func (c *checker) last(ctx context.Context, table string) (int64, error) {
	var last sql.NullInt64
	err := c.store.readers.QueryRowContext(ctx, `SELECT max(rowid) FROM `+table).Scan(&last)
	if !isDamage(err) {
		return last.Int64, err
	}
	// The page with the last rows is lost. The hashes have an index, which names the
	// rows too.
	var index string
	err = c.store.readers.QueryRowContext(ctx, `SELECT name FROM pragma_index_list(?) WHERE "unique"`, table).Scan(&index)
	if err == nil {
		err = c.store.readers.QueryRowContext(ctx, fmt.Sprintf(`SELECT max(rowid) FROM %s INDEXED BY %s WHERE +rowid > 0`, table, index)).Scan(&last)
	}
	if err == nil {
		return last.Int64, nil
	}
	if err != nil && !isDamage(err) && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	// There can be no more rows than fit into the file.
	const leastRow = 64
	info, err := os.Stat(c.store.path)
	if err != nil {
		return 0, err
	}
	return info.Size() / leastRow, nil
}

// tableCheck checks the rows of one table.
type tableCheck struct {
	*checker
	table   string
	columns []string
	good    func(map[string][]byte) bool
	found   memo.KindHealth
}

// read checks the rows from first to last. Where a page cannot be read it halves them,
// until only the rows are lost that lie on it.
func (t *tableCheck) read(ctx context.Context, first, last int64) error {
	var read [][]any
	query := fmt.Sprintf(`SELECT rowid, %s FROM %s NOT INDEXED WHERE rowid BETWEEN ? AND ? ORDER BY rowid`, strings.Join(t.columns, ", "), t.table)
	rows, err := t.store.readers.QueryContext(ctx, query, first, last)
	if err == nil {
		err = scanAll(rows, func(rows *sql.Rows) error {
			values, into := make([]any, 1+len(t.columns)), make([]any, 1+len(t.columns))
			for i := range values {
				into[i] = &values[i]
			}
			read = append(read, values)
			return rows.Scan(into...)
		})
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case isDamage(err) && first == last:
		t.found.Lost++
		return nil
	case isDamage(err):
		middle := first + (last-first)/2
		if err := t.read(ctx, first, middle); err != nil {
			return err
		}
		return t.read(ctx, middle+1, last)
	case err != nil:
		return t.store.at(err)
	}
	read = slices.DeleteFunc(read, func(values []any) bool {
		row := map[string][]byte{}
		for i, name := range t.columns {
			row[name] = bytesOf(values[1+i])
		}
		good := t.good(row)
		if good {
			t.found.Good++
		} else {
			t.found.Lost++
		}
		return !good
	})
	if t.saved == nil || len(read) == 0 {
		return nil
	}
	// The row keeps its number, by which others name it.
	add := fmt.Sprintf(`INSERT OR IGNORE INTO %s (rowid, %s) VALUES (?%s)`, t.table, strings.Join(t.columns, ", "), strings.Repeat(",?", len(t.columns)))
	return t.saved.inTx(ctx, func(tx *sql.Tx) error {
		for _, values := range read {
			if _, err := tx.ExecContext(ctx, add, values...); err != nil {
				return err
			}
		}
		return nil
	})
}

// bytesOf is a text or a blob as bytes, and a number as its digits; nothing else has any.
func bytesOf(value any) []byte {
	switch v := value.(type) {
	case []byte:
		return v
	case string:
		return []byte(v)
	case int64:
		return strconv.AppendInt(nil, v, 10)
	}
	return nil
}

// sums checks that the datasets have all their prompts, and counts those that have not
// as lost.
func (c *checker) sums(ctx context.Context, found *memo.KindHealth) error {
	keys, err := c.store.Datasets(ctx)
	if err != nil && !errors.Is(err, orbench.ErrInput) {
		return err
	}
	for _, key := range keys {
		sum := memo.NewSum()
		d, err := c.store.Dataset(ctx, key)
		if err != nil {
			continue // it is counted as lost already
		}
		for p, failed := range c.store.Prompts(ctx, key) {
			if err = failed; err == nil {
				sum.Add(p)
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil || sum.Of() != d.Sum {
			found.Good, found.Lost = found.Good-1, found.Lost+1
			c.broken = append(c.broken, key)
		}
	}
	return nil
}

// forget leaves datasets that have not all their prompts out of what is saved, and has
// runs name none that is not there: they are then derived from their files.
func (c *checker) forget(ctx context.Context) error {
	if c.saved == nil {
		return nil
	}
	return c.saved.inTx(ctx, func(tx *sql.Tx) error {
		for _, key := range c.broken {
			if _, err := tx.ExecContext(ctx, `DELETE FROM datasets WHERE key = ?`, key[:]); err != nil {
				return err
			}
		}
		runs, err := readRuns(ctx, tx, `WHERE EXISTS (
			SELECT 1 FROM json_each(runs.datasets) AS d WHERE NOT EXISTS (SELECT 1 FROM datasets WHERE lower(hex(key)) = d.value))`)
		for i := 0; err == nil && i < len(runs); i++ {
			runs[i].Datasets = nil
			err = saveRun(ctx, tx, runs[i])
		}
		return err
	})
}

// Vacuum packs the store into as little space as it needs, in one file.
func (s *Store) Vacuum(ctx context.Context) error {
	for _, do := range []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := s.write.ExecContext(ctx, do); err != nil {
			return s.at(err)
		}
	}
	return nil
}
