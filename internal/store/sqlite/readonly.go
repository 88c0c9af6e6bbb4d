package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
)

// notWritable is the error for a store that must be written to.
func notWritable(path string, err error) error {
	return &orbench.InputError{
		File: path, Problem: "the store, or its folder, cannot be written to: " + err.Error(),
		Hint: "copy it to a writable place with orbench store backup, or name another with `store`", Err: errors.Join(store.ErrReadOnly, err),
	}
}

// readOnly is the part of an address that has the database only read a file. Of one that
// cannot be written to, it leaves out what lies in the log: that takes a file beside it.
func readOnly(abs string) string {
	if file, err := os.OpenFile(abs, os.O_RDWR, 0); err == nil {
		file.Close()
		return "&mode=ro"
	}
	return "&mode=ro&immutable=1"
}

// openReadOnly opens a store that cannot be written to. One of an older version, and one
// with a log beside it, are read from a copy: its rows lie in both files, and reading
// them makes another.
func openReadOnly(ctx context.Context, path string) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	const mode = "&mode=ro&immutable=1"
	s := newStore(path, abs)
	version, err := s.check(ctx, abs, mode)
	if err != nil {
		return nil, err
	}
	if version < len(migrations) || logSize(abs) > 0 {
		return openCopy(ctx, path)
	}
	if err := s.connect(ctx, mode, "", version); err != nil {
		return nil, err
	}
	return s, nil
}

// openCopy opens a copy of a store, which is deleted when it is closed.
func openCopy(ctx context.Context, path string) (*Store, error) {
	dir, err := os.MkdirTemp("", "orbench-store-")
	if err != nil {
		return nil, err
	}
	to := filepath.Join(dir, filepath.Base(path))
	for _, ending := range []string{"", "-wal"} {
		if err := copyFile(to+ending, path+ending); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(fmt.Errorf("copy %s, which cannot be written to: %w", path, err), os.RemoveAll(dir))
		}
	}
	s, err := Open(ctx, to)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s.path, s.copied, s.notes = path, dir, nil
	if size := logSize(path); size > 0 {
		s.notes = []string{fmt.Sprintf("%s-wal (%d KB) lies beside the store: a command was killed, or is still running. Its content is read too; a copy of the store needs both files",
			path, kilobytes(size))}
	}
	// What is written to the copy would be lost.
	if _, err := s.write.ExecContext(ctx, `PRAGMA query_only = 1`); err != nil {
		return nil, errors.Join(s.at(err), s.Close())
	}
	return s, nil
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
