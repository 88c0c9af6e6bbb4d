package sqlite

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"net/url"

	"github.com/orbench/orbench/internal/store"
	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// open opens a database of which nothing is trusted but what the callers compare: its
// schema runs no function, no statement writes to it but by tables, no file is attached,
// and no value is read that is larger than store.MaxValue.
func open(abs, more string, conns int) (*sql.DB, error) {
	dsn := "file:" + (&url.URL{Path: abs}).EscapedPath() +
		"?_defensive=1&_pragma=trusted_schema(0)&_pragma=busy_timeout(30000)" + more
	connector, err := driver.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(bounded{connector})
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// bounded sets the limits of each connection, for which the driver has no word in an address.
type bounded struct{ sqldriver.Connector }

// Connect opens a connection.
func (b bounded) Connect(ctx context.Context) (sqldriver.Conn, error) {
	c, err := b.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	// The driver sets limits of a connection of database/sql alone.
	db := sql.OpenDB(lent{c})
	conn, err := db.Conn(ctx)
	if err == nil {
		_, length := driver.Limit(conn, codes.SQLITE_LIMIT_LENGTH, store.MaxValue)
		_, attached := driver.Limit(conn, codes.SQLITE_LIMIT_ATTACHED, 0)
		err = errors.Join(length, attached, conn.Close())
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// lent is a connection that stays open where a pool closes it, and a way to connect to it.
type lent struct{ sqldriver.Conn }

func (l lent) Connect(context.Context) (sqldriver.Conn, error) { return l, nil }
func (lent) Driver() sqldriver.Driver                          { return nil }
func (lent) Close() error                                      { return nil }

// Unwrap is the connection, for the driver.
func (l lent) Unwrap() sqldriver.Conn { return l.Conn }

// code is that of the database's error in err, 0 for none. What it says beside its kind is
// in the higher bits.
func code(err error) int {
	if failed, ok := errors.AsType[*driver.Error](err); ok {
		return failed.Code()
	}
	return 0
}

// Corrupt reports whether an error says that the database cannot make a file out.
func Corrupt(err error) bool {
	c := code(err)
	return c&0xff == codes.SQLITE_CORRUPT || c&0xff == codes.SQLITE_NOTADB || c == codes.SQLITE_IOERR_SHORT_READ
}

// notDatabase reports whether an error says that a file is none of a database, and isFull
// whether it says that the disk is full.
func notDatabase(err error) bool { return code(err)&0xff == codes.SQLITE_NOTADB }
func isFull(err error) bool      { return code(err)&0xff == codes.SQLITE_FULL }

// tooLarge reports whether an error says that a value is larger than store.MaxValue.
func tooLarge(err error) bool { return code(err)&0xff == codes.SQLITE_TOOBIG }

// Busy reports whether an error says that another process writes the file.
func Busy(err error) bool { return code(err)&0xff == codes.SQLITE_BUSY }

// isDamage reports whether an error tells of a damaged file.
func isDamage(err error) bool { return Corrupt(err) || errors.Is(err, store.ErrDamaged) }

// cannotWrite reports whether a store could not be opened because it, or its folder,
// cannot be written to: SQLite wants to make files beside it.
func cannotWrite(err error) bool {
	c := code(err) & 0xff
	return c == codes.SQLITE_READONLY || c == codes.SQLITE_CANTOPEN || c == codes.SQLITE_PERM
}
