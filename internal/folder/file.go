package folder

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/orbench/orbench"
)

// WriteNew writes a new file that its owner alone may read. It never replaces a file, which may be people's work: a
// file that exists, or cannot be made, is an *orbench.InputError.
func WriteNew(path string, write func(io.Writer) error) error {
	file, err := CreateNew(path)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// CreateNew makes a file like WriteNew, for the caller to write and close.
func CreateNew(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, &orbench.InputError{File: path, Problem: "cannot make the file: " + err.Error(), Hint: "name a new one"}
	}
	return file, nil
}

// WriteOver writes a file and replaces an existing one, for files that every build of a
// CI job writes. One that cannot be made is an *orbench.InputError.
func WriteOver(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return &orbench.InputError{File: path, Problem: "cannot make the file: " + err.Error(), Hint: "correct the path"}
	}
	return errors.Join(write(file), file.Close())
}

// WritePrivate writes a file that its owner alone may read. It appears whole: a file that
// replace lets it replace stays as it was until then, and gives it its mode. One that exists or cannot be made is
// an *orbench.InputError.
func WritePrivate(path string, replace bool, write func(io.Writer) error) (err error) {
	mode := os.FileMode(0o600)
	if old, err := os.Stat(path); err == nil {
		mode = old.Mode().Perm()
	}
	if _, err := os.Lstat(path); err == nil && !replace {
		return &orbench.InputError{File: path, Problem: "the file exists", Hint: "name a new one"}
	}
	file, err := os.CreateTemp(filepath.Dir(path), draftPattern(filepath.Base(path)))
	if err != nil {
		return &orbench.InputError{File: path, Problem: "cannot make the file: " + err.Error(), Hint: "correct the path"}
	}
	if err := errors.Join(write(file), file.Chmod(mode), file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return os.Rename(file.Name(), path)
}
