package folder

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// MarkFile is the file that marks a folder as replaceable. It records the folder's
// subject and the files that were written.
const MarkFile = "folder.json"

// Subject describes the content of a folder or a file. Only something of the same subject
// may replace it. The zero Subject replaces nothing.
type Subject struct {
	// Of describes it in words, such as "report of run main".
	Of string `json:"of"`
	// Settings is the hash in hex of everything that the content depends on.
	Settings string `json:"settings_sha256"`
}

// NewSubject makes a subject from settings. JSON must be able to encode them.
func NewSubject(of string, settings ...any) Subject {
	b, err := json.Marshal(settings)
	if err != nil {
		panic(err) // a setting that JSON cannot hold: a fault of the caller
	}
	return Subject{Of: of, Settings: fmt.Sprintf("%x", sha256.Sum256(b))}
}

// mark is the content of MarkFile, and of the file beside an unfinished file.
type mark struct {
	Subject
	// Files has the SHA-256 of the files in hex, by name.
	Files map[string]string `json:"files"`
}

// maxMark is the longest mark in bytes.
const maxMark = 16 << 20

// readMark reads a mark; a missing or foreign file gives an empty one.
func readMark(path string) (m mark) {
	b, err := untrusted.ReadFile(path, maxMark)
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		return mark{}
	}
	return m
}

func (m mark) write(w io.Writer) error { return table.JSON(w, m) }

// differs says how the existing folder differs from one that may be replaced; empty means
// that it does not. dir is the folder, and others are the names of other
// files and folders in it.
func (m mark) differs(of Subject, dir string, others []string) string {
	switch {
	case m.Subject == Subject{}:
		return "exists already and is not empty"
	case m.Of != of.Of:
		return "exists already and is the " + m.Of
	case m.Settings != of.Settings:
		return "exists already and is the " + m.Of + " with other settings"
	}
	within := map[string]bool{}
	for name := range m.Files {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			within[dir] = true
		}
	}
	for _, name := range others {
		if _, ok := m.Files[name]; !ok && !within[name] {
			return "exists already, and holds a file that orbench did not write, " + name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		if sum, err := sumOf(filepath.Join(dir, name)); err != nil || sum != m.Files[name] {
			return "exists already, and " + name + " was changed after it was written"
		}
	}
	return ""
}

// sumOf is the SHA-256 of a regular file, in hex.
func sumOf(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	return untrusted.HashFile(path)
}

// Vacant returns an *orbench.InputError unless dir is missing, an empty directory, or a
// whole and unchanged folder of the subject, which may be replaced. Create makes the same
// check; Vacant is for a check before work begins.
func Vacant(dir string, of Subject) error {
	_, err := occupied(dir, of)
	return err
}

// occupied is Vacant, and reports whether there is a folder to replace.
func occupied(dir string, of Subject) (bool, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist), err == nil && len(entries) == 0:
		return false, nil
	case err != nil:
		return false, &orbench.InputError{File: dir, Problem: "is not a folder that can be read", Hint: "name another with `out`", Err: err}
	}
	const hint = "name a new folder with `out`, or remove it"
	if (of == Subject{}) {
		return false, &orbench.InputError{File: dir, Problem: "exists already and is not empty", Hint: hint}
	}
	m := readMark(filepath.Join(dir, MarkFile))
	var names []string
	if m.Subject == of {
		err = fs.WalkDir(os.DirFS(dir), ".", func(name string, _ fs.DirEntry, err error) error {
			if name != "." && name != MarkFile {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			return false, &orbench.InputError{File: dir, Problem: "is not a folder that can be read", Hint: hint, Err: err}
		}
	}
	if problem := m.differs(of, dir, names); problem != "" {
		return false, &orbench.InputError{File: dir, Problem: problem, Hint: hint}
	}
	return true, nil
}
