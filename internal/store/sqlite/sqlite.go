package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

var _ store.Backend = (*Store)(nil)

//go:embed *.sql
var schemaFiles embed.FS

// migrations are the files that turn version i of the schema into version i+1.
var migrations = []string{
	"schema.sql", "annotations.sql", "datasets.sql", "made.sql", "checksums.sql", "claims.sql", "batches.sql", "identity.sql", "shares.sql", "packed.sql",
}

// applicationID marks the file as ours: "orbn".
const applicationID = 0x6f72626e

// Store is a store.Backend in a SQLite file.
type Store struct {
	store.Tables
	// path is the file as it was named, abs the same from the root.
	path, abs string
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
	// claim adds a claim, others reads those of other handles, and dataVersion a number that
	// changes with what they write.
	claim, others, dataVersion *sql.Stmt
	// anyBatched tells whether any call is out in a batch, batched which are.
	anyBatched *sql.Stmt
	batched    lookUp
	// now is the clock for Run.Saved, and gives the numbers of claims and shares, which nobody
	// compares with another clock.
	now func() time.Time
	// owner names this handle in claims, of which it has made so many, and place where it
	// runs.
	owner, place string
	claims       atomic.Int64
	foreign      foreign
	// database and log are the files that were opened, and notes what was found of them.
	database, log fs.FileInfo
	notes         []string

	// wrote is true once this handle has written, and copies while it will copy the log to the
	// database, copyAfter a row was written.
	wrote, copies atomic.Bool
	copyAfter     time.Duration
	// extra are the parts of the schema that are not of orbench, such as a trigger, and
	// refused is the error for who would write to a store that is only read because of these,
	// or for another reason.
	extra   []string
	refused error
	// verifyCalls compares the index of calls with them, nil for a store that is not read
	// with damage left out.
	verifyCalls func() error
	// saved has what the store held, where that is gone, and gone says how that was found.
	mu    sync.Mutex
	saved *Store
	gone  error
	// copied is the folder of a copy that is deleted at the end, empty for none.
	copied string
}

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
			Hint: "create it, or name another file with `store`", Err: err,
		}
	}
	switch info, err := os.Stat(abs); {
	case errors.Is(err, fs.ErrNotExist):
		if err := create(abs); err != nil {
			return nil, notWritable(path, err)
		}
	case err == nil && info.IsDir():
		return nil, &orbench.InputError{File: path, Problem: "is a folder, not a store", Hint: "name a file with `store`"}
	case err == nil && links(info) > 1:
		return nil, &orbench.InputError{
			File: path, Problem: fmt.Sprintf("the file has %d names (hard links), so it is only read: commands that know it by another name would pay for the same calls again", links(info)),
			Hint: "make a store of one name with orbench store backup, or delete the other names", Err: store.ErrReadOnly,
		}
	}
	s := newStore(path, abs)
	// A file is not written to before its schema was compared.
	version, err := s.check(ctx, abs, readOnly(abs))
	if err != nil {
		return nil, err
	}
	if len(s.extra) > 0 {
		return nil, s.notOurs()
	}
	// Hashes fall on all pages of their index alike, so that a small log would
	// be copied back again and again: let it grow to some 64 MB first.
	const durable = "&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=wal_autocheckpoint(16000)"
	if err := s.connect(ctx, durable, "&_pragma=cache_size(-16000)&_txlock=immediate", version); err != nil {
		return nil, err
	}
	if s.database, s.log, err = filesAt(abs); err != nil {
		return nil, errors.Join(s.at(err), s.Close())
	}
	return s, nil
}

// create makes an empty file that only its owner can read, as are those that the database
// keeps beside it.
func create(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

// connect opens the file in a mode, with more for the connection that writes, and brings the
// schema up to date, which is of some version.
func (s *Store) connect(ctx context.Context, mode, writing string, version int) (err error) {
	if s.write, err = open(s.abs, mode+writing, 1); err != nil {
		return err
	}
	for ; version < len(migrations); version++ {
		if err := patiently(ctx, func() error { return s.migrate(ctx, version) }); err != nil {
			return errors.Join(s.at(fmt.Errorf("schema %d: %w", version+1, err)), s.write.Close())
		}
	}
	// Readers pass over most pages once, and keep few of them.
	if s.readers, err = open(s.abs, mode+"&_pragma=cache_size(-2000)", 4); err != nil {
		return errors.Join(err, s.write.Close())
	}
	if err := s.prepare(ctx); err != nil {
		return errors.Join(s.at(err), s.Close())
	}
	return nil
}

// Now is the clock of the stores that are opened. Only tests change it.
var Now = time.Now

func newStore(path, abs string) *Store {
	s := &Store{path: path, abs: abs, now: Now, owner: rand.Text(), place: store.ProcessPlace(), copyAfter: copyAfter}
	s.Tables = s.tables()
	return s
}

// OpenExisting is Open for a file that must be there; where it is not, the error is
// store.ErrNoStore.
func OpenExisting(ctx context.Context, path string) (*Store, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, store.ErrNoStore)
	}
	s, err := Open(ctx, path)
	if errors.Is(err, store.ErrReadOnly) {
		return openReadOnly(ctx, path, err)
	}
	return s, err
}

// prepare parses the statements of the hot paths.
func (s *Store) prepare(ctx context.Context) (err error) {
	const get, has = `SELECT hash, response, checksum FROM calls WHERE hash IN `, `SELECT hash FROM calls WHERE hash IN `
	const batched = `SELECT hash FROM batch_calls WHERE hash IN `
	list := func(n int) string { return `(?` + strings.Repeat(",?", n-1) + `)` }
	for _, p := range []struct {
		into  **sql.Stmt
		db    *sql.DB
		query string
	}{
		{&s.put, s.write, `INSERT INTO calls (hash, request, packed, response, checksum) VALUES (?,?,?,?,?) ON CONFLICT (hash) DO NOTHING`},
		{&s.get.few, s.readers, get + list(fewHashes)},
		{&s.get.many, s.readers, get + list(hashesPerQuery)},
		{&s.has.few, s.write, has + list(fewHashes)},
		{&s.has.many, s.write, has + list(hashesPerQuery)},
		{&s.claim, s.write, `INSERT INTO claims (owner, number, place, pid, until, hashes) VALUES (?,?,?,?,?,?)`},
		{&s.others, s.write, `SELECT owner, number, place, pid, until, hashes FROM claims WHERE owner <> ?`},
		{&s.dataVersion, s.write, `PRAGMA data_version`},
		{&s.anyBatched, s.write, `SELECT EXISTS (SELECT 1 FROM batch_calls)`},
		{&s.batched.few, s.write, batched + list(fewHashes)},
		{&s.batched.many, s.write, batched + list(hashesPerQuery)},
		{&s.locate, s.readers, `SELECT id FROM calls WHERE hash IN ` + list(probes)},
		{&s.between, s.readers, `SELECT hash, response, checksum FROM calls WHERE id BETWEEN ? AND ?`},
	} {
		if *p.into, err = p.db.PrepareContext(ctx, p.query); err != nil {
			return err
		}
	}
	return nil
}

// check finds the version of the schema in the file, 0 for a new one. It uses a
// connection of its own that sets no mode, so that a file which is not ours
// stays as it is. mode is part of its address.
func (s *Store) check(ctx context.Context, abs, mode string) (version int, err error) {
	db, err := open(abs, mode, 1)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	id, version, found, err := schemaOf(ctx, db)
	if err != nil {
		if cannotWrite(err) {
			return 0, notWritable(s.path, err)
		}
		if isDamage(err) && !notDatabase(err) {
			return 0, damaged(s.path, err)
		}
		problem := "cannot be opened as a store: " + err.Error()
		if notDatabase(err) {
			problem = "is not an orbench store, or its first page is damaged"
		}
		return 0, &orbench.InputError{File: s.path, Problem: problem, Hint: "name another file with `store`, such as a backup", Err: err}
	}
	switch {
	case id != applicationID && (id != 0 || len(found) > 0):
		return 0, &orbench.InputError{
			File: s.path, Problem: "is a SQLite file of another program",
			Hint: "name another file with `store`",
		}
	case version > len(migrations):
		return 0, &orbench.InputError{
			File:    s.path,
			Problem: fmt.Sprintf("was written by a newer orbench (schema %d, this one knows %d)", version, len(migrations)),
			Hint:    "use that version, or name another file with `store`",
		}
	}
	return version, s.compare(version, found)
}

// patiently does something again while the file is locked. SQLite waits for other
// processes by itself, but not while it turns a new file to WAL mode.
func patiently(ctx context.Context, do func() error) error {
	const pause, most = 20 * time.Millisecond, 30 * time.Second
	for began := time.Now(); ; {
		err := do()
		if !Busy(err) || time.Since(began) > most {
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
	text, err := schemaFiles.ReadFile(migrations[from])
	if err != nil {
		return err
	}
	set := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, from+1)
	for _, q := range []string{string(text), set} {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// at says which store an error is about, and what can be done about a damaged one.
func (s *Store) at(err error) error {
	switch {
	case err == nil:
		return nil
	case isDamage(err):
		return damaged(s.path, err)
	case tooLarge(err):
		return s.oversized(err)
	case cannotWrite(err) && s.refused != nil:
		return s.refused
	case isFull(err):
		return fmt.Errorf("%s: the disk is full; make room, or move the store to another disk, and go on with the same command: %w", s.path, err)
	case cannotWrite(err):
		return notWritable(s.path, err)
	}
	return fmt.Errorf("%s: %w", s.path, err)
}

// Notes implements store.Reader.
func (s *Store) Notes() []string { return s.notes }

// Remove deletes a file, and those that the database keeps beside it, where they are there.
func Remove(path string) (all error) {
	for _, ending := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + ending); !errors.Is(err, fs.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}

// Close closes the file.
func (s *Store) Close() error {
	err := s.leave(context.Background())
	// Closing a database closes its statements.
	err = errors.Join(err, s.readers.Close(), s.write.Close())
	if s.copied != "" {
		err = errors.Join(err, os.RemoveAll(s.copied))
	}
	return err
}

// Put implements store.Backend.
func (s *Store) Put(ctx context.Context, records []store.Record) error {
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		put := tx.StmtContext(ctx, s.put)
		for i := range records {
			response, err := json.Marshal(records[i].Response)
			if err != nil {
				return err
			}
			hash := records[i].Hash[:]
			plain, packed := store.Pack(records[i].Request)
			if _, err := put.ExecContext(ctx, hash, string(plain), packed, string(response), store.Checksum(hash, response)); err != nil {
				return err
			}
		}
		return nil
	})
	if saved := s.savedTo(); saved != nil {
		// These may have come after the copy was made.
		if lost := saved.Put(ctx, records); lost != nil {
			return lost
		}
	}
	return err
}

func (s *Store) inTx(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return s.at(err)
	}
	if err := do(tx); err != nil {
		return s.at(errors.Join(err, tx.Rollback()))
	}
	if err := tx.Commit(); err != nil {
		return s.at(err)
	}
	return s.written(ctx)
}

// SaveRun implements store.Keeper. Where the store is gone, the run is kept with what was saved.
func (s *Store) SaveRun(ctx context.Context, r store.Run) error {
	if saved := s.savedTo(); saved != nil {
		return saved.SaveRun(ctx, r)
	}
	return s.Tables.SaveRun(ctx, r)
}

// tables are those of the store.
func (s *Store) tables() store.Tables {
	return store.Tables{
		Query: s.query, Write: s.apply, Transact: s.transact, Briefly: s.briefly, Among: among, At: s.at,
		Now:           func(context.Context) (time.Time, error) { return s.now(), nil },
		Watch:         &store.Watch{},
		DatasetNumber: "rowid", BatchNumber: "rowid",
	}
}

// query reads the rows that a query finds.
func (s *Store) query(ctx context.Context, begin func(), row func(store.Scan) error, query string, args ...any) error {
	begin()
	rows, err := s.readers.QueryContext(ctx, query, args...)
	if err == nil {
		err = scanAll(rows, func(rows *sql.Rows) error { return row(rows.Scan) })
	}
	return s.at(err)
}

// apply does statements in one transaction.
func (s *Store) apply(ctx context.Context, statements []store.Statement) error {
	return s.transact(ctx, func(exec func(string, ...any) error) error {
		for _, do := range statements {
			if err := exec(do.Query, do.Args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// transact does something in one transaction.
func (s *Store) transact(ctx context.Context, do func(exec func(query string, args ...any) error) error) error {
	return s.inTx(ctx, func(tx *sql.Tx) error {
		// Many statements are the same. The end of the transaction closes them.
		prepared := map[string]*sql.Stmt{}
		return do(func(query string, args ...any) (err error) {
			if prepared[query] == nil {
				if prepared[query], err = tx.PrepareContext(ctx, query); err != nil {
					return err
				}
			}
			_, err = prepared[query].ExecContext(ctx, args...)
			return err
		})
	})
}

// briefly does something in one transaction that does not wait for the disk.
func (s *Store) briefly(ctx context.Context, do func(query func(row func(store.Scan) error, query string, args ...any) error, exec func(string, ...any) error) error) error {
	return s.inBriefTx(ctx, func(_ *sql.Conn, tx *sql.Tx) error {
		return do(func(row func(store.Scan) error, query string, args ...any) error {
			rows, err := tx.QueryContext(ctx, query, args...)
			if err != nil {
				return err
			}
			return scanAll(rows, func(rows *sql.Rows) error { return row(rows.Scan) })
		}, func(query string, args ...any) error {
			_, err := tx.ExecContext(ctx, query, args...)
			return err
		})
	})
}

// among is the condition to be one of some hashes.
func among(hashes []model.Hash, _ int) (condition string, args []any) {
	for i := range hashes {
		args = append(args, hashes[i][:])
	}
	return `IN (?` + strings.Repeat(",?", len(hashes)-1) + `)`, args
}
