package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"sync"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/untrusted"
)

// damaged is the error for a store that the database cannot read.
func damaged(path string, err error) error {
	return &orbench.InputError{
		File: path, Problem: "the store is damaged: " + err.Error(),
		Hint: "count what is lost with orbench store check. " + store.SaveRest(untrusted.Shell(path)), Err: errors.Join(store.ErrDamaged, err),
	}
}

// Check reads all of the store at path and tells what is damaged. Nothing is written to
// path. A file that is no store is an *orbench.InputError.
func Check(ctx context.Context, path string) (h store.Health, err error) {
	s, err := openReadOnly(ctx, path, nil)
	if errors.Is(err, store.ErrDamaged) {
		return store.Health{Kinds: []store.KindHealth{}, Faults: []string{err.Error()}}, nil
	}
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if h, err = s.Tables.Check(ctx); err != nil {
		return h, err
	}
	if len(s.extra) > 0 {
		h.Faults = append(h.Faults, s.foreignParts())
	}
	err = s.integrity(ctx, "1")
	if isDamage(err) {
		h.Faults, err = append(h.Faults, err.Error()), nil
	}
	return h, s.at(err)
}

// integrity asks the database for the first fault in the structure of the file, or of one
// table. A fault is store.ErrDamaged.
func (s *Store) integrity(ctx context.Context, what string) error {
	var fault string
	err := s.readers.QueryRowContext(ctx, "PRAGMA integrity_check("+what+")").Scan(&fault)
	if err != nil || fault == "ok" {
		return err
	}
	return store.Damage(strings.TrimPrefix(fault, "*** in database main ***\n"))
}

// Verify asks the database whether tables and their indexes list the same rows, in their
// order. Where they do not, the error is store.ErrDamaged.
func (s *Store) Verify(ctx context.Context, tables ...string) error {
	for _, table := range tables {
		if err := s.integrity(ctx, table); err != nil {
			return s.at(err)
		}
	}
	return nil
}

// Tolerate has lists leave out damaged rows, and tell called for the first of them. A row
// that its table no longer has is damage of an index; it is looked for here in the tables
// that are listed, and in the calls once one is not found.
func (s *Store) Tolerate(ctx context.Context, tell func()) error {
	s.Tables.Tolerate(tell)
	s.verifyCalls = sync.OnceValue(func() error { return s.Verify(context.WithoutCancel(ctx), "calls") })
	return s.Verify(ctx, "runs", "datasets", "annotations", "failures")
}

// Backup copies the store to a new file at to, as it is at one moment: others may write
// to it meanwhile.
func (s *Store) Backup(ctx context.Context, to string) error {
	if len(s.extra) > 0 {
		return s.refused
	}
	if err := copyInto(ctx, s.readers, to); err != nil {
		return s.at(err)
	}
	file, err := os.OpenFile(to, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// copyInto copies what a database holds to a new file.
func copyInto(ctx context.Context, db *sql.DB, to string) error {
	if err := create(to); err != nil {
		return err
	}
	if err := vacuum(ctx, db, `VACUUM INTO ?`, to); err != nil {
		return err
	}
	made, err := open(to, "", 1)
	if err != nil {
		return err
	}
	// Nobody is at work in the copy.
	_, err = made.ExecContext(ctx, `DELETE FROM claims; UPDATE shares SET until = 0`)
	return errors.Join(err, made.Close())
}

// vacuum does a statement that attaches a file of its own, which no other statement may.
func vacuum(ctx context.Context, db *sql.DB, statement string, args ...any) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	_, err = driver.Limit(conn, codes.SQLITE_LIMIT_ATTACHED, 1)
	if err == nil {
		_, err = conn.ExecContext(ctx, statement, args...)
	}
	_, back := driver.Limit(conn, codes.SQLITE_LIMIT_ATTACHED, 0)
	return errors.Join(err, back, conn.Close())
}

// Vacuum packs the store into as little space as it needs, in one file. What was deleted is
// in no file of the store then.
func (s *Store) Vacuum(ctx context.Context) error {
	if err := vacuum(ctx, s.write, "VACUUM"); err != nil {
		return s.at(err)
	}
	var busy, pages, copied int
	if err := s.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &copied); err != nil {
		return s.at(err)
	}
	if busy != 0 {
		return &orbench.InputError{File: s.path, Problem: "another command reads the store, so its log of writes could not be emptied", Hint: "end that command, and run this one again"}
	}
	return nil
}
