package folder

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
)

// draftPattern names what is written beside its place until it is whole, for
// os.MkdirTemp and os.CreateTemp; draftName knows such a name.
func draftPattern(base string) string { return "." + base + ".unfinished-*" }

var draftName = regexp.MustCompile(`^\..+\.unfinished-[0-9]+$`)

// begin makes a draft in a folder, and first removes those that a killed process left
// there. The draft is held by the file that it gives until that is closed, or until the
// process ends, whatever ends it. The file is nil where the system cannot say so; then no
// draft is removed either.
func begin(parent string, create func() (path string, err error)) (path string, held *os.File, err error) {
	removeAbandoned(parent)
	for range 10 {
		if path, err = create(); err != nil {
			return "", nil, err
		}
		// Another process may have taken it for abandoned before it was held.
		if held, ok := hold(path); ok {
			return path, held, nil
		}
	}
	return "", nil, errors.New("what was begun is removed again and again by another process")
}

// removeAbandoned removes the drafts in a folder that nobody holds any more. What cannot
// be removed stays: it is in nobody's way.
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
