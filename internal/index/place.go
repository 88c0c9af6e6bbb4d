package index

import (
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

const (
	// placeFile has the place of the store, and the time at which the index was last opened.
	placeFile = "place"
	// unused is after how long without an opening an index is deleted.
	unused = 30 * 24 * time.Hour
)

// nameOf is a part of a file's name for a text that others may have chosen.
func nameOf(text string) string {
	sum := digest(text)
	return fmt.Sprintf("%x", sum[:12])
}

// folder makes the folder of indexes, the user's usual one where none is named.
func folder(dir string) (string, error) {
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(cache, "orbench", "index")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	if err == nil && !own(info) {
		err = fmt.Errorf("%s is not yours, or others can write to it", dir)
	}
	return dir, err
}

// makeFiles makes the folder and the files of the index where there are none. No link is
// followed, and no file that has another name too is opened.
func (x *Index) makeFiles(place string) error {
	dir := filepath.Dir(x.path)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || !own(info) {
		return errors.Join(err, errUnfit)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		// A log may be gone by now.
		if info, err := f.Info(); err == nil && !(info.Mode().IsRegular() && own(info)) {
			return errUnfit
		}
	}
	// Opening and closing a file that is there would end locks that this process has on it.
	if file, err := os.OpenFile(x.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		file.Close()
	}
	return os.WriteFile(filepath.Join(dir, placeFile), []byte(place), 0o600)
}

// remove deletes indexes from a folder.
func remove(dir string, which func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if which(e.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// needless reports whether an index was not opened for long, or its store is gone.
func needless(dir string) bool {
	path := filepath.Join(dir, placeFile)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	place, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(dir, "-"+nameOf(string(place))) {
		return false // it is no index
	}
	_, err = os.Lstat(string(place))
	return time.Since(info.ModTime()) > unused || filepath.IsAbs(string(place)) && errors.Is(err, fs.ErrNotExist)
}

// Remove deletes the indexes of a store at all places from a folder of indexes.
func Remove(ctx context.Context, dir string, m store.Reader) error {
	id, err := m.ID(ctx)
	if err != nil {
		return err
	}
	if dir, err = folder(dir); err != nil {
		return nil //nolint:nilerr // no index can be there
	}
	return remove(dir, func(name string) bool { return strings.HasPrefix(name, nameOf(id)+"-") })
}
