package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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

// readOnly is the part of an address for who only reads a file. Of one that
// cannot be written to, it leaves out what lies in the log: that takes a file beside it. Where
// there is a log, nothing copies it to the file, and where there is none, nothing is left
// beside it.
func readOnly(abs string) string {
	file, err := os.OpenFile(abs, os.O_RDWR, 0)
	if err != nil {
		return "&mode=ro&immutable=1"
	}
	file.Close()
	if hasLog(abs) {
		return "&mode=ro"
	}
	return "&mode=rw"
}

// openReadOnly opens a store that is only read; refused is the error for who would write to
// it. One of an older version, and one with a log beside it that cannot be written to, are
// read from a copy: its rows lie in both files, and reading them makes another.
func openReadOnly(ctx context.Context, path string, refused error) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	mode := readOnly(abs)
	s := newStore(path, abs)
	s.refused = refused
	version, err := s.check(ctx, abs, mode)
	if err != nil {
		return nil, err
	}
	if version < len(migrations) || strings.Contains(mode, "immutable") && hasLog(abs) {
		if len(s.extra) > 0 {
			return nil, s.notOurs()
		}
		return openCopy(ctx, path, refused)
	}
	if len(s.extra) > 0 {
		s.notes = []string{path + ": " + s.foreignParts() + "; it is only read"}
	}
	return s, s.connect(ctx, mode, "&_pragma=query_only(1)", version)
}

// openCopy opens a copy of a store, which is deleted when it is closed.
func openCopy(ctx context.Context, path string, refused error) (*Store, error) {
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
	s.path, s.copied, s.notes, s.refused = path, dir, nil, refused
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
