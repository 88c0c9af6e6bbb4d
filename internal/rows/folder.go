package rows

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/orbench/orbench"
)

// folderRows reads the logs of a folder one after the other.
type folderRows struct {
	all    *File
	logs   []string
	now    *File
	number int
	choose Chooser
}

// openFolder opens the logs of a folder, which are read in the order of their names. Other
// files in it are passed over.
func openFolder(path string, choose Chooser) (*File, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fileFault(path, err)
	}
	r := &folderRows{all: &File{Name: path}, choose: choose}
	for _, e := range entries {
		log := filepath.Join(path, e.Name())
		info, err := os.Stat(log)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if headOf(log).open == nil {
			continue
		}
		r.logs = append(r.logs, log)
		r.all.Stamp.size += info.Size()
		if info.ModTime().After(r.all.Stamp.changed) {
			r.all.Stamp.changed = info.ModTime()
		}
	}
	if len(r.logs) == 0 {
		return nil, &orbench.InputError{File: path, Problem: "a folder without logs of answers", Hint: "name a file in it"}
	}
	r.all.next, r.all.closer = r.next, r
	return r.all, r.open()
}

// open opens the next log.
func (r *folderRows) open() (err error) {
	if r.now, err = OpenAnswers(r.logs[0], r.choose); err != nil {
		return err
	}
	r.logs = r.logs[1:]
	return nil
}

// next gives the next row, or io.EOF.
func (r *folderRows) next() (Row, error) {
	for {
		row, err := r.now.Next()
		if !errors.Is(err, io.EOF) {
			r.number++
			row.Number = r.number
			return row, err
		}
		r.all.Notes = append(r.all.Notes, r.now.Notes...)
		if len(r.logs) == 0 {
			return Row{}, io.EOF
		}
		if err := errors.Join(r.now.Close(), r.open()); err != nil {
			return Row{}, err
		}
	}
}

// Close implements io.Closer.
func (r *folderRows) Close() error {
	if r.now == nil {
		return nil
	}
	return r.now.Close()
}
