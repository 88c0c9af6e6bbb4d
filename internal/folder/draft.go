package folder

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
)

// draftPattern is the name pattern of a draft, which stands beside its place until it is
// whole. It is for os.MkdirTemp and os.CreateTemp. draftName recognizes such a name.
func draftPattern(base string) string { return "." + base + ".unfinished-*" }

var draftName = regexp.MustCompile(`^\..+\.unfinished-[0-9]+$`)

// begin makes a draft in a folder. It first removes drafts that killed processes left
// there. The returned file locks the draft until it is closed or the process ends for any
// reason. The file is nil if the system has no such locks; then no old draft is removed.
func begin(parent string, create func() (path string, err error)) (path string, held *os.File, err error) {
	removeAbandoned(parent)
	for range 10 {
		if path, err = create(); err != nil {
			return "", nil, err
		}
		// Another process may have removed it as abandoned before it was locked.
		if held, ok := hold(path); ok {
			return path, held, nil
		}
	}
	return "", nil, errors.New("another process keeps removing the unfinished folder")
}

// removeAbandoned removes the drafts in a folder that are no longer locked. A draft that
// cannot be removed stays; it does no harm.
func removeAbandoned(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !draftName.MatchString(e.Name()) {
			continue
		}
		path := filepath.Join(parent, e.Name())
		if held, ok := hold(path); ok && held != nil {
			_ = errors.Join(os.RemoveAll(path), held.Close())
		}
	}
}
