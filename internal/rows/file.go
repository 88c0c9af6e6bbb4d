package rows

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/settings"
)

// Stamp identifies one state of a file.
type Stamp struct {
	size    int64
	changed time.Time
}

// File is an opened file of rows.
type File struct {
	// Name is its name in errors.
	Name string
	// Stamp is the file's stamp when it was opened. It is the zero value for an embedded
	// file.
	Stamp Stamp
	// Notes say what the user must know of another tool's log or of a file of verdicts, in
	// lines; they are there after the last row.
	Notes  []string
	next   nextFunc
	closer io.Closer
}

// Next gives the next row, or io.EOF.
func (f *File) Next() (Row, error) { return f.next() }

// Close closes the file.
func (f *File) Close() error { return f.closer.Close() }

// Open opens a file. Its ending and its content decide the format.
func Open(path string, choose Chooser) (*File, error) {
	if !Readable(path) {
		return nil, Unknown(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fileFault(path, err)
	}
	opened := &File{Name: path, closer: f}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = fileFault(path, err)
	case info.IsDir():
		err = folderFault(path)
	default:
		opened.Stamp = Stamp{size: info.Size(), changed: info.ModTime()}
		opened.next, err = opensAs(path, f, info.Size(), choose)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return opened, nil
}

// OpenAnswers opens a file of recorded answers: another tool's log, which its content
// shows, or any other as Open does, but each answer of a file of verdicts once. The rows of a log have the columns PromptColumn,
// ResponseColumn and ModelColumn beside its own. The logs in a folder are read one after
// the other.
func OpenAnswers(path string, choose Chooser) (*File, error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return openFolder(path, choose)
	}
	if err != nil || !info.Mode().IsRegular() {
		return openVerdicts(path, choose)
	}
	f, format, head := headOf(path)
	if format.open == nil {
		f.Close()
		return openVerdicts(path, choose)
	}
	opened := &File{Name: path, closer: f, Stamp: Stamp{size: info.Size(), changed: info.ModTime()}}
	if opened.next, err = format.open(path, input{head, f, info.Size(), &opened.Notes}, choose); err != nil {
		f.Close()
		return nil, err
	}
	return opened, nil
}

// headOf opens a file and tells of which log it is; the format's open is nil if of none, or
// if the file cannot be read. text reads the file from its beginning.
func headOf(path string) (f *os.File, format logFormat, text io.Reader) {
	f, err := os.Open(path)
	if err != nil {
		return nil, logFormat{}, nil
	}
	buffer := bufio.NewReaderSize(f, logHead)
	head, err := buffer.Peek(logHead)
	if err == nil || errors.Is(err, io.EOF) {
		format = logOf(head)
	}
	return f, format, buffer
}

// opensAs opens a file in its format.
func opensAs(path string, f *os.File, size int64, choose Chooser) (nextFunc, error) {
	text := bufio.NewReaderSize(f, headSize)
	head, err := text.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return formatOf(path, head).open(path, input{Reader: text, file: f, size: size}, choose)
}

// Embedded opens the content of a CSV file that is part of the program.
func Embedded(name string, content []byte, choose Chooser) (*File, error) {
	next, err := openCSV(name, input{Reader: bytes.NewReader(content)}, choose)
	return &File{Name: name, next: next, closer: io.NopCloser(nil)}, err
}

// folderFault is the fault of a folder where a file should be.
func folderFault(path string) error {
	return &orbench.InputError{File: path, Problem: "a folder, not a file", Hint: "name a file in it"}
}

// fileFault is the fault of a file that cannot be opened.
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
		if !e.IsDir() && Readable(e.Name()) {
			names = append(names, e.Name())
		}
	}
	if near := settings.Nearest(filepath.Base(path), names); near != "" {
		return filepath.Join(filepath.Dir(path), near)
	}
	return ""
}
