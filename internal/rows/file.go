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
	"strings"
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
	closer func() error // nil if there is nothing to close
}

// Next gives the next row, or io.EOF.
func (f *File) Next() (Row, error) { return f.next() }

// All streams the rows that are left.
func (f *File) All(yield func(Row, error) bool) {
	for {
		r, err := f.next()
		if errors.Is(err, io.EOF) || !yield(r, err) || err != nil {
			return
		}
	}
}

// Close closes the file.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer()
}

// Open opens a file, which may be compressed. Its ending and its content decide the format.
func Open(path string, choose Chooser) (*File, error) {
	if !Readable(path) {
		return nil, Unknown(path)
	}
	return openFile(path, datasetFile, choose)
}

// purpose says how the format of a file is found.
type purpose int

const (
	// datasetFile goes by the ending of the file's name.
	datasetFile purpose = iota
	// answersFile looks for another tool's log first.
	answersFile
	// trafficFile also knows what servers log, and files whose names say nothing.
	trafficFile
)

// openFile opens a file in its format.
func openFile(path string, as purpose, choose Chooser) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileFault(path, err)
	}
	opened := &File{Name: path, closer: f.Close}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = fileFault(path, err)
	case info.IsDir():
		err = folderFault(path)
	default:
		opened.Stamp = Stamp{size: info.Size(), changed: info.ModTime()}
		opened.next, err = opened.begin(input{Reader: f, file: f, size: info.Size()}, as, choose)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return opened, nil
}

// begin finds the format of a content and opens it.
func (f *File) begin(in input, as purpose, choose Chooser) (nextFunc, error) {
	in, err := unpack(f.Name, in)
	if err != nil {
		return nil, err
	}
	most := headSize
	if as != datasetFile {
		most = logHead
	}
	text := bufio.NewReaderSize(in.Reader, most)
	head, err := text.Peek(most)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, readFault(f.Name, err)
	}
	in.Reader, in.notes, in.traffic = text, &f.Notes, as == trafficFile
	if as != datasetFile {
		switch log := logOf(head); {
		case log.lacking != "":
			return nil, &orbench.InputError{File: f.Name, Problem: log.lacking + ", which have no answers", Hint: log.hint}
		case log.open != nil:
			return log.open(f.Name, in, choose)
		}
	}
	format := formatOf(f.Name, head)
	switch {
	case format.open != nil:
	case as == trafficFile:
		format = guess(head)
	default:
		return nil, Unknown(f.Name)
	}
	return format.open(f.Name, in, choose)
}

// headOf tells of which log a file is; it is as logOf gives for none if the file cannot be
// read.
func headOf(path string) logFormat {
	f, err := os.Open(path)
	if err != nil {
		return logFormat{}
	}
	defer f.Close()
	in, err := unpack(path, input{Reader: f})
	if err != nil {
		return logFormat{}
	}
	head := make([]byte, logHead)
	n, _ := io.ReadFull(in, head) // whoever reads the file reports the fault
	return logOf(head[:n])
}

// Embedded opens the content of a CSV file that is part of the program.
func Embedded(name string, content []byte, choose Chooser) (*File, error) {
	next, err := separatedBy(',')(name, input{Reader: bytes.NewReader(content)}, choose)
	return &File{Name: name, next: next}, err
}

// folderFault is the fault of a folder where a file should be.
func folderFault(path string) error {
	hint := "name a file in it"
	if files, _ := filepath.Glob(filepath.Join(path, "*.csv")); len(files) > 0 { // a bad pattern finds none
		hint += ", such as " + strings.Join(files[:min(len(files), 3)], " or ")
	}
	return &orbench.InputError{File: path, Problem: "a folder, not a file", Hint: hint}
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

// readFault is the fault of a file that breaks off while it is read.
func readFault(file string, err error) error {
	if errors.Is(err, orbench.ErrInput) {
		return err
	}
	return fmt.Errorf("read %s: %w", file, err)
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
