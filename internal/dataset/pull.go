package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// PullOptions say where Pull fetches files from and where it puts them.
type PullOptions struct {
	// Cache is the folder to keep datasets in. Pull creates it if it is missing.
	Cache string
	// Endpoint is the base URL of the hub or of a mirror; empty means
	// https://huggingface.co. GitHub is the base URL of files on GitHub; empty means
	// https://raw.githubusercontent.com.
	Endpoint, GitHub string
	// From is a folder with files fetched by other means, or the only file. In the folder
	// they are at their paths in the repository, or side by side. If it is set, nothing
	// is downloaded and the commit is unknown.
	From string
	// Token is sent to the hub if not empty, but not to addresses that the hub redirects
	// to. It appears in no error and no file.
	Token string
	// AcceptLicense accepts the license of a dataset that restricts its use. The cache
	// remembers this until the license changes.
	AcceptLicense bool
	// Progress is called with short sentences about the progress, if not nil.
	Progress func(string)
}

// pulled is the record of a pull, kept in the cache beside the file. The file counts as
// present only with this record, so the record is written last.
type pulled struct {
	Name     string `json:"name"`
	Repo     string `json:"repo"`
	Revision string `json:"revision"`
	// Commit is the commit of Revision at the time of the pull.
	Commit     string `json:"commit"`
	File       string `json:"file,omitempty"`
	FileSHA256 string `json:"file_sha256,omitempty"`
	// Files are the paths and hashes of the assembled files.
	Files map[string]string `json:"files,omitempty"`
	// SHA256 is the content hash, Dataset.SHA256.
	SHA256  string `json:"sha256"`
	Rows    int    `json:"rows"`
	License string `json:"licence"`
	URL     string `json:"url"`
}

// Pull fetches a published dataset from the hub into the cache, replacing what is there,
// and opens it. The file must be the one in the table. Its checksum (the table's if it
// has one, and the hub's), every row and the number of rows are checked before anything
// is put into the cache. On any error the cache is unchanged.
//
// A built-in dataset is opened without fetching anything.
func Pull(ctx context.Context, name string, opts PullOptions) (*Dataset, error) {
	e, ok := Named(name)
	if !ok {
		list, near := names(name)
		hint := "the names are " + list
		if near != "" {
			hint = fmt.Sprintf("did you mean %s?", near)
		}
		return nil, &orbench.InputError{Problem: fmt.Sprintf("no published dataset is named %s", untrusted.Quote(name)), Hint: hint}
	}
	return e.pull(ctx, opts)
}

// pull is Pull for an entry of the table.
func (e Entry) pull(ctx context.Context, opts PullOptions) (*Dataset, error) {
	name, say := e.Name, opts.Progress
	if say == nil {
		say = func(string) {}
	}
	if e.BuiltIn {
		say(name + " is built in, so there is nothing to fetch")
		return Open(ctx, name, Options{})
	}
	if opts.Cache == "" {
		return nil, &orbench.InputError{Problem: "no cache folder to pull into", Hint: "set ORBENCH_CACHE"}
	}
	if err := e.accept(opts); err != nil {
		return nil, err
	}
	files := e.files()
	what := files[0].Path
	if info, err := os.Stat(opts.From); err == nil && !info.IsDir() && len(files) > 1 {
		return nil, &orbench.InputError{File: opts.From, Problem: fmt.Sprintf("%s is put together from %d files", name, len(files)), Hint: "name the folder that holds them"}
	}
	if len(files) > 1 {
		what = fmt.Sprintf("%d files", len(files))
	}
	if opts.From == "" {
		say(fmt.Sprintf("fetching %s from %s (license %s)", what, e.URL(), e.License))
	}
	all := make([]fetched, len(files))
	for i, f := range files {
		var err error
		if opts.From != "" {
			all[i], err = local(opts.From, f.Path)
		} else {
			all[i], err = fetch(ctx, e, f.Path, opts)
		}
		if err == nil {
			err = all[i].verify(f.Path, f.SHA256)
		}
		if err != nil {
			return nil, fmt.Errorf("pull %s: %w; nothing was kept", name, err)
		}
		if all[i].Commit != all[0].Commit {
			return nil, fmt.Errorf("pull %s: the repository changed meanwhile; nothing was kept, pull again", name)
		}
	}
	content, d, err := e.check(ctx, all)
	if err != nil {
		return nil, fmt.Errorf("pull %s: %w; nothing was kept", name, err)
	}
	commit := all[0].Commit
	pull := pulled{
		Name: e.Name, Repo: e.Repo, Revision: e.Revision, Commit: commit, SHA256: d.SHA256, Rows: d.Count + d.Duplicates,
		License: e.License, URL: e.URL(),
	}
	if e.File != "" {
		pull.File, pull.FileSHA256 = e.File, all[0].SHA256
	} else {
		pull.Files = map[string]string{}
		for i, f := range files {
			pull.Files[f.Path] = all[i].SHA256
		}
	}
	if err = replace(e.path(opts.Cache), content); err == nil {
		err = replaceJSON(e.sidecar(opts.Cache), pull)
	}
	if err != nil {
		return nil, fmt.Errorf("pull %s: %w", name, err)
	}
	source := "commit " + commit
	if opts.From != "" {
		source = opts.From
	}
	say(fmt.Sprintf("%d prompts of %s are in %s", d.Count, source, e.path(opts.Cache)))
	return Open(ctx, name, Options{Cache: opts.Cache})
}

// check reads every row of the fetched files, and gives the content for the cache.
func (e Entry) check(ctx context.Context, all []fetched) ([]byte, *Dataset, error) {
	dir, err := os.MkdirTemp("", "orbench-pull-*")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	content := all[0].Content
	if e.File == "" {
		if content, err = e.assemble(dir, all); err != nil {
			return nil, nil, err
		}
	}
	path := e.path(dir)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return nil, nil, err
	}
	d, err := check(ctx, source{name: e.Name, path: path, opts: e.options(), makers: e.Makers})
	if err != nil {
		return nil, nil, err
	}
	if rows := d.Count + d.Duplicates; rows != e.Rows {
		return nil, nil, fmt.Errorf("%s at commit %s has %d rows and should have %d", e.Name, all[0].Commit, rows, e.Rows)
	}
	return content, d, nil
}

// replaceJSON is replace with a value as JSON.
func replaceJSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return replace(path, append(text, '\n'))
}

// replace writes a file so that a reader finds the old content or the new, never a part
// of it. It creates a missing folder.
func replace(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".pull-*")
	if err != nil {
		return err
	}
	// After the rename there is nothing left to remove.
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
