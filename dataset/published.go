package dataset

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset/hub"
	"github.com/orbench/orbench/internal/untrusted"
)

//go:embed published.json
var publishedJSON []byte

// starterCSV is the dataset that orbench carries with it: for each of the paper's ten
// categories 20 safe prompts that sound alarming and 6 prompts that are plainly toxic, each
// one mild line, written for this project. It is small and easy. It shows that everything
// works and roughly where a model stands; it replaces none of the published sets.
//
// The rows take turns by category, and a round of toxic ones follows after each three
// rounds of safe ones, so the first rows alone are a fair sample.
//
//go:embed starter.csv
var starterCSV []byte

// lists are the paths of datasets that lie in very many files.
//
//go:embed refusalbench.txt
var lists embed.FS

// perRow is an Entry's Label where each row has its own.
const perRow = "per row"

// Entry is one dataset that has a name: a row of published.json, with what the
// cache holds of it.
type Entry struct {
	Name string `json:"name"`
	// BuiltIn datasets are part of the program and never pulled.
	BuiltIn bool `json:"built_in,omitempty"`
	// Rows is the known number of rows, which Pull insists on.
	Rows int `json:"rows"`
	// Label is the label of all rows, or "per row".
	Label string `json:"label"`
	// Repo is the dataset repository on the hub, Revision the commit that is
	// pulled, File the file in it. Where Revision is "main" no commit is pinned:
	// the hub says which commit it is at the time, and Pull records that.
	Repo     string `json:"repo,omitempty"`
	Revision string `json:"revision,omitempty"`
	File     string `json:"file,omitempty"`
	// FileSHA256 is the hash of the file's bytes, where it is known.
	FileSHA256 string `json:"file_sha256,omitempty"`
	// Host is where Repo is: empty for the Hugging Face hub, or hub.GitHub.
	Host string `json:"host,omitempty"`
	// Files, or in place of it the embedded List of paths, are what the dataset is
	// put together from when it is pulled, and File is empty: several files, or one
	// whose form or labels are its own.
	Files []File `json:"files,omitempty"`
	List  string `json:"list,omitempty"`
	// Columns are those of the file or files.
	Columns Columns `json:"columns"`
	// Pairs says how prompts make pairs, nil where they make none.
	Pairs *Pairs `json:"pairs,omitempty"`
	// LabelValues says what the values of the label column mean, where they are no
	// labels; nil where they are.
	LabelValues map[string]orbench.Label `json:"label_values,omitempty"`
	License     string                   `json:"licence"`
	// Restricts says what the license does not allow, and why Pull wants it
	// accepted; empty for a license that allows any use.
	Restricts string `json:"restricts,omitempty"`
	About     string `json:"about"`
	// Unchecked says what of this row could not be checked against the file itself.
	Unchecked string `json:"unchecked,omitempty"`
	// Makers names the models that helped to make it, each under all the names that
	// it goes by; nil where nothing is known.
	Makers Makers `json:"making,omitempty"`
	// Present is true when the dataset can be opened as it is. Path and Commit
	// say where it is and which commit it came from, for pulled ones.
	Present bool   `json:"present"`
	Path    string `json:"path,omitempty"`
	Commit  string `json:"commit,omitempty"`
}

// File is one of the files that a dataset is put together from.
type File struct {
	// Path is where it is in the repository.
	Path string `json:"path"`
	// Label is that of all its rows, empty where the dataset's or the rows' counts.
	Label orbench.Label `json:"label,omitempty"`
	// SHA256 is the hash of its bytes, where it is known.
	SHA256 string `json:"sha256,omitempty"`
}

// URL is the page of the dataset's repository, or "" for a built-in one.
func (e Entry) URL() string {
	if e.BuiltIn {
		return ""
	}
	return e.repository().URL()
}

// repository is where its files are.
func (e Entry) repository() hub.Repository {
	return hub.Repository{Host: e.Host, Name: e.Repo, Revision: e.Revision}
}

// HowToGet says in a clause how to make the dataset present, or "" when it is. The
// setting that it may need is in backquotes, as in the hint of an error.
func (e Entry) HowToGet() string {
	if e.Present {
		return ""
	}
	how := "orbench dataset pull " + e.Name
	if e.Restricts != "" {
		how += " `accept-license`"
	}
	return how
}

// List gives the datasets that have a name, in the order in which they should
// be shown, with what the cache folder holds of them.
func List(cache string) []Entry {
	list := entries()
	for i := range list {
		e := &list[i]
		if e.BuiltIn {
			e.Present = true
			continue
		}
		if p, err := e.pulled(cache); err == nil {
			e.Present, e.Path, e.Commit = true, e.path(cache), p.Commit
		}
	}
	return list
}

// IsName reports whether ref is the name of a built-in or published dataset, and
// not a path.
func IsName(ref string) bool {
	_, _, ok := find(ref)
	return ok
}

// find gives the dataset of a name, and all names.
func find(name string) (found Entry, names []string, ok bool) {
	for _, e := range entries() {
		if e.Name == name {
			found, ok = e, true
		}
		names = append(names, e.Name)
	}
	return found, names, ok
}

// entries parses the table. A fault in it is the programmer's.
func entries() []Entry {
	d := json.NewDecoder(bytes.NewReader(publishedJSON))
	d.DisallowUnknownFields()
	var list []Entry
	if err := d.Decode(&list); err != nil {
		panic("dataset: published.json: " + err.Error())
	}
	return list
}

// path is where the cache keeps the file, and sidecar where it keeps the record
// of the pull.
func (e Entry) path(cache string) string {
	return filepath.Join(cache, e.Name+e.format())
}

// format is that of the file in the cache.
func (e Entry) format() string {
	if e.File == "" {
		return ".jsonl"
	}
	return filepath.Ext(e.File)
}

// files are what is fetched.
func (e Entry) files() []File {
	switch {
	case e.File != "":
		return []File{{Path: e.File, SHA256: e.FileSHA256}}
	case e.List == "":
		return e.Files
	}
	list, err := lists.ReadFile(e.List)
	if err != nil {
		panic("dataset: published.json: " + err.Error())
	}
	var files []File
	for _, path := range strings.Fields(string(list)) {
		files = append(files, File{Path: path})
	}
	return files
}

func (e Entry) sidecar(cache string) string {
	return filepath.Join(cache, e.Name+".json")
}

// maxSidecar is the longest file in bytes that says something of others.
const maxSidecar = 1 << 20

// pulled reads the record of the pull. It fails with fs.ErrNotExist when the
// dataset is not in the cache.
func (e Entry) pulled(cache string) (pulled, error) {
	var p pulled
	if cache == "" {
		return p, fs.ErrNotExist
	}
	b, err := untrusted.ReadFile(e.sidecar(cache), maxSidecar)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(b, &p); err != nil || p.SHA256 == "" {
		return p, fs.ErrNotExist
	}
	if _, err := os.Stat(e.path(cache)); err != nil {
		return p, err
	}
	return p, nil
}

// options are the columns and the label of the file in the cache.
func (e Entry) options() Options {
	c := e.Columns
	if e.File == "" && !e.BuiltIn {
		c = e.assembled()
	}
	opts := Options{Prompt: c.Prompt, Category: c.Category, Label: c.Label, Cluster: c.Cluster, Pair: c.Pair, Default: orbench.Safe}
	if e.Label != perRow {
		opts.Default = orbench.Label(e.Label)
	}
	return opts
}

// source gives where the entry's rows are.
func (e Entry) source(opts Options) (source, error) {
	s := source{name: e.Name, opts: e.options(), makers: e.Makers, pairs: e.Pairs}
	if e.BuiltIn {
		s.path, s.embedded = builtIn, starterCSV
		return s, nil
	}
	p, err := e.pulled(opts.Cache)
	if errors.Is(err, fs.ErrNotExist) {
		return s, &orbench.InputError{
			Problem: fmt.Sprintf("the dataset %s is not on this machine", e.Name),
			Hint:    "fetch it with: " + e.HowToGet(),
		}
	}
	if err != nil {
		return s, fmt.Errorf("dataset %s: %w", e.Name, err)
	}
	s.path, s.wantSHA256 = e.path(opts.Cache), p.SHA256
	return s, nil
}
