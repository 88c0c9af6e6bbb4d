package folder

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/orbench/orbench"
)

// Folder is a directory being written. It is not safe for concurrent use.
type Folder struct {
	// dir is the final place as the user named it, and place the same behind symbolic
	// links. draft is the place until then; it is empty after Finish or Discard.
	dir, place, draft string
	// held locks the draft while it is written.
	held *os.File
	of   Subject
	// final is true for a folder that nothing may replace.
	final bool
	// private is true for a folder that its owner alone may read.
	private bool
	// sums has the SHA-256 of the files in hex, by name.
	sums map[string]string
	// streams are the files that stay open during the work.
	streams []stream
	// unsynced are the files that may not be on the disk yet.
	unsynced []string
}

// stream is a file that is open during the whole work.
type stream struct {
	file *os.File
	name string
	sum  hash.Hash
}

// Write writes to the file and to its hash.
func (s stream) Write(b []byte) (int, error) {
	n, err := s.file.Write(b)
	s.sum.Write(b[:n])
	return n, err
}

// Create begins a directory that will become dir, and makes its parents. If dir holds a
// whole and unchanged folder of the same subject, Finish replaces it in one step.
// Anything else in dir, or a place where no directory can be made, is an
// *orbench.InputError. The caller must call Finish or Discard. Create removes drafts that
// killed processes left beside dir.
func Create(dir string, of Subject) (*Folder, error) {
	dir = filepath.Clean(dir)
	if err := Vacant(dir, of); err != nil {
		return nil, err
	}
	place := dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		place = real
	}
	parent := filepath.Dir(place)
	err := os.MkdirAll(parent, 0o755)
	if err == nil {
		f := &Folder{dir: dir, place: place, of: of, sums: map[string]string{}}
		f.draft, f.held, err = begin(parent, func() (string, error) { return os.MkdirTemp(parent, draftPattern(filepath.Base(place))) })
		if err == nil {
			return f, nil
		}
	}
	return nil, &orbench.InputError{
		File: dir, Problem: fmt.Sprintf("cannot be made: %v", err), Hint: "choose a folder that you may write to", Err: err,
	}
}

// Final marks the folder as complete, so that nothing may replace it.
func (f *Folder) Final() { f.final = true }

// Dir is the place of the directory once Finish has returned.
func (f *Folder) Dir() string { return f.dir }

// Write writes a file, whose name may begin with a folder and a slash, and gives its SHA-256 in hex. The file is on the disk when Write
// returns. An error names the file.
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
	f.sums[name] = hex.EncodeToString(hash.Sum(nil))
	return f.sums[name], nil
}

// Put writes one of many files, which are on the disk when Finish returns: to wait for the
// disk at each of them would take longer than all the rest.
func (f *Folder) Put(name string, data []byte) error {
	out, err := f.open(name)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(f.dir, name), err)
	}
	f.sums[name] = fmt.Sprintf("%x", sha256.Sum256(data))
	f.unsynced = append(f.unsynced, name)
	return nil
}

// sync waits until the files that were put are on the disk, for many at a time.
func (f *Folder) sync() error {
	var group errgroup.Group
	group.SetLimit(32)
	for _, name := range f.unsynced {
		group.Go(func() error {
			file, err := os.OpenFile(filepath.Join(f.draft, name), os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			return errors.Join(file.Sync(), file.Close())
		})
	}
	return group.Wait()
}

// Stream opens a file for unbuffered writing. Finish or Discard closes it.
func (f *Folder) Stream(name string) (io.Writer, error) {
	out, err := f.open(name)
	if err != nil {
		return nil, err
	}
	f.streams = append(f.streams, stream{out, name, sha256.New()})
	return f.streams[len(f.streams)-1], nil
}

// CreatePrivate is Create for a folder with users' texts, which its owner alone may read.
func CreatePrivate(dir string, of Subject) (*Folder, error) {
	f, err := Create(dir, of)
	if err == nil {
		f.private = true
	}
	return f, err
}

// mode is shared, without what a private folder gives to others.
func (f *Folder) mode(shared os.FileMode) os.FileMode {
	if f.private {
		return shared &^ 0o077
	}
	return shared
}

func (f *Folder) open(name string) (*os.File, error) {
	if dir := path.Dir(name); dir != "." {
		if err := os.MkdirAll(filepath.Join(f.draft, dir), 0o755); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(filepath.Join(f.draft, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, f.mode(0o644))
}

// Finish puts the directory in its place. If something else was put there in the
// meantime, it fails and discards the draft.
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
		if err := errors.Join(out.file.Sync(), out.file.Close()); err != nil {
			return err
		}
		f.sums[out.name] = hex.EncodeToString(out.sum.Sum(nil))
	}
	if err := f.sync(); err != nil {
		return err
	}
	if (f.of != Subject{}) && !f.final {
		m := mark{f.of, maps.Clone(f.sums)}
		if _, err := f.Write(MarkFile, m.write); err != nil {
			return err
		}
	}
	if err := os.Chmod(f.draft, f.mode(0o755)); err != nil {
		return err
	}
	old, err := occupied(f.place, f.of)
	if err != nil {
		return err
	}
	if old {
		return f.replace()
	}
	// An empty directory would block the new name. One that was filled in the meantime
	// cannot be removed.
	if err := os.Remove(f.place); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(f.draft, f.place); err != nil {
		return err
	}
	f.draft = ""
	_ = f.held.Close() // a lock is all that it was for
	return nil
}

// replace exchanges the draft with the directory in its place and removes the old one. If
// the old one was changed during the exchange, it is put back.
func (f *Folder) replace() error {
	if err := exchange(f.draft, f.place); err != nil {
		return err
	}
	if _, err := occupied(f.draft, f.of); err != nil {
		return errors.Join(err, exchange(f.draft, f.place))
	}
	return f.Discard()
}

// exchangeInSteps exchanges two directories by three renames, if the system cannot do it
// in one step. In between there is nothing with the name b.
func exchangeInSteps(a, b string) error {
	aside := a + ".replaced"
	if err := os.Rename(b, aside); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return errors.Join(err, os.Rename(aside, b))
	}
	return os.Rename(aside, a)
}

// Discard removes the draft. It does nothing after Finish.
func (f *Folder) Discard() (err error) {
	for _, out := range f.streams {
		err = errors.Join(err, out.file.Close())
	}
	f.streams = nil
	if f.draft != "" {
		err = errors.Join(err, os.RemoveAll(f.draft))
		f.draft = ""
	}
	_ = f.held.Close() // a lock is all that it was for
	return err
}
