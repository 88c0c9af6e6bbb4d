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
	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
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
	write   *sql.DB
	readers *sql.DB
	// The statements of the hot paths are parsed once. has is on the writer's
	// connection: it runs while rows are being added, and every commit makes the
	// readers drop their cached pages, but not the writer.
	put      *sql.Stmt
	get, has lookUp
	// locate finds where some hashes lie, between reads what lies there; see getInto.
	locate, between *sql.Stmt
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
		if err := patiently(ctx, func() error { return s.migrate(ctx, version) }); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: schema %d: %w", path, version+1, err), s.write.Close())
		}
	}
	if s.readers, err = open(abs, durable, 4); err != nil {
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
		{&s.get.few, s.readers, get + list(fewHashes)},
		{&s.get.many, s.readers, get + list(hashesPerQuery)},
		{&s.has.few, s.write, has + list(fewHashes)},
		{&s.has.many, s.write, has + list(hashesPerQuery)},
		{&s.locate, s.readers, `SELECT id FROM calls WHERE hash IN ` + list(probes)},
		{&s.between, s.readers, `SELECT hash, response FROM calls WHERE id BETWEEN ? AND ?`},
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

// patiently does something again while the file is locked. SQLite waits for other
// processes by itself, but not while it turns a new file to WAL mode.
func patiently(ctx context.Context, do func() error) error {
	const pause, most = 20 * time.Millisecond, 30 * time.Second
	for began := time.Now(); ; {
		err := do()
		var failed *driver.Error
		if !errors.As(err, &failed) || failed.Code()&0xff != codes.SQLITE_BUSY || time.Since(began) > most {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return errors.Join(err, context.Cause(ctx))
		}
	}
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
	return errors.Join(s.readers.Close(), s.write.Close())
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
	if err := s.getInto(ctx, found, hashes); err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	return found, nil
}

// getInto adds the responses that are present to found.
//
// What is looked up together was mostly written together, by a run that walked
// its prompts in the same order. Reading a row in a stretch of rows takes an
// eighth of the time of finding it through the index of hashes. So hashes whose
// rows lie close are read as one stretch; others are parted, until they lie close
// or are few; and the index finds what is left.
func (s *Store) getInto(ctx context.Context, found map[model.Hash]model.Response, hashes []model.Hash) error {
	if len(hashes) >= nearAtLeast {
		first, last, err := s.stretch(ctx, hashes)
		if err != nil {
			return err
		}
		switch half := len(hashes) / 2; {
		case last > 0:
			rest, err := s.read(ctx, found, hashes, first, last)
			if err != nil || len(rest) == 0 {
				return err
			}
			if len(rest) < len(hashes) {
				return s.getInto(ctx, found, rest)
			}
		case len(hashes) > hashesPerQuery:
			if err := s.getInto(ctx, found, hashes[:half]); err != nil {
				return err
			}
			return s.getInto(ctx, found, hashes[half:])
		}
	}
	return s.each(ctx, s.get, hashes, func(rows *sql.Rows) error { return addResponse(rows, found, nil) })
}

const (
	// nearAtLeast is the least number of hashes for which to look where they lie.
	nearAtLeast = 32
	// nearFactor is how many rows a stretch may have for each that is wanted.
	nearFactor = 4
	// probes is how many of the hashes tell where all of them lie.
	probes = 5
)

// stretch finds a stretch of rows in which most of the hashes lie, if there is one
// that is not too long; last is 0 otherwise.
func (s *Store) stretch(ctx context.Context, hashes []model.Hash) (first, last int64, err error) {
	args := make([]any, probes)
	for i := range args {
		args[i] = hashes[i*(len(hashes)-1)/(probes-1)][:]
	}
	rows, err := s.locate.QueryContext(ctx, args...)
	if err != nil {
		return 0, 0, err
	}
	var ids []int64
	err = scanAll(rows, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil || len(ids) < probes-1 {
		return 0, 0, err
	}
	slices.Sort(ids)
	// A call that was tried again lies far behind the others.
	if n := len(ids); n == probes && ids[n-1]-ids[n-2] > ids[n-2]-ids[0] {
		ids = ids[:n-1]
	}
	// Calls that were under way at once came back in any order.
	margin := int64(len(hashes) / 8)
	if len(ids) < probes {
		margin += (ids[len(ids)-1] - ids[0]) / (probes - 2)
	}
	first, last = ids[0]-margin, ids[len(ids)-1]+margin
	if last-first >= int64(nearFactor*len(hashes)) {
		return 0, 0, nil
	}
	return first, last, nil
}

// read adds what a stretch has of the hashes, and gives the hashes that it has not.
func (s *Store) read(ctx context.Context, found map[model.Hash]model.Response, hashes []model.Hash, first, last int64) ([]model.Hash, error) {
	wanted := make(map[model.Hash]bool, len(hashes))
	for _, h := range hashes {
		wanted[h] = true
	}
	rows, err := s.between.QueryContext(ctx, first, last)
	if err != nil {
		return nil, err
	}
	if err := scanAll(rows, func(rows *sql.Rows) error { return addResponse(rows, found, wanted) }); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(hashes), func(h model.Hash) bool {
		_, ok := found[h]
		return ok
	}), nil
}

// addResponse adds the row's response if it is wanted; nil wants all.
func addResponse(rows *sql.Rows, found map[model.Hash]model.Response, wanted map[model.Hash]bool) error {
	var hash, response sql.RawBytes
	if err := rows.Scan(&hash, &response); err != nil {
		return err
	}
	if wanted != nil && !wanted[model.Hash(hash)] {
		return nil
	}
	var r model.Response
	if err := json.Unmarshal(response, &r); err != nil {
		return fmt.Errorf("the response of %x is damaged: %w", []byte(hash), err)
	}
	found[model.Hash(hash)] = r
	return nil
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
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	return found, nil
}

// Failures implements memo.Store.
func (s *Store) Failures(ctx context.Context, hashes []model.Hash) (map[model.Hash]memo.Failure, error) {
	found := map[model.Hash]memo.Failure{}
	var any bool
	if err := s.readers.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM failures)`).Scan(&any); err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	if !any {
		return found, nil
	}
	const query = `SELECT kind, message FROM failures WHERE hash = ?1
		AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.hash = ?1)`
	for _, h := range hashes {
		f := memo.Failure{Hash: h}
		err := s.readers.QueryRowContext(ctx, query, h[:]).Scan(&f.Kind, &f.Message)
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
			return err
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
	if err := s.readers.QueryRowContext(ctx, `SELECT count(*) FROM calls`).Scan(&n); err != nil {
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
	found, err := s.readers.QueryContext(ctx, `SELECT name, config, saved FROM runs `+rest, args...)
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
