package address

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/postgres"
	"github.com/orbench/orbench/internal/store/sqlite"
	"github.com/orbench/orbench/internal/untrusted"
)

// IsFile reports whether an address names a file; else it names a database of a server.
func IsFile(address string) bool { return !postgres.Is(address) }

// Shown is an address, or a word of a command line that has one, fit to be shown: without
// its password.
func Shown(text string) string { return untrusted.Shown(text) }

// Open opens the store at an address, and makes the store where there is none. An
// address that names no store, and cannot, is an *orbench.InputError.
func Open(ctx context.Context, address string) (*store.Store, error) {
	if !IsFile(address) {
		return opened(postgres.Open(ctx, address))
	}
	return opened(sqlite.Open(ctx, address))
}

// OpenExisting is Open for a store that must be there: it makes none, and its error
// is store.ErrNoStore where there is none.
func OpenExisting(ctx context.Context, address string) (*store.Store, error) {
	if !IsFile(address) {
		return opened(postgres.OpenExisting(ctx, address))
	}
	return opened(sqlite.OpenExisting(ctx, address))
}

func opened[S store.Backend](s S, err error) (*store.Store, error) {
	if err != nil {
		return nil, err
	}
	return store.New(s), nil
}

// Create makes a new store of what fill puts into it, as one file, whole or not at all.
// A file that is there already is an *orbench.InputError.
func Create(ctx context.Context, address string, fill func(*store.Store) error) error {
	return draft(address, func(draft string) error {
		m, err := Open(ctx, draft)
		if err != nil {
			return err
		}
		return errors.Join(fill(m), m.Close())
	})
}

// onlyFiles is the error for a database where only a file will do.
func onlyFiles(address, problem, hint string) error {
	if IsFile(address) {
		return nil
	}
	return &orbench.InputError{File: Shown(address), Problem: problem, Hint: hint}
}

// draft has a new file made beside its place, and moves it there when it is whole.
func draft(address string, make func(draft string) error) error {
	if err := onlyFiles(address, "is a database, but a new file is needed",
		"name a file; orbench store import copies a file into the database: orbench store import FILE `store` "+untrusted.Shell(Shown(address))); err != nil {
		return err
	}
	if _, err := os.Lstat(address); !errors.Is(err, fs.ErrNotExist) {
		return &orbench.InputError{File: address, Problem: "is there already", Hint: "name a new file", Err: err}
	}
	draft := address + ".partial"
	if err := sqlite.Remove(draft); err != nil {
		return err
	}
	if err := make(draft); err != nil {
		return errors.Join(err, sqlite.Remove(draft))
	}
	return os.Rename(draft, address)
}

// Check reads all of the store at an address, and tells what is damaged. See Check of the
// package of its kind.
func Check(ctx context.Context, address string) (h store.Health, err error) {
	if !IsFile(address) {
		s, err := postgres.OpenExisting(ctx, address)
		if err != nil {
			return h, err
		}
		h, err = s.Check(ctx)
		return h, errors.Join(err, s.Close())
	}
	if _, err := os.Stat(address); errors.Is(err, fs.ErrNotExist) {
		return store.Health{}, store.ErrNoStore
	}
	return sqlite.Check(ctx, address)
}

// Backup copies the store at an address to a new file, as it is at one moment, while
// others may write to it. It checks the copy, and tells what is damaged.
func Backup(ctx context.Context, address, to string) (h store.Health, err error) {
	if err := onlyFiles(address, "is a database; its server backs it up",
		"use pg_dump, or copy what it holds to a file with orbench store merge "+untrusted.Shell(Shown(address))+" `out` FILE"); err != nil {
		return h, err
	}
	s, err := sqlite.OpenExisting(ctx, address)
	if err != nil {
		return h, err
	}
	err = draft(to, func(draft string) error {
		if err := s.Backup(ctx, draft); err != nil {
			return err
		}
		h, err = sqlite.Check(ctx, draft)
		return err
	})
	return h, errors.Join(err, s.Close())
}

// Vacuum packs the store at an address into one file, as small as possible. The store
// must not be in use.
func Vacuum(ctx context.Context, address string) error {
	if err := onlyFiles(address, "is a database; its server packs it", "its autovacuum does this"); err != nil {
		return err
	}
	s, err := sqlite.OpenExisting(ctx, address)
	if err != nil {
		return err
	}
	return errors.Join(s.Vacuum(ctx), s.Close())
}

// OpenReading is OpenExisting for a command that shows or copies what is there. Damaged rows
// of a file are left out, and tell is called at the first of them. Of a database nothing is
// left out: what is damaged is store.ErrDamaged.
func OpenReading(ctx context.Context, address string, tell func()) (*store.Store, error) {
	if !IsFile(address) {
		return OpenExisting(ctx, address)
	}
	s, err := sqlite.OpenExisting(ctx, address)
	if err != nil {
		return nil, err
	}
	if err := s.Tolerate(ctx, tell); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return store.New(s), nil
}
