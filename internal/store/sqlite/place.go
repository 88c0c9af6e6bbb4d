package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/orbench/orbench/internal/store"
)

// filesAt looks at the file of a store and at its log, which is nil if it is not there yet.
// The log is looked at first, since it is deleted after the file: if it is gone, the file is.
func filesAt(path string) (database, log fs.FileInfo, err error) {
	if log, err = os.Stat(path + "-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	database, err = os.Stat(path)
	return database, log, err
}

// inPlace says what became of the files of the store, nil where they are those that were
// opened. What is written to others is lost when the last process closes them.
func (s *Store) inPlace() error {
	database, log, err := filesAt(s.abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: the file was deleted", store.ErrGone)
	case err != nil:
		return err
	case !os.SameFile(database, s.database):
		return fmt.Errorf("%w: another file is in its place", store.ErrGone)
	case s.log != nil && (log == nil || !os.SameFile(log, s.log)):
		return fmt.Errorf("%w: its log (-wal) was deleted", store.ErrGone)
	}
	return nil
}

// written ends each transaction that adds something: it has the log copied in time, and
// sees that what was written can be found. Where it cannot, all that the store holds is
// copied to a new file, for the deleted one can be read as long as it is open.
func (s *Store) written(ctx context.Context) error {
	if s.database == nil {
		return nil // a file that is being made
	}
	s.wrote.Store(true)
	if !s.copies.Swap(true) {
		time.AfterFunc(s.copyAfter, s.checkpoint)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.saved == nil {
		gone := s.inPlace()
		if !errors.Is(gone, store.ErrGone) {
			return gone
		}
		var err error
		if s.saved, err = s.save(context.WithoutCancel(ctx)); err != nil {
			return fmt.Errorf("%s: %w, and its content cannot be saved: %w", s.path, gone, err)
		}
		s.gone = fmt.Errorf("%s: %w; its content and the answers under way are saved in %s: continue with that file, or move it back",
			s.path, gone, s.saved.path)
	}
	return s.gone
}

// save copies the store to a new file beside it, or among temporary files where its folder is
// gone too or has such a file.
func (s *Store) save(ctx context.Context) (*Store, error) {
	ending := filepath.Ext(s.abs)
	path := strings.TrimSuffix(s.abs, ending) + "-saved" + ending
	if err := copyInto(ctx, s.write, path); err != nil {
		dir, failed := os.MkdirTemp("", "orbench-store-")
		path = filepath.Join(dir, filepath.Base(path))
		if failed == nil {
			failed = copyInto(ctx, s.write, path)
		}
		if failed != nil {
			return nil, errors.Join(err, failed)
		}
	}
	return Open(ctx, path)
}

// savedTo is the store to which this one was saved, nil while it is in place.
func (s *Store) savedTo() *Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.saved
}

// copyAfter is how long a row may lie in the log alone. The hashes of rows fall on all
// pages of their index alike, so copying often would write each page again and again.
const copyAfter = 15 * time.Second

// checkpoint copies the log to the database, as far as readers let it, so that the file
// alone holds nearly everything.
func (s *Store) checkpoint() {
	s.copies.Store(false)
	// What is not copied stays in the log, where every reader finds it.
	_, _ = s.write.ExecContext(context.Background(), `PRAGMA wal_checkpoint(PASSIVE)`)
}

// leave ends the work of a handle: others may make what it held.
func (s *Store) leave(ctx context.Context) error {
	if !s.wrote.Load() {
		return nil
	}
	told := s.savedTo() != nil
	err := cmp.Or(s.releaseAll(ctx), s.written(ctx))
	s.wrote.Store(false)
	s.checkpoint()
	if told {
		err = nil
	}
	if saved := s.savedTo(); saved != nil {
		err = errors.Join(err, saved.Close())
	}
	return err
}

// hasLog reports whether rows lie in the log beside a store.
func hasLog(path string) bool {
	info, err := os.Stat(path + "-wal")
	return err == nil && info.Size() > 0
}
