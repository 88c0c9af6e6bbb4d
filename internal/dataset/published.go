package dataset

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/settings"
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

// perRow is an Entry's Label if each row has its own.
const perRow = "per row"

// Entry is a dataset with a name: a row of published.json, with what the cache has of it.
type Entry struct {
	Name string `json:"name"`
	// BuiltIn datasets are part of the program and never pulled.
	BuiltIn bool `json:"built_in,omitempty"`
	// Rows is the known number of rows; Pull requires it.
	Rows int `json:"rows"`
	// Label is the label of all rows, or "per row".
	Label string `json:"label"`
	// Repo is the dataset repository on the hub, Revision the commit to pull, and File
	// the file in it. If Revision is "main", no commit is pinned: the hub gives the
	// current commit, and Pull records it.
	Repo     string `json:"repo,omitempty"`
	Revision string `json:"revision,omitempty"`
	File     string `json:"file,omitempty"`
	// FileSHA256 is the hash of the file's bytes, if known.
	FileSHA256 string `json:"file_sha256,omitempty"`
	// Host is the host of Repo: empty for the Hugging Face hub, or onGitHub.
	Host string `json:"host,omitempty"`
	// Files, or the embedded List of paths, are used if the dataset is assembled when it
	// is pulled; File is then empty. It may have several files, or one with a form or
	// labels of its own.
	Files []File `json:"files,omitempty"`
	List  string `json:"list,omitempty"`
	// Columns are the columns of the file or files.
	Columns Columns `json:"columns"`
	// Scenario is the column of a text that comes before each prompt of its row, which are
	// in the columns whose names begin with that of the prompt. It is empty if a row is one
	// prompt.
	Scenario string `json:"scenario,omitempty"`
	// Pairs says which prompts make pairs, nil if none do.
	Pairs *Pairs `json:"pairs,omitempty"`
	// LabelValues gives the meaning of the values in the label column, nil if they are
	// labels.
	LabelValues map[string]orbench.Label `json:"label_values,omitempty"`
	License     string                   `json:"licence"`
	// Restricts says what the license does not allow, and why Pull requires acceptance.
	// It is empty for a license that allows any use.
	Restricts string `json:"restricts,omitempty"`
	About     string `json:"about"`
	// Character says in a few words how such a set differs from others, as "an easy set" does;
	// empty where that is not known.
	Character string `json:"character,omitempty"`
	// Training is true for prompts that are made to train on, and so are no evaluation set.
	Training bool `json:"training,omitempty"`
	// Unchecked says what part of this row could not be checked against the file itself.
	Unchecked string `json:"unchecked,omitempty"`
	// Makers names the models that helped to make the dataset, each under all its names;
	// nil if unknown.
	Makers Makers `json:"making,omitempty"`
	// Present is true if the dataset can be opened now. For a pulled one, Path is its
	// file and Commit the commit it came from.
	Present bool   `json:"present"`
	Path    string `json:"path,omitempty"`
	Commit  string `json:"commit,omitempty"`
}

// File is one of the files from which a dataset is assembled.
type File struct {
	// Path is the path in the repository.
	Path string `json:"path"`
	// Label is the label of all rows. It is empty if the dataset's label, or each row's,
	// applies.
	Label orbench.Label `json:"label,omitempty"`
	// SHA256 is the hash of its bytes, if known.
	SHA256 string `json:"sha256,omitempty"`
}

// URL is the page of the dataset's repository, or "" for a built-in one.
func (e Entry) URL() string {
	switch {
	case e.BuiltIn:
		return ""
	case e.Host == onGitHub:
		return "https://github.com/" + e.Repo
	}
	return hubURL + "/datasets/" + e.Repo
}

// HowToGet says in a clause how to make the dataset present, or "" if it is. A setting
// that it needs is in backquotes, as in the hint of an error.
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

// List gives the named datasets in the order of display, with what the cache folder has
// of them.
func List(cache string) []Entry {
	list := slices.Clone(entries())
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
	_, ok := Named(ref)
	return ok
}

// Absolute makes a path independent of the working directory; names of built-in and published
// datasets stay as they are.
func Absolute(ref string) string {
	if IsName(ref) {
		return ref
	}
	if path, ok := strings.CutPrefix(ref, ReplayPrefix); ok {
		if !filepath.IsAbs(path) {
			path = Absolute("./" + path)
		}
		return ReplayPrefix + path
	}
	abs, err := filepath.Abs(ref)
	if err != nil {
		return ref
	}
	return abs
}

// Named gives the dataset with a name; ok is false if ref is none.
func Named(ref string) (e Entry, ok bool) {
	all := entries()
	i := slices.IndexFunc(all, func(e Entry) bool { return e.Name == ref })
	if i < 0 {
		return e, false
	}
	return all[i], true
}

// names are those of the datasets, and near the one that is most like a name, empty if none
// is.
func names(like string) (list, near string) {
	var all []string
	for _, e := range entries() {
		all = append(all, e.Name)
	}
	return strings.Join(all, ", "), settings.Nearest(like, all)
}

// entries is the table. A fault in it is a bug in the program.
var entries = settings.BuiltIn[[]Entry]("published.json", publishedJSON)

// path is the place of the file in the cache, and sidecar the place of the record of the
// pull.
func (e Entry) path(cache string) string {
	return filepath.Join(cache, e.Name+cmp.Or(filepath.Ext(e.File), ".jsonl"))
}

// files are the files to fetch.
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

// maxSidecar is the longest sidecar file, in bytes.
const maxSidecar = 1 << 20

// pulled reads the record of the pull. It fails with fs.ErrNotExist if the dataset is not
// in the cache.
func (e Entry) pulled(cache string) (p pulled, err error) {
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
	_, err = os.Stat(e.path(cache))
	return p, err
}

// options are the columns and the label of the file in the cache.
func (e Entry) options() Options {
	c := e.Columns
	if e.File == "" && !e.BuiltIn {
		c = e.assembled()
	}
	opts := c.options(orbench.Safe)
	if e.Label != perRow {
		opts.Default = orbench.Label(e.Label)
	}
	return opts
}

// options reads the columns. label is that of all rows in a file without labels.
func (c Columns) options(label orbench.Label) Options {
	return Options{Prompt: c.Prompt, Category: c.Category, Label: c.Label, Cluster: c.Cluster, Pair: c.Pair, Default: label}
}

// source gives the source of the entry's rows.
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

// accept requires that a license which restricts use is accepted: now, or earlier if the
// cache remembers it.
func (e Entry) accept(opts PullOptions) error {
	if e.Restricts == "" {
		return nil
	}
	accepted, err := acceptedLicenses(opts.Cache)
	if err != nil {
		return err
	}
	if accepted[e.Name] == e.License {
		return nil
	}
	if !opts.AcceptLicense {
		return &orbench.InputError{
			Problem: fmt.Sprintf("the license of %s is %q: %s; see %s", e.Name, e.License, e.Restricts, e.URL()),
			Hint:    "if your use is allowed, accept it with: " + e.HowToGet(),
		}
	}
	accepted[e.Name] = e.License
	return replaceJSON(licensesFile(opts.Cache), accepted)
}

// licensesFile is the cache's file of accepted licenses. No dataset has this name.
func licensesFile(cache string) string { return filepath.Join(cache, "licenses.json") }

// acceptedLicenses gives the accepted licenses, by dataset.
func acceptedLicenses(cache string) (map[string]string, error) {
	accepted := map[string]string{}
	text, err := untrusted.ReadFile(licensesFile(cache), maxSidecar)
	if errors.Is(err, fs.ErrNotExist) {
		return accepted, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &accepted)
	}
	if err != nil {
		return nil, fmt.Errorf("the accepted licenses in %s: %w", licensesFile(cache), err)
	}
	return accepted, nil
}
