package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/model"
	_ "modernc.org/sqlite" // the database/sql driver
)

var _ memo.Store = (*Store)(nil)

//go:embed schema.sql
var schema1 string

// migrations turn version i of the schema into version i+1.
var migrations = []string{schema1}

// applicationID marks the file as ours: "orbn".
const applicationID = 0x6f72626e

// Store is a memo.Store in a SQLite file.
type Store struct {
	path string
	// write has a single connection: SQLite has one writer, and waiting for it
	// in Go is cheaper and fairer than in the database.
	write *sql.DB
	read  *sql.DB
	// The statements of the hot paths are parsed once. has is on the writer's
	// connection: it runs while rows are being added, and every commit makes the
	// readers drop their cached pages, but not the writer.
	put      *sql.Stmt
	get, has lookUp
	// span finds where four hashes lie, between reads what lies there; see near.
	span, between *sql.Stmt
	// now is the clock for Run.Saved.
	now func() time.Time
}

// lookUp is a query for hashes, once for exactly fewHashes of them and once for
// hashesPerQuery.
type lookUp struct{ few, many *sql.Stmt }

// hashesPerQuery is how many hashes are looked up together; fewHashes do for the
// few that were not where the others lie.
const (
	hashesPerQuery = 256
	fewHashes      = 16
)

// Open opens the store at path, creating the file (but no folder) where there
// is none. A file that is not a store, or that a newer version wrote, is an
// *orbench.InputError and is left untouched.
func Open(ctx context.Context, path string) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if info, err := os.Stat(filepath.Dir(abs)); err != nil || !info.IsDir() {
		return nil, &orbench.InputError{
			File: path, Problem: "the folder for the store does not exist",
			Hint: "create it, or name another file with --store", Err: err,
		}
	}
	if info, err := os.Stat(abs); err == nil && info.IsDir() {
		return nil, &orbench.InputError{File: path, Problem: "is a folder, not a store", Hint: "name a file with --store"}
	}
	s := &Store{path: path, now: time.Now}
	version, err := s.check(ctx, abs)
	if err != nil {
		return nil, err
	}
	// Hashes fall on all pages of their index alike, so that a small log would
	// be copied back again and again: let it grow to some 64 MB first.
	const durable = "&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=wal_autocheckpoint(16000)&_pragma=cache_size(-16000)"
	if s.write, err = open(abs, durable+"&_txlock=immediate", 1); err != nil {
		return nil, err
	}
	for ; version < len(migrations); version++ {
		if err := s.migrate(ctx, version); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: schema %d: %w", path, version+1, err), s.write.Close())
		}
	}
	if s.read, err = open(abs, durable, 4); err != nil {
		return nil, errors.Join(err, s.write.Close())
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), s.Close())
	}
	return s, nil
}

// prepare parses the statements of the hot paths.
func (s *Store) prepare(ctx context.Context) (err error) {
	const get, has = `SELECT hash, response FROM calls WHERE hash IN `, `SELECT hash FROM calls WHERE hash IN `
	list := func(n int) string { return `(?` + strings.Repeat(",?", n-1) + `)` }
	for _, p := range []struct {
		into  **sql.Stmt
		db    *sql.DB
		query string
	}{
		{&s.put, s.write, `INSERT INTO calls (hash, request, response) VALUES (?,?,?) ON CONFLICT (hash) DO NOTHING`},
		{&s.get.few, s.read, get + list(fewHashes)},
		{&s.get.many, s.read, get + list(hashesPerQuery)},
		{&s.has.few, s.write, has + list(fewHashes)},
		{&s.has.many, s.write, has + list(hashesPerQuery)},
		{&s.span, s.read, `SELECT min(id), max(id) FROM calls WHERE hash IN (?,?,?,?)`},
		{&s.between, s.read, `SELECT hash, response FROM calls WHERE id BETWEEN ? AND ?`},
	} {
		if *p.into, err = p.db.PrepareContext(ctx, p.query); err != nil {
			return err
		}
	}
	return nil
}

func open(abs, more string, conns int) (*sql.DB, error) {
	dsn := "file:" + (&url.URL{Path: abs}).EscapedPath() +
		"?_pragma=busy_timeout(30000)" + more
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// check finds the version of the schema in the file, 0 for a new one. It uses a
// connection of its own that sets no mode, so that a file which is not ours
// stays as it is.
func (s *Store) check(ctx context.Context, abs string) (version int, err error) {
	db, err := open(abs, "", 1)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var id, tables int
	// One statement sees one state of the file, while another process may be
	// making it.
	const query = `SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
		(SELECT count(*) FROM sqlite_schema)`
	if err := db.QueryRowContext(ctx, query).Scan(&id, &version, &tables); err != nil {
		return 0, &orbench.InputError{
			File: s.path, Problem: "cannot be opened as a store: " + err.Error(),
			Hint: "name another file with --store", Err: err,
		}
	}
	switch {
	case id != applicationID && (id != 0 || tables > 0):
		return 0, &orbench.InputError{
			File: s.path, Problem: "is a SQLite file of another program",
			Hint: "name another file with --store",
		}
	case version > len(migrations):
		return 0, &orbench.InputError{
			File:    s.path,
			Problem: fmt.Sprintf("was written by a newer orbench (schema %d, this one knows %d)", version, len(migrations)),
			Hint:    "use that version, or name another file with --store",
		}
	}
	return version, nil
}

// migrate applies migrations[from], unless another process has done so meanwhile.
func (s *Store) migrate(ctx context.Context, from int) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	var version int
	if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil || version > from {
		return err
	}
	set := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, from+1)
	for _, q := range []string{migrations[from], set} {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Close closes the file.
func (s *Store) Close() error {
	// Closing a database closes its statements.
	return errors.Join(s.read.Close(), s.write.Close())
}

// Put implements memo.Store.
func (s *Store) Put(ctx context.Context, records []memo.Record) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		put := tx.StmtContext(ctx, s.put)
		for i := range records {
			response, err := json.Marshal(records[i].Response)
			if err != nil {
				return err
			}
			if _, err := put.ExecContext(ctx, records[i].Hash[:], string(records[i].Request), string(response)); err != nil {
				return err
			}
		}
		return nil
	})
}

// PutFailures implements memo.Store.
func (s *Store) PutFailures(ctx context.Context, failures []memo.Failure) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		for i := range failures {
			f := &failures[i]
			_, err := tx.ExecContext(ctx,
				`INSERT INTO failures (hash, kind, message) VALUES (?,?,?)
				 ON CONFLICT (hash) DO UPDATE SET kind = excluded.kind, message = excluded.message`,
				f.Hash[:], string(f.Kind), f.Message)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) inTx(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	if err := do(tx); err != nil {
		return fmt.Errorf("%s: %w", s.path, errors.Join(err, tx.Rollback()))
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}

// Get implements memo.Store.
func (s *Store) Get(ctx context.Context, hashes []model.Hash) (map[model.Hash]model.Response, error) {
	found := make(map[model.Hash]model.Response, len(hashes))
	add := func(hash, response []byte) error {
		var r model.Response
		if err := json.Unmarshal(response, &r); err != nil {
			return fmt.Errorf("the response of %x is damaged: %w", hash, err)
		}
		found[model.Hash(hash)] = r
		return nil
	}
	for group := range slices.Chunk(hashes, hashesPerQuery) {
		if err := s.near(ctx, group, add); err != nil {
			return nil, fmt.Errorf("%s: %w", s.path, err)
		}
		rest := slices.DeleteFunc(slices.Clone(group), func(h model.Hash) bool {
			_, ok := found[h]
			return ok
		})
		err := s.each(ctx, s.get, rest, func(rows *sql.Rows) error {
			var hash, response sql.RawBytes
			if err := rows.Scan(&hash, &response); err != nil {
				return err
			}
			return add(hash, response)
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// What near bothers with: groups of some size whose rows are that close.
const (
	nearAtLeast = 32
	nearFactor  = 8
)

// near calls add for those of the hashes that lie close together, if they do.
// What is looked up together was mostly written together, by a run that walked
// its prompts in the same order; reading a row in a stretch takes an eighth of
// the time of finding each one through the index of hashes.
func (s *Store) near(ctx context.Context, hashes []model.Hash, add func(hash, response []byte) error) error {
	n := len(hashes)
	if n < nearAtLeast {
		return nil
	}
	var first, last sql.NullInt64
	// A row that came late lies far from the others. Should it be one of the four,
	// the index serves.
	err := s.span.QueryRowContext(ctx, hashes[0][:], hashes[n/3][:], hashes[2*n/3][:], hashes[n-1][:]).Scan(&first, &last)
	if err != nil || !first.Valid || last.Int64-first.Int64 >= int64(nearFactor*n) {
		return err
	}
	wanted := make(map[model.Hash]bool, n)
	for _, h := range hashes {
		wanted[h] = true
	}
	rows, err := s.between.QueryContext(ctx, first.Int64, last.Int64)
	if err != nil {
		return err
	}
	return scanAll(rows, func(rows *sql.Rows) error {
		var hash, response sql.RawBytes
		if err := rows.Scan(&hash, &response); err != nil {
			return err
		}
		if !wanted[model.Hash(hash)] {
			return nil
		}
		return add(hash, response)
	})
}

// Has implements memo.Store.
func (s *Store) Has(ctx context.Context, hashes []model.Hash) (map[model.Hash]bool, error) {
	found := make(map[model.Hash]bool, len(hashes))
	err := s.each(ctx, s.has, hashes, func(rows *sql.Rows) error {
		var hash sql.RawBytes
		if err := rows.Scan(&hash); err != nil {
			return err
		}
		found[model.Hash(hash)] = true
		return nil
	})
	return found, err
}

// Failures implements memo.Store.
func (s *Store) Failures(ctx context.Context, hashes []model.Hash) (map[model.Hash]memo.Failure, error) {
	found := map[model.Hash]memo.Failure{}
	var any bool
	if err := s.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM failures)`).Scan(&any); err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	if !any {
		return found, nil
	}
	const query = `SELECT kind, message FROM failures WHERE hash = ?1
		AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.hash = ?1)`
	for _, h := range hashes {
		f := memo.Failure{Hash: h}
		err := s.read.QueryRowContext(ctx, query, h[:]).Scan(&f.Kind, &f.Message)
		switch {
		case err == nil:
			found[h] = f
		case !errors.Is(err, sql.ErrNoRows):
			return nil, fmt.Errorf("%s: %w", s.path, err)
		}
	}
	return found, nil
}

// each runs a look-up for the hashes, in groups, and calls scan for every row.
func (s *Store) each(ctx context.Context, of lookUp, hashes []model.Hash, scan func(*sql.Rows) error) error {
	for len(hashes) > 0 {
		query, size := of.many, hashesPerQuery
		if len(hashes) <= fewHashes {
			query, size = of.few, fewHashes
		}
		group := hashes[:min(size, len(hashes))]
		hashes = hashes[len(group):]
		args := make([]any, size)
		for i := range args {
			// A group that is not full is filled up with its own last hash.
			args[i] = group[min(i, len(group)-1)][:]
		}
		rows, err := query.QueryContext(ctx, args...)
		if err == nil {
			err = scanAll(rows, scan)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.path, err)
		}
	}
	return nil
}

// scanAll calls scan for every row and closes the rows.
func scanAll(rows *sql.Rows, scan func(*sql.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Count implements memo.Store.
func (s *Store) Count(ctx context.Context) (int, error) {
	var n int
	if err := s.read.QueryRowContext(ctx, `SELECT count(*) FROM calls`).Scan(&n); err != nil {
		return 0, fmt.Errorf("%s: %w", s.path, err)
	}
	return n, nil
}

// SaveRun implements memo.Store; the time of saving is now.
func (s *Store) SaveRun(ctx context.Context, r memo.Run) error {
	_, err := s.write.ExecContext(ctx,
		`INSERT INTO runs (name, config, saved) VALUES (?,?,?)
		 ON CONFLICT (name) DO UPDATE SET config = excluded.config, saved = excluded.saved`,
		r.Name, string(r.Config), s.now().UnixNano())
	if err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}

// Run implements memo.Store.
func (s *Store) Run(ctx context.Context, name string) (memo.Run, error) {
	runs, err := s.runs(ctx, `WHERE name = ? OR ? = '' ORDER BY saved DESC, name LIMIT 1`, name, name)
	if err == nil && len(runs) == 0 {
		err = memo.ErrNoRun
	}
	if err != nil {
		return memo.Run{}, fmt.Errorf("%s: %w", s.path, err)
	}
	return runs[0], nil
}

// Runs implements memo.Store.
func (s *Store) Runs(ctx context.Context) ([]memo.Run, error) {
	runs, err := s.runs(ctx, `ORDER BY saved DESC, name`)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	return runs, nil
}

func (s *Store) runs(ctx context.Context, rest string, args ...any) ([]memo.Run, error) {
	var runs []memo.Run
	found, err := s.read.QueryContext(ctx, `SELECT name, config, saved FROM runs `+rest, args...)
	if err != nil {
		return nil, err
	}
	err = scanAll(found, func(rows *sql.Rows) error {
		var (
			r     memo.Run
			saved int64
		)
		if err := rows.Scan(&r.Name, &r.Config, &saved); err != nil {
			return err
		}
		r.Saved = time.Unix(0, saved).UTC()
		runs = append(runs, r)
		return nil
	})
	return runs, err
}
