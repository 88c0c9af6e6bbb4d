package rows

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/orbench/orbench"
)

// openFolder opens the logs of a folder, which are read in the order of their names. Other
// files in it are passed over.
func openFolder(path string, choose Chooser) (*File, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fileFault(path, err)
	}
	all := &File{Name: path}
	var logs []string
	for _, e := range entries {
		log := filepath.Join(path, e.Name())
		info, err := os.Stat(log)
		if err != nil || !info.Mode().IsRegular() || headOf(log).open == nil {
			continue
		}
		logs = append(logs, log)
		all.Stamp.size += info.Size()
		if info.ModTime().After(all.Stamp.changed) {
			all.Stamp.changed = info.ModTime()
		}
	}
	if len(logs) == 0 {
		return nil, &orbench.InputError{File: path, Problem: "a folder without logs of answers", Hint: "name a file in it"}
	}
	now, err := OpenAnswers(logs[0], choose)
	if err != nil {
		return nil, err
	}
	all.closer = now.Close
	number := 0
	all.next = func() (Row, error) {
		for {
			row, err := now.Next()
			if !errors.Is(err, io.EOF) {
				number++
				row.Number = number
				return row, err
			}
			all.Notes = append(all.Notes, now.Notes...)
			if logs = logs[1:]; len(logs) == 0 {
				return Row{}, io.EOF
			}
			all.closer = nil
			if err := now.Close(); err != nil {
				return Row{}, err
			}
			if now, err = OpenAnswers(logs[0], choose); err != nil {
				return Row{}, err
			}
			all.closer = now.Close
		}
	}
	return all, nil
}
