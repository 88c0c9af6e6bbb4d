package rows

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/untrusted"
)

// Stamp tells one state of a file from another.
type Stamp struct {
	size    int64
	changed time.Time
}

// File is an opened file of rows.
type File struct {
	// Name is its name in errors.
	Name string
	// Stamp is that of when it was opened, the zero value for one that is embedded.
	Stamp  Stamp
	next   nextFunc
	closer io.Closer
}

// Next gives the next row, or io.EOF.
func (f *File) Next() (Row, error) { return f.next() }

// Close closes the file.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Open opens a file in a format that FormatOf gave.
func Open(path, format string, choose Chooser) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileFault(path, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fileFault(path, err)
	}
	if info.IsDir() {
		f.Close()
		return nil, folderFault(path)
	}
	opened := &File{Name: path, closer: f, Stamp: Stamp{size: info.Size(), changed: info.ModTime()}}
	switch format {
	case ".csv":
		opened.next, err = openCSV(path, f, ',', choose)
	case ".tsv":
		opened.next, err = openCSV(path, f, '\t', choose)
	case ".jsonl", ".ndjson":
		opened.next, err = openJSONL(path, f, choose)
	case ".json":
		opened.next, err = openJSON(path, f, choose)
	case ".parquet":
		opened.next, err = openParquet(path, f, info.Size(), choose)
	default:
		panic("rows: a format that is not among the known ones: " + format)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return opened, nil
}

// Embedded opens the content of a CSV file that is part of the program.
func Embedded(name string, content []byte, choose Chooser) (*File, error) {
	next, err := openCSV(name, bytes.NewReader(content), ',', choose)
	return &File{Name: name, next: next}, err
}

// folderFault is the fault of a folder where a file should be.
func folderFault(path string) error {
	return &orbench.InputError{File: path, Problem: "a folder, not a file", Hint: "name a file in it"}
}

// fileFault is the fault of a file that does not open.
func fileFault(path string, err error) error {
	e := &orbench.InputError{File: path, Problem: "cannot read the file: " + err.Error(), Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Problem, e.Hint = "no such file", "correct the path"
		if near := Nearest(path); near != "" {
			e.Hint = fmt.Sprintf("did you mean %q?", near)
		}
	case errors.Is(err, fs.ErrPermission):
		e.Problem, e.Hint = "no permission to read the file", "change its permissions"
	}
	return e
}

// Nearest gives the file in the same folder with the most similar name.
func Nearest(path string) string {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && slices.Contains(formats, strings.ToLower(filepath.Ext(e.Name()))) {
			names = append(names, e.Name())
		}
	}
	if near := settings.Nearest(filepath.Base(path), names); near != "" {
		return filepath.Join(filepath.Dir(path), near)
	}
	return ""
}

// formats are the endings that Open reads.
var formats = []string{".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet"}

// FormatOf gives the format of a file by its ending.
func FormatOf(path string) (string, error) {
	ext := strings.ToLower(filepath.Ext(path))
	if slices.Contains(formats, ext) {
		return ext, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fileFault(path, err)
	}
	if info.IsDir() {
		return "", folderFault(path)
	}
	hint := "name a file that ends in .csv, .tsv, .jsonl, .ndjson, .json or .parquet"
	switch ext {
	case ".xls", ".xlsx", ".ods":
		hint = "save the sheet as \"CSV UTF-8\""
	case ".gz", ".zip", ".zst":
		hint = "unpack it first"
	}
	return "", &orbench.InputError{File: path, Problem: fmt.Sprintf("unknown file ending %s", untrusted.Quote(ext)), Hint: hint}
}
