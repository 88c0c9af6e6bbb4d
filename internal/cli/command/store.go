package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/kinds"
	"github.com/orbench/orbench/internal/queue"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/untrusted"
)

// defaultStore lies where the user works, so that it is found, copied and kept apart from
// that of other work.
const defaultStore = "orbench.db"

// StoreFlag registers --store, whose default the environment may set.
func (e *Env) StoreFlag(c *cobra.Command, at *string) {
	usual := cmp.Or(e.Getenv("ORBENCH_STORE"), defaultStore)
	c.Flags().StringVar(at, "store", usual, "`STORE` that remembers every paid call: a file, or postgres://USER@HOST/DATABASE ($ORBENCH_STORE)")
	c.Flags().Lookup("store").DefValue = address.Shown(usual)
}

// StoreArgument is what names the store in a command, empty for the default.
func (e *Env) StoreArgument(at string) string {
	if at == "" || at == cmp.Or(e.Getenv("ORBENCH_STORE"), defaultStore) {
		return ""
	}
	return " --store " + untrusted.Shell(address.Shown(at))
}

// proposed are commands that a text gives to copy: at the start of a line or sentence, after a
// colon, or after such a word. Elsewhere a text speaks of a command.
var proposed = regexp.MustCompile(`(^ *|[:.] |\bwith |\bwrite )(orbench(?: [a-z]+){1,2})\b`)

// withStore adds the store of the command that runs, where it is not the default, to those that a
// text proposes and that have one, unless it does so itself.
func (e *Env) withStore(text string) string {
	if e.running == nil || e.running.Flag("store") == nil || strings.Contains(text, "--store") {
		return text
	}
	at := e.StoreArgument(e.running.Flag("store").Value.String())
	return proposed.ReplaceAllStringFunc(text, func(words string) string {
		before, rest, _ := strings.Cut(words, "orbench ")
		c, _, err := e.running.Root().Find(strings.Fields(rest))
		if err != nil || c.Flag("store") == nil {
			return words
		}
		return before + c.CommandPath() + at + strings.TrimPrefix("orbench "+rest, c.CommandPath())
	})
}

// OpenRun opens a run of a store, and says which files of its datasets are no longer
// what it asked; the empty name is the one saved last. The store must stay open while
// the run is used.
func (e *Env) OpenRun(ctx context.Context, memory store.Reader, at, name string) (*run.Run, error) {
	stored, err := run.Find(ctx, memory, name)
	if err != nil {
		return nil, NotStored(name, fmt.Errorf("%s: %w", address.Shown(at), err))
	}
	r, err := stored.Open(ctx, memory, e.CacheDir())
	if err != nil {
		return nil, err
	}
	e.Infos(r.Changed)
	return r, nil
}

// OpenStudy opens a study of any kind of a store, and says which files are no longer what it
// asked; the empty name is the one saved last, and a run where there is any. The store must
// stay open while the study is used.
func (e *Env) OpenStudy(ctx context.Context, memory store.Reader, at, name string) (*kinds.Opened, error) {
	s, err := study.Find(ctx, memory, name)
	if err != nil {
		return nil, NotStored(name, fmt.Errorf("%s: %w", address.Shown(at), err))
	}
	opened, err := kinds.Open(ctx, memory, s, e.CacheDir())
	if err != nil {
		return nil, err
	}
	e.Infos(opened.Changed)
	return opened, nil
}

// NotStored says of a file or folder, whose name was given for that of a run, what to do with
// it. Any other error of looking for a run is returned as it is.
func NotStored(name string, err error) error {
	if name == "" || !errors.As(err, new(*orbench.InputError)) {
		return err
	}
	page := filepath.Join(name, "report.html")
	if _, fault := os.Stat(page); fault == nil {
		return InputError(name, "is the folder of a report, not a stored run", "open "+page+" in a browser")
	}
	page = filepath.Join(name, "README.md")
	if _, fault := os.Stat(page); fault == nil {
		return InputError(name, "is a folder, not a stored run", page+" says what is in it")
	}
	file, fault := os.Open(name)
	if fault != nil {
		return err
	}
	defer file.Close()
	start := make([]byte, len("SQLite format"))
	switch _, fault := io.ReadFull(file, start); {
	case string(start) == "SQLite format":
		return InputError(name, "is a store, not a run in one", "name it as --store "+untrusted.Shell(name))
	case strings.EqualFold(string(start[:9]), "<!doctype"):
		return InputError(name, "is a page, not a stored run", "open it in a browser")
	case fault != nil: // a folder, or a file that has less than any answers
		return err
	}
	return InputError(name, "is a file, not a stored run", "judge the answers in it with orbench judge --responses "+untrusted.Shell(name))
}

// NoStore says that there is no store, and of a file in the place of a run what to do with it.
func (e *Env) NoStore(at string) error {
	err := InputError(address.Shown(at), "there is no store", "make one with orbench eval, or name another with --store")
	if len(e.Args) > 1 {
		return NotStored(e.Args[1], err)
	}
	return err
}

// OpenStudies opens studies of a store, each once.
func (e *Env) OpenStudies(ctx context.Context, memory store.Reader, at string, names []string) ([]*kinds.Opened, error) {
	open := func(name string) (*kinds.Opened, error) { return e.OpenStudy(ctx, memory, at, name) }
	return openEach(names, open, func(s *kinds.Opened) string { return s.Name })
}

// OpenRuns opens runs of a store, each once.
func (e *Env) OpenRuns(ctx context.Context, memory store.Reader, at string, names []string) ([]*run.Run, error) {
	open := func(name string) (*run.Run, error) { return e.OpenRun(ctx, memory, at, name) }
	return openEach(names, open, func(r *run.Run) string { return r.Name })
}

// openEach opens what has some names, each once: one may have its own name and be the newest.
func openEach[T any](names []string, open func(string) (T, error), nameOf func(T) string) (all []T, err error) {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		one, err := open(name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(other T) bool { return nameOf(other) == nameOf(one) }) {
			all = append(all, one)
		}
	}
	return all, nil
}

// OpenStore opens the store that calls are made for, and makes it where there is none. Of a
// database, and of a file that it made, it says that answers are kept there. Workers need a
// database.
func (e *Env) OpenStore(ctx context.Context, at string, byWorkers bool) (*store.Store, error) {
	err := e.checkIndexFolder(at)
	if byWorkers && err == nil {
		err = queue.CheckStore(at)
	}
	if err != nil {
		return nil, err
	}
	_, missing := os.Lstat(at)
	memory, err := address.Open(ctx, at)
	if err != nil || e.Quiet {
		return memory, err
	}
	switch {
	case !address.IsFile(at):
		e.Infof("answers are kept in %s", address.Shown(at))
	case missing != nil:
		path, err := filepath.Abs(at)
		if err != nil {
			path = at
		}
		hint := ""
		if at == defaultStore && inGit(filepath.Dir(path)) {
			hint = "; \"git clean -x\" would delete it; ORBENCH_STORE names another place"
		}
		e.Infof("answers are kept in %s%s", path, hint)
	}
	e.Infos(memory.Notes())
	return memory, nil
}

// inGit reports whether a folder is in the work tree of a git repository.
func inGit(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		above := filepath.Dir(dir)
		if above == dir {
			return false
		}
		dir = above
	}
}

// indexFolder is the variable that names the folder of indexes.
const indexFolder = "ORBENCH_INDEX"

// OpenIndex opens the index of the store at an address. It is nil where there can be none.
func (e *Env) OpenIndex(ctx context.Context, at string, memory store.Reader) *index.Index {
	e.tellOldIndex(at)
	place := address.Shown(at)
	if address.IsFile(at) {
		place = resolved(at)
	}
	return index.Open(ctx, e.Getenv(indexFolder), place, memory, e.Infof)
}

// RemoveIndex deletes the indexes of a store, at all places.
func (e *Env) RemoveIndex(ctx context.Context, at string, memory store.Reader) error {
	e.tellOldIndex(at)
	return index.Remove(ctx, e.Getenv(indexFolder), memory)
}

// tellOldIndex names the index that an older version has left beside a store. Whoever sent
// the store may have sent it too, so it is not opened.
func (e *Env) tellOldIndex(at string) {
	if _, err := os.Lstat(at + ".index"); err == nil && address.IsFile(at) {
		e.Infof("%s.index is the index of an older version; it is not used, and you can delete it", at)
	}
}

// checkIndexFolder refuses a folder of indexes within that of a store: whoever sends the
// store could send its index too.
func (e *Env) checkIndexFolder(at string) error {
	dir := e.Getenv(indexFolder)
	if dir == "" || !address.IsFile(at) {
		return nil
	}
	if within, err := filepath.Rel(filepath.Dir(resolved(at)), resolved(dir)); err == nil && filepath.IsLocal(within) {
		return InputError(indexFolder, dir+" is in the folder of the store "+at+", so its files may be from whoever sent the store", "name a folder elsewhere")
	}
	return nil
}

// resolved is an absolute path without links, also of a file that is not there yet.
func resolved(path string) string {
	path, _ = filepath.Abs(path) // it fails only where there is no working directory
	if real, err := filepath.EvalSymlinks(path); err == nil || filepath.Dir(path) == path {
		return real
	}
	return filepath.Join(resolved(filepath.Dir(path)), filepath.Base(path))
}

// Walking shows how far walks over the answers of runs are, one run after the other, until
// end is called. walked is as in evaluate.Sinks.
func (e *Env) Walking(runs ...*run.Run) (walked func(int), end func()) {
	if e.Quiet {
		return nil, func() {}
	}
	total := 0
	for _, r := range runs {
		total += r.Prompts() * r.AnswersPerPrompt()
	}
	return e.walking(total)
}

// OpenExisting opens the store of a store that must be there.
func (e *Env) OpenExisting(ctx context.Context, at string) (*store.Store, error) {
	return e.openThere(at, func() (*store.Store, error) { return address.OpenExisting(ctx, at) })
}

// openThere opens a store that must be there, in a way.
func (e *Env) openThere(at string, open func() (*store.Store, error)) (*store.Store, error) {
	if err := e.checkIndexFolder(at); err != nil {
		return nil, err
	}
	memory, err := open()
	if errors.Is(err, store.ErrNoStore) {
		return nil, e.NoStore(at)
	}
	if err == nil {
		e.Infos(memory.Notes())
	}
	return memory, err
}

// OpenReading is OpenExisting for a command that shows or copies what is there: it leaves out
// damaged rows, and says so.
func (e *Env) OpenReading(ctx context.Context, at string) (*store.Store, error) {
	return e.openThere(at, func() (*store.Store, error) {
		return address.OpenReading(ctx, at, func() {
			e.Infof("%s has damaged rows, which are left out; count them with: orbench store check%s", address.Shown(at), e.StoreArgument(at))
		})
	})
}

// WithExisting opens a store for a command that writes nothing; memory is nil where there is
// none yet.
func (e *Env) WithExisting(ctx context.Context, at string, do func(memory store.Reader) error) error {
	return e.Peek(ctx, at, func(memory store.Reader) error {
		if memory != nil {
			e.Infos(memory.Notes())
		}
		return do(memory)
	})
}

// Peek is WithExisting for a command that opens the store again, and then says what is to be
// known of it.
func (e *Env) Peek(ctx context.Context, at string, do func(memory store.Reader) error) error {
	memory, err := address.OpenExisting(ctx, at)
	switch {
	case errors.Is(err, store.ErrNoStore):
		return do(nil)
	case err != nil:
		return err
	}
	defer memory.Close()
	return do(memory)
}

// Plans gives what a command would send beyond what its store remembers, which may
// not be there yet, and what that is expected to take.
func (e *Env) Plans(ctx context.Context, at string, plan func(context.Context, store.Reader) ([]job.Plan, error)) (plans []job.Plan, err error) {
	err = e.WithExisting(ctx, at, func(memory store.Reader) error {
		if plans, err = plan(ctx, memory); err != nil {
			return err
		}
		return job.Expect(ctx, memory, plans)
	})
	return plans, err
}
