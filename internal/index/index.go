package index

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/sqlite"
)

// Index is what was derived from a store, in a file. All methods of a nil Index, and of one
// whose file failed, work without. It is safe for concurrent use.
type Index struct {
	path string
	// id is that of the store.
	id string
	// say reports to the user what is done about a file that fails.
	say func(format string, args ...any)

	// writing is held by who writes, which can take as long as a walk: this process waits for
	// itself, but not for others.
	writing sync.Mutex

	mu sync.Mutex
	db *sql.DB
}

const (
	// applicationID marks the file as an index: "orbi".
	applicationID = 0x6f726269
	// format is the version of the tables. Another is thrown away.
	format = 3
	// mostConnections is how many read at once; one of them can be writing.
	mostConnections = 4
)

// schema makes the tables, where there is none.
const schema = `
CREATE TABLE meta (
    store TEXT NOT NULL, -- its ID
    marks TEXT NOT NULL  -- JSON of store.Marks, the last first
) STRICT;

-- The figures of runs.
CREATE TABLE figures (
    key     BLOB PRIMARY KEY, -- see keyOf
    study   TEXT NOT NULL,    -- the name of the run
    lacking BLOB NOT NULL,    -- see basis
    failed  BLOB NOT NULL,
    said    BLOB NOT NULL,    -- the digest of the annotations
    figures BLOB NOT NULL,    -- JSON of keptFigures
    sum     INTEGER NOT NULL  -- store.Checksum of all but study
) STRICT;

-- The rows of runs: what they have in common, and their columns in pieces.
CREATE TABLE studies (
    id      INTEGER PRIMARY KEY,  -- random: whoever reads rows that are gone finds none
    name    TEXT NOT NULL UNIQUE, -- of the run
    key     BLOB NOT NULL,
    lacking BLOB NOT NULL,
    failed  BLOB NOT NULL,
    about   BLOB NOT NULL,    -- JSON of about
    sum     INTEGER NOT NULL, -- store.Checksum of key, lacking, failed and about
    texts   INTEGER NOT NULL DEFAULT 0 -- how many are found by their words
) STRICT;
CREATE TABLE columns (
    study INTEGER NOT NULL,
    name  TEXT NOT NULL,
    piece INTEGER NOT NULL,
    data  BLOB NOT NULL,
    sum   INTEGER NOT NULL, -- store.Checksum of the study's key, name and data
    PRIMARY KEY (study, name, piece)
) STRICT;

-- Which texts have which words: blocks of words in order, each with its list of texts.
CREATE TABLE words (
    study   INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    first   BLOB NOT NULL,    -- the first word
    data    BLOB NOT NULL,    -- see segment.write
    sum     INTEGER NOT NULL, -- store.Checksum of the study's key, first and data
    PRIMARY KEY (study, segment, first)
) STRICT;
`

// Open opens the index of a store in the first of some files that can be written to, and
// makes it where there is none, or one of another store, of another format, or of a later
// time than the store. It gives nil if there can be no index, and never fails; say reports
// why.
func Open(ctx context.Context, paths []string, m store.Reader, say func(format string, args ...any)) *Index {
	id, err := m.ID(ctx)
	if err != nil {
		return nil // who reads the store tells of it
	}
	for _, path := range paths {
		x := &Index{path: path, id: id, say: say}
		for attempt := range 2 {
			err := x.open(ctx, m)
			if err == nil {
				return x
			}
			x.Close()
			if sqlite.Busy(err) {
				say("another process is writing %s, so this command does not save its figures there", path)
				return nil
			}
			if attempt > 0 || !isDamage(err) {
				break
			}
			say("%s is damaged and is made again; it holds only figures that can be computed again", path)
			if sqlite.Remove(path) != nil {
				break
			}
		}
	}
	return nil
}

// Remove deletes the file of an index, if there is one.
func Remove(path string) error { return sqlite.Remove(path) }

// open opens the file, and sees that it is of the store.
func (x *Index) open(ctx context.Context, m store.Reader) error {
	if err := os.MkdirAll(filepath.Dir(x.path), 0o700); err != nil {
		return err
	}
	// Another process that writes is not waited for: there is always a way without. A file
	// that a crash of the machine damages is thrown away, so commits are not waited for.
	dsn := "file:" + (&url.URL{Path: x.path}).EscapedPath() +
		"?_pragma=busy_timeout(250)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=cache_size(-2000)&_pragma=journal_size_limit(16000000)&_txlock=immediate"
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return err
	}
	x.db = db
	// Each connection has memory of its own. Whoever holds one never waits for another.
	db.SetMaxOpenConns(mostConnections)
	db.SetMaxIdleConns(mostConnections)
	var id, version int
	const query = `SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version)`
	if err := db.QueryRowContext(ctx, query).Scan(&id, &version); err != nil {
		return err
	}
	if id != 0 && id != applicationID {
		return fmt.Errorf("%s is a file of another program", x.path)
	}
	if version == format {
		ok, err := x.valid(ctx, m, db)
		if ok || err != nil {
			return err
		}
	}
	return x.write(ctx, m, func(*sql.Tx) error { return nil })
}

// querier is a database, or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// valid reports whether the file is of this store, which has only grown since.
func (x *Index) valid(ctx context.Context, m store.Reader, q querier) (bool, error) {
	var id, text string
	if err := q.QueryRowContext(ctx, `SELECT store, marks FROM meta`).Scan(&id, &text); err != nil {
		return false, err
	}
	var marks []store.Mark
	if id != x.id || json.Unmarshal([]byte(text), &marks) != nil {
		return false, nil
	}
	rows := make([]int64, len(marks))
	for i := range marks {
		rows[i] = marks[i].Row
	}
	now, err := m.Marks(ctx, rows)
	return err == nil && slices.Equal(marks, now), err
}

// marksOf gives marks of the store's last call and of calls ever further before it. A store
// that was replaced by an older copy has other marks, even if it has since grown past the
// last one.
func marksOf(ctx context.Context, m store.Reader) ([]store.Mark, error) {
	last, err := m.Marks(ctx, []int64{math.MaxInt64})
	if err != nil || last[0].Row == 0 {
		return nil, err
	}
	rows := []int64{last[0].Row}
	for back := int64(1); back < last[0].Row; back *= 2 {
		rows = append(rows, last[0].Row-back)
	}
	return m.Marks(ctx, rows)
}

// write changes the file in one transaction, which it makes anew first if it is no longer
// that of the store.
func (x *Index) write(ctx context.Context, m store.Reader, do func(*sql.Tx) error) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	marks, err := marksOf(ctx, m)
	if err != nil {
		return err
	}
	text, err := json.Marshal(marks)
	if err != nil {
		return err
	}
	db := x.usable()
	if db == nil {
		return nil
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	var version int
	if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return err
	}
	ok := version == format
	if ok {
		if ok, err = x.valid(ctx, m, tx); err != nil {
			return err
		}
	}
	if !ok {
		if err := x.remake(ctx, tx); err != nil {
			return err
		}
	}
	if err := do(tx); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE meta SET marks = ?`, string(text)); err != nil {
		return err
	}
	return tx.Commit()
}

// remake throws all tables away and makes them again.
func (x *Index) remake(ctx context.Context, tx *sql.Tx) error {
	var drop string
	const tables = `SELECT coalesce(group_concat('DROP TABLE "' || name || '";', ''), '') FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`
	if err := tx.QueryRowContext(ctx, tables).Scan(&drop); err != nil {
		return err
	}
	set := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, format)
	for _, query := range []string{drop, schema, set} {
		if _, err := tx.ExecContext(ctx, query); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO meta (store, marks) VALUES (?, '[]')`, x.id)
	return err
}

// usable gives the database, nil if the index works without one.
func (x *Index) usable() *sql.DB {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.db
}

// ErrGone means that the rows of a Study no longer exist: another process made them anew,
// or the file was deleted. Index.Study gives the present ones.
var ErrGone = errors.New("the rows were made anew")

// errDamaged means that something in the file is not what was written.
var errDamaged = errors.New("a row is not what was written")

// fail goes on without the index after an error of its file, and says so.
func (x *Index) fail(ctx context.Context, err error) {
	switch {
	case err == nil, ctx.Err() != nil, errors.Is(err, ErrGone):
		return
	case isDamage(err):
		x.say("%s was damaged and deleted; it holds only figures that can be computed again (%v)", x.path, err)
		x.Close()
		err = sqlite.Remove(x.path)
	case sqlite.Busy(err):
		x.say("another process is writing %s, so this command does not save its figures there", x.path)
		err = nil
	}
	if err != nil {
		x.say("%s is not used: %v", x.path, err)
		x.Close()
	}
}

// isDamage reports whether an error says that the file is not what was written.
func isDamage(err error) bool { return errors.Is(err, errDamaged) || sqlite.Corrupt(err) }

// Close closes the file.
func (x *Index) Close() error {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	db := x.db
	x.db = nil
	if db == nil {
		return nil
	}
	return db.Close()
}

// program identifies the build of this program, since another may derive other values. ok
// is false if the build is unknown.
var program = sync.OnceValues(func() (name string, ok bool) {
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Sum != "" {
		return runtime.GOARCH + " " + info.Main.Version, true
	}
	revision, modified := "", true
	if ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				revision = s.Value
			case "vcs.modified":
				modified = s.Value != "false"
			}
		}
	}
	if revision != "" && !modified {
		return runtime.GOARCH + " " + revision, true
	}
	path, err := os.Executable()
	if err != nil {
		return "", false
	}
	file, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	return fmt.Sprintf("%s %d %d", path, file.Size(), file.ModTime().UnixNano()), true
})

// digest is the hash of some values in JSON.
func digest(values ...any) [sha256.Size]byte {
	b, err := json.Marshal(values)
	if err != nil {
		panic(err) // they are texts, numbers and bytes
	}
	return sha256.Sum256(b)
}
