package folder

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/orbench/orbench"
)

// Folder is a directory being written. It is not safe for concurrent use.
type Folder struct {
	// dir is where it will be, draft where it is until then; draft is empty once
	// it was finished or discarded.
	dir, draft string
	// streams are the files that are written as the work goes on.
	streams []*os.File
}

// Vacant returns an *orbench.InputError unless dir is missing or an empty
// directory. Create refuses the same; this is for asking before work begins.
func Vacant(dir string) error {
	entries, err := os.Open(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		defer entries.Close()
		if _, err = entries.Readdirnames(1); errors.Is(err, io.EOF) {
			return nil
		}
	}
	if err != nil {
		return &orbench.InputError{File: dir, Problem: "is not a folder that can be read", Hint: "name another with `out`", Err: err}
	}
	return &orbench.InputError{File: dir, Problem: "is there already, and not empty", Hint: "name a new folder with `out`, or remove it"}
}

// Create begins a directory that will be dir, and makes those above it. It returns
// an *orbench.InputError where dir is not Vacant or cannot be made. Finish or
// Discard must follow.
func Create(dir string) (*Folder, error) {
	dir = filepath.Clean(dir)
	if err := Vacant(dir); err != nil {
		return nil, err
	}
	parent := filepath.Dir(dir)
	err := os.MkdirAll(parent, 0o755)
	if err == nil {
		var draft string
		if draft, err = os.MkdirTemp(parent, "."+filepath.Base(dir)+".unfinished-*"); err == nil {
			return &Folder{dir: dir, draft: draft}, nil
		}
	}
	return nil, &orbench.InputError{
		File: dir, Problem: fmt.Sprintf("cannot be made: %v", err), Hint: "choose a folder that you may write to", Err: err,
	}
}

// Dir is where the directory will be once Finish has returned.
func (f *Folder) Dir() string { return f.dir }

// Write writes a file, which is on the disk when it returns, and gives its SHA-256
// in hex. An error names the file.
func (f *Folder) Write(name string, write func(io.Writer) error) (sum string, err error) {
	out, err := f.open(name)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	buffer := bufio.NewWriterSize(io.MultiWriter(out, hash), 1<<16)
	err = write(buffer)
	if err == nil {
		err = buffer.Flush()
	}
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return "", fmt.Errorf("write %s: %w", filepath.Join(f.dir, name), err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// Stream opens a file to be written, without a buffer, until Finish or Discard
// closes it.
func (f *Folder) Stream(name string) (io.Writer, error) {
	out, err := f.open(name)
	if err != nil {
		return nil, err
	}
	f.streams = append(f.streams, out)
	return out, nil
}

func (f *Folder) open(name string) (*os.File, error) {
	return os.OpenFile(filepath.Join(f.draft, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
}

// Finish puts the directory in its place. It fails, and discards what was written,
// where somebody has put something there meanwhile.
func (f *Folder) Finish() error {
	if err := f.finish(); err != nil {
		return errors.Join(fmt.Errorf("write the folder %s: %w", f.dir, err), f.Discard())
	}
	return nil
}

func (f *Folder) finish() error {
	for len(f.streams) > 0 {
		out := f.streams[0]
		f.streams = f.streams[1:]
		if err := errors.Join(out.Sync(), out.Close()); err != nil {
			return err
		}
	}
	if err := os.Chmod(f.draft, 0o755); err != nil {
		return err
	}
	// An empty directory is in the way of the new name; one that was filled
	// meanwhile cannot be removed.
	if err := os.Remove(f.dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(f.draft, f.dir); err != nil {
		return err
	}
	f.draft = ""
	return nil
}

// Discard removes what was written. It does nothing after Finish.
func (f *Folder) Discard() error {
	var err error
	for _, out := range f.streams {
		err = errors.Join(err, out.Close())
	}
	f.streams = nil
	if f.draft != "" {
		err = errors.Join(err, os.RemoveAll(f.draft))
		f.draft = ""
	}
	return err
}
