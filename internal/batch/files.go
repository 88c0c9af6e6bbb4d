package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// ToFiles is Asked for the calls that can be written to files: those of servers that speak
// OpenAI's format.
func (d *Manager) ToFiles(of model.Ref) (name string, limits Limits, reason string) {
	switch c := d.Clients.Client(of.Provider, of.Endpoint); {
	case c.Format == nil:
		return "", Limits{}, noService(of)
	case c.Endpoint.Provider.Dialect != provider.OpenAI:
		return "", Limits{}, "the files are in OpenAI's format, which its provider does not accept; the provider may have its own batch service"
	}
	return Files, fileLimits, ""
}

// noService says why calls of a model cannot be in any batch.
func noService(of model.Ref) string {
	if of.Provider == "sim" {
		return "it is simulated and has no batch service; orbench eval asks it"
	}
	return "its provider has no batch service; orbench eval asks it"
}

// Write sets the lacking calls apart and writes them to a new folder, a file for each
// batch, with what an earlier command had set apart and did not get to write.
func (d *Manager) Write(ctx context.Context, asked Asked, dir string) (Plan, []*Batch, error) {
	batches, err := d.Batches(ctx)
	if err != nil {
		return Plan{}, nil, err
	}
	batches = slices.DeleteFunc(batches, func(b *Batch) bool { return b.Stage != Planned || b.Service != Files })
	if err := folder.Vacant(dir, d.subject(batches)); err != nil {
		return Plan{}, nil, err
	}
	laid, err := d.lay(ctx, asked, false)
	if err != nil {
		return Plan{}, nil, err
	}
	batches = append(batches, laid.made...)
	if len(batches) == 0 {
		return laid.plan, nil, nil
	}
	to, err := folder.CreatePrivate(dir, d.subject(batches))
	if err != nil {
		return laid.plan, nil, err
	}
	defer to.Discard() //nolint:errcheck // after Finish it does nothing
	used := map[string]int{}
	for _, b := range batches {
		name := strings.TrimLeft(unsafeInFile.ReplaceAllString(b.Model, "-"), ".-")
		used[name]++
		name = fmt.Sprintf("%s-%03d.jsonl", name, used[name])
		if _, err := to.Write(name, func(w io.Writer) error { return d.writeLines(ctx, b, w, Line) }); err != nil {
			return laid.plan, nil, err
		}
		b.File = filepath.Join(dir, name)
	}
	if err := to.Finish(); err != nil {
		return laid.plan, nil, err
	}
	for _, b := range batches {
		b.Stage, b.Sent = Out, d.now()
		if err := d.keep(ctx, b); err != nil {
			return laid.plan, nil, err
		}
	}
	return laid.plan, batches, nil
}

// subject is what the folder of some batches is of.
func (d *Manager) subject(batches []*Batch) folder.Subject {
	ids := table.RowsOf(batches, func(b *Batch) string { return b.ID })
	return folder.NewSubject("calls of run "+d.Job.Name, ids)
}

// unsafeInFile is what the name of a file does not take from that of a model.
var unsafeInFile = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// writeLines writes the calls of a batch, by their hash, as lines of a service.
func (d *Manager) writeLines(ctx context.Context, b *Batch, w io.Writer, line func(id string, body []byte) []byte) error {
	format := d.format(b.Ref())
	for c, err := range d.Store.AllBatchCalls(ctx, b.id) {
		var body []byte
		if err == nil {
			var r model.Request
			if r, err = requestOf(c); err == nil {
				body, err = format.Body(r)
			}
		}
		if err == nil {
			_, err = w.Write(append(line(c.Hash.String(), body), '\n'))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ReadFrom remembers what files say of calls of the run: a file, or all .jsonl and .json
// files of a folder and of those in it. Calls that are out in files and have all come back
// make their batch collected.
func (d *Manager) ReadFrom(ctx context.Context, path string) (*Taken, error) {
	files, err := resultFiles(path)
	if err != nil {
		return nil, err
	}
	batches, err := d.live(ctx)
	if err != nil {
		return nil, err
	}
	batches = slices.DeleteFunc(batches, func(b *Batch) bool { return b.Service != Files })
	c := d.collection(batches)
	for _, name := range files {
		if err := c.readFile(ctx, name); err != nil {
			return c.sum(), err
		}
	}
	if err := c.finish(ctx); err != nil {
		return c.sum(), err
	}
	if len(c.strange) > 0 {
		err = c.placeStrange(ctx)
	}
	return c.sum(), err
}

// resultFiles lists the files that may hold results.
func resultFiles(path string) (files []string, err error) {
	err = filepath.WalkDir(path, func(name string, entry os.DirEntry, err error) error {
		ending := strings.ToLower(filepath.Ext(name))
		if err == nil && !entry.IsDir() && (name == path || ending == ".jsonl" || ending == ".json") && entry.Name() != folder.MarkFile {
			files = append(files, name)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = errors.New("there is no .jsonl or .json file in it")
	}
	if err != nil {
		return nil, &orbench.InputError{File: path, Problem: "cannot read results: " + err.Error(), Hint: "name the folder, or the file, with what run-batch wrote", Err: err}
	}
	return files, nil
}

// readFile remembers what a file says.
func (c *collection) readFile(ctx context.Context, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return &orbench.InputError{File: name, Problem: "cannot be read: " + err.Error(), Hint: "correct its mode", Err: err}
	}
	defer file.Close()
	for r, err := range ReadResults(file) {
		var line *LineError
		switch {
		case errors.As(err, &line):
			c.fault(fmt.Sprintf("%s: %v", name, err))
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := c.add(ctx, r, c.Taken.Batches...); err != nil {
			return err
		}
	}
	return c.take(ctx, c.Taken.Batches...)
}

// finish counts what has come back of each batch, and ends those of which all has.
func (c *collection) finish(ctx context.Context) error {
	for _, b := range c.Taken.Batches {
		b.Answered, b.Failed = 0, 0
		for call, err := range callsOf(ctx, c.Store, b) {
			if err != nil {
				return err
			}
			_, failed := c.failed[call.Hash]
			switch {
			case call.answered:
				b.Answered++
			case failed:
				b.Failed++
			}
		}
		if b.Answered+b.Failed == b.Calls {
			b.Stage, b.Ended = Collected, c.now()
		}
		if err := c.keep(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// placeStrange remembers results of calls that are in no batch which is out, where the
// run has such calls: an answer that was paid for counts, also after its batch was called
// off.
func (c *collection) placeStrange(ctx context.Context) error {
	for call, err := range c.Job.All(ctx, c.Store) {
		if err != nil {
			return err
		}
		r, ok := c.strange[call.Hash]
		if !ok || call.Remembered {
			continue
		}
		delete(c.strange, call.Hash)
		if err := c.remember(ctx, []store.BatchCall{{Hash: call.Hash, Request: call.Request.Canonical()}}, map[model.Hash]Result{call.Hash: r}); err != nil {
			return err
		}
	}
	return nil
}
