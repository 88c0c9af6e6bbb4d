package sqlite

import (
	"errors"

	"github.com/orbench/orbench/internal/store"
	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

// code is that of the database's error in err, 0 for none. What it says beside its kind is
// in the higher bits.
func code(err error) int {
	var failed *driver.Error
	if errors.As(err, &failed) {
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
