package logs

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/folder"
)

// SheetOf writes looks in the form of a file.
func SheetOf(path string, looks []Look) func(io.Writer) error {
	return func(w io.Writer) error { return WriteLooks(w, filepath.Ext(path) == ".jsonl", looks) }
}

// ReadSheet reads the looks of a file.
func ReadSheet(path string) ([]Look, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &orbench.InputError{File: path, Problem: "cannot be read: " + err.Error(), Hint: "correct the path"}
	}
	defer file.Close()
	return ReadLooks(path, file)
}

// Keeping makes what writes looks to their sheet. It fails where somebody else has changed the
// sheet meanwhile, whose labels would be lost.
func Keeping(path string, looks []Look) (func() error, error) {
	before, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return func() error {
		now, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, before) {
			return &orbench.InputError{File: path, Problem: "the sheet was changed by somebody else meanwhile, so this label is not kept", Hint: "begin again: what stands in the sheet is kept"}
		}
		var text bytes.Buffer
		if err := SheetOf(path, looks)(&text); err != nil {
			return err
		}
		if err := folder.WritePrivate(path, true, func(w io.Writer) error { _, err := w.Write(text.Bytes()); return err }); err != nil {
			return err
		}
		before = text.Bytes()
		return nil
	}, nil
}
