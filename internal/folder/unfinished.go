package folder

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/orbench/orbench"
)

// unfinishedSuffix is the ending of the mark beside a file that lacks something.
const unfinishedSuffix = ".unfinished.json"

// File is a file that appears whole. Its owner alone may read it, unless it replaces one that
// others may read. It is not safe for concurrent use.
type File struct {
	path  string
	draft *os.File
	held  *os.File // says that the draft is being written
	of    Subject
}

// VacantFile returns an *orbench.InputError if path exists, unless the same subject left
// it unfinished and it has not changed since.
func VacantFile(path string, of Subject) error {
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	m := readMark(path + unfinishedSuffix)
	problem := "the file exists already"
	if (m.Subject != Subject{}) {
		problem = m.differs(of, filepath.Dir(path), []string{filepath.Base(path)})
	}
	if problem == "" {
		return nil
	}
	return &orbench.InputError{File: path, Problem: problem, Hint: "name a new one"}
}

// CreateFile begins a file. An existing file that fails VacantFile, or one that cannot be
// made, is an *orbench.InputError. The caller must call Finish or Discard.
func CreateFile(path string, of Subject) (*File, error) {
	if err := VacantFile(path, of); err != nil {
		return nil, err
	}
	f := &File{path: path, of: of}
	_, held, err := begin(filepath.Dir(path), func() (string, error) {
		_ = f.draft.Close() // that of another try
		var err error
		if f.draft, err = os.CreateTemp(filepath.Dir(path), draftPattern(filepath.Base(path))); err != nil {
			return "", err
		}
		return f.draft.Name(), nil
	})
	if err != nil {
		return nil, &orbench.InputError{File: path, Problem: "cannot make the file: " + err.Error(), Hint: "name a new one"}
	}
	f.held = held
	return f, nil
}

// Write writes to the file.
func (f *File) Write(b []byte) (int, error) { return f.draft.Write(b) }

// Finish puts the file in its place. An unfinished file may be replaced by the next file
// of the same subject, as long as nobody changes it.
func (f *File) Finish(unfinished bool) error {
	if err := f.finish(unfinished); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", f.path, err), f.Discard())
	}
	return nil
}

func (f *File) finish(unfinished bool) error {
	name, mode := f.draft.Name(), os.FileMode(0o600)
	if old, err := os.Stat(f.path); err == nil {
		mode = old.Mode().Perm()
	}
	if err := errors.Join(f.draft.Chmod(mode), f.draft.Sync(), f.draft.Close()); err != nil {
		return err
	}
	sum, err := sumOf(name)
	if err != nil {
		return err
	}
	// Reserve a new name first, so that nobody else's file is overwritten.
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = file.Close()
	} else if errors.Is(err, os.ErrExist) {
		err = VacantFile(f.path, f.of)
	}
	if err != nil {
		return err
	}
	if err := os.Rename(name, f.path); err != nil {
		return err
	}
	f.draft = nil
	_ = f.held.Close() // a lock is all that it was for
	beside := f.path + unfinishedSuffix
	if !unfinished {
		// An existing mark belongs to the file that was replaced.
		if err := os.Remove(beside); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	var b bytes.Buffer
	if err := (mark{f.of, map[string]string{filepath.Base(f.path): sum}}).write(&b); err != nil {
		return err
	}
	return os.WriteFile(beside, b.Bytes(), 0o600)
}

// Discard removes the draft. It does nothing after Finish.
func (f *File) Discard() error {
	if f.draft == nil {
		return nil
	}
	name := f.draft.Name()
	_ = f.draft.Close() // closed already where Finish failed after it
	f.draft = nil
	err := os.Remove(name)
	_ = f.held.Close() // a lock is all that it was for
	return err
}
