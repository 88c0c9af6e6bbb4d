package index

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	sqldriver "database/sql/driver"
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

	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/sqlite"
	driver "modernc.org/sqlite"
)

// Index is what was derived from a store, in a file. All methods of a nil Index, and of one
// whose file failed, work without. It is safe for concurrent use.
type Index struct {
	// path is that of the file, in a folder of its own.
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

	// last are the runs of the figures that were last read for a target; see keptRuns.
	last struct {
		sync.Mutex
		of   string
		runs []score.RunResult
	}
}

// mostConnections is how many read at once; one of them can be writing.
const mostConnections = 4

// schema makes the tables. A file that has others is thrown away, so whoever changes what a
// table holds changes its text too.
const schema = `CREATE TABLE meta (
    store TEXT NOT NULL, -- its ID
    marks TEXT NOT NULL  -- JSON of store.Marks, the last first
) STRICT;
CREATE TABLE figures ( -- The figures of runs.
    key     BLOB PRIMARY KEY, -- see keyOf
    study   TEXT NOT NULL,    -- the name of the run
    lacking BLOB NOT NULL,    -- see basis
    failed  BLOB NOT NULL,
    said    BLOB NOT NULL,    -- the digests of the annotations; see saidOf
    figures BLOB NOT NULL,    -- JSON of keptFigures
    sum     INTEGER NOT NULL  -- store.Checksum of all but study
) STRICT;
CREATE TABLE studies ( -- The rows of runs: what they have in common, and their columns in pieces.
    id      INTEGER PRIMARY KEY,  -- random: whoever reads rows that are gone finds none
    name    TEXT NOT NULL UNIQUE, -- of the run
    key     BLOB NOT NULL,
    lacking BLOB NOT NULL,
    failed  BLOB NOT NULL,
    about   BLOB NOT NULL,    -- JSON of about, with what rows are counted by
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
CREATE TABLE words ( -- Which texts have which words: blocks of words in order, each with its list of texts.
    study   INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    first   BLOB NOT NULL,    -- the first word
    data    BLOB NOT NULL,    -- see segment.write
    sum     INTEGER NOT NULL, -- store.Checksum of the study's key, first and data
    PRIMARY KEY (study, segment, first)
) STRICT`

// errUnfit means that a file is not one that this program made for the store.
var errUnfit = errors.New("it was not made for this store as it is")

// Open opens the index of a store that lies at a place, in a folder of indexes, and makes it
// where there is none, or none that fits; see the package. It gives nil if there can be no
// index, and never fails; say reports why.
func Open(ctx context.Context, dir, place string, m store.Reader, say func(format string, args ...any)) *Index {
	id, err := m.ID(ctx)
	if err != nil {
		return nil // who reads the store tells of it
	}
	x := &Index{id: id, say: say}
	if dir, err = folder(dir); err == nil {
		x.path = filepath.Join(dir, nameOf(id)+"-"+nameOf(place), "index.db")
		if err = x.connect(ctx, place, m); isDamage(err) {
			x.fail(ctx, err)
			err = x.connect(ctx, place, m)
		}
	}
	if err != nil {
		x.fail(ctx, err)
		x.Close()
		return nil
	}
	// What cannot be deleted does no harm.
	_ = remove(dir, func(name string) bool { return needless(filepath.Join(dir, name)) })
	return x
}

// connect opens the file, and sees that it fits.
func (x *Index) connect(ctx context.Context, place string, m store.Reader) error {
	if err := x.makeFiles(place); err != nil {
		return err
	}
	// Another process that writes is not waited for: there is always a way without. A file
	// that a crash of the machine damages is thrown away, so commits are not waited for.
	dsn := "file:" + (&url.URL{Path: x.path}).EscapedPath() + "?mode=rw&_defensive=1&_pragma=trusted_schema(0)" +
		"&_pragma=busy_timeout(250)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=cache_size(-2000)&_pragma=journal_size_limit(16000000)&_txlock=immediate"
	to, err := driver.NewConnector(dsn)
	if err != nil {
		return err
	}
	db := sql.OpenDB(alone{to})
	x.db = db
	// Each connection has memory of its own. Whoever holds one never waits for another.
	db.SetMaxOpenConns(mostConnections)
	db.SetMaxIdleConns(mostConnections)
	found, err := tables(ctx, db)
	switch {
	case err != nil:
		return err
	case found == "":
		return x.write(ctx, m, func(*sql.Tx) error { return nil })
	}
	return x.fits(ctx, m, db)
}

// alone makes connections that attach no other file.
type alone struct{ sqldriver.Connector }

// Connect makes one.
func (a alone) Connect(ctx context.Context) (sqldriver.Conn, error) {
	c, err := a.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return c, c.(driver.AuthorizerRegisterer).RegisterAuthorizer(func(action driver.AuthorizerActionCode, _, _, _, _ string) driver.AuthorizerReturnCode {
		if action == driver.AuthAttach {
			return driver.AuthorizerDeny
		}
		return driver.AuthorizerOK
	})
}

// querier is a database, or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// tables gives what made all that the file has, tables or not.
func tables(ctx context.Context, q querier) (text string, err error) {
	err = q.QueryRowContext(ctx, `SELECT coalesce(group_concat(sql, char(59, 10) ORDER BY rowid), '') FROM sqlite_schema`).Scan(&text)
	return text, err
}

// fits gives errUnfit where the file is not what this program makes for this store, or the
// store has not only grown since.
func (x *Index) fits(ctx context.Context, m store.Reader, q querier) error {
	var id, text string
	if found, err := tables(ctx, q); err != nil || found != schema {
		return cmp.Or(err, errUnfit)
	}
	if err := q.QueryRowContext(ctx, `SELECT coalesce(max(store), ''), coalesce(max(marks), '') FROM meta`).Scan(&id, &text); err != nil {
		return err
	}
	var marks []store.Mark
	if id != x.id || json.Unmarshal([]byte(text), &marks) != nil {
		return errUnfit
	}
	rows := make([]int64, len(marks))
	for i := range marks {
		rows[i] = marks[i].Row
	}
	now, err := m.Marks(ctx, rows)
	if err == nil && !slices.Equal(marks, now) {
		err = errUnfit
	}
	return err
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

// write changes the file in one transaction, if it still fits, and makes the tables of a new
// one.
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
	found, err := tables(ctx, tx)
	if err == nil && found == "" {
		_, err = tx.ExecContext(ctx, schema+`; INSERT INTO meta (store, marks) VALUES (?, '[]')`, x.id)
	}
	if err == nil {
		err = x.fits(ctx, m, tx)
	}
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE meta SET marks = ?`, string(text)); err != nil {
		return err
	}
	return tx.Commit()
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
	case err == nil, ctx.Err() != nil, errors.Is(err, ErrGone), errors.Is(err, sql.ErrNoRows):
		return
	case isDamage(err):
		x.say("%s is deleted: %v; it has only figures that can be derived again", x.path, err)
		x.Close()
		err = os.RemoveAll(filepath.Dir(x.path))
	case sqlite.Busy(err):
		x.say("another process is writing %s, so this command does not save its figures there", x.path)
		err = nil
	}
	if err != nil {
		x.say("there is no index, so each command derives all figures again: %v; ORBENCH_INDEX names a folder for it", err)
		x.Close()
	}
}

// isDamage reports whether an error says that the file is not what this program wrote.
func isDamage(err error) bool {
	return errors.Is(err, errDamaged) || errors.Is(err, errUnfit) || sqlite.Corrupt(err)
}

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
