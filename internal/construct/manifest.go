package construct

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/orbench/orbench"
)

// The files of a benchmark's folder, beside a CSV and a Parquet file for each
// set.
const (
	ManifestFile = "manifest.json"
	LineageFile  = "lineage.jsonl"
	SeedsFile    = "seeds.jsonl"
	CardFile     = "README.md"
)

// format is the version of the folder's layout.
const format = 1

// Manifest says what a benchmark's folder holds and how it came to be. It is the
// file manifest.json.
type Manifest struct {
	// Format is the version of the layout, 1.
	Format    int    `json:"orbench_benchmark"`
	Name      string `json:"name"`
	Version   string `json:"version"`
	Builds    int    `json:"builds"`
	Simulated bool   `json:"simulated"`
	// Files describes every other file of the folder, by its name.
	Files map[string]File `json:"files"`
	// Config is the configuration with everything filled in.
	Config  Config                   `json:"config"`
	Models  []Spent                  `json:"models"`
	Funnel  Funnel                   `json:"funnel"`
	WornOut []WornOut                `json:"worn_out"`
	Batches map[orbench.Category]int `json:"batches"`
	// Steering is there for a build that was steered towards a target.
	Steering *Steering `json:"steering,omitempty"`
	Quality  Quality   `json:"quality"`
}

// File is a file of the folder.
type File struct {
	SHA256 string `json:"sha256"`
	// Rows counts prompts, seeds or rows of the lineage; 0 for other files.
	Rows int `json:"rows,omitempty"`
	// Label is what the prompts of a set are.
	Label orbench.Label `json:"label,omitempty"`
}

// Folder is a benchmark that was written to a folder.
type Folder struct {
	Dir      string
	Manifest Manifest
}

// OpenFolder reads the manifest of a benchmark's folder. A folder without one is
// an *orbench.InputError.
func OpenFolder(dir string) (*Folder, error) {
	path := filepath.Join(dir, ManifestFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &orbench.InputError{
			File: dir, Problem: "is not the folder of a benchmark: " + errors.Unwrap(err).Error() + " (" + ManifestFile + ")",
			Hint: `name a folder that "orbench build" wrote`, Err: err,
		}
	}
	f := &Folder{Dir: dir}
	if err := json.Unmarshal(text, &f.Manifest); err != nil {
		return nil, &orbench.InputError{File: path, Problem: "not a manifest: " + err.Error(), Hint: "build the benchmark again", Err: err}
	}
	if f.Manifest.Format != format {
		return nil, &orbench.InputError{File: path, Problem: "a manifest of another version of orbench", Hint: "use the orbench that built it, or build it again"}
	}
	return f, nil
}

// Rows streams the lineage. A file that is not the one of the manifest ends in an
// *orbench.InputError.
func (f *Folder) Rows() iter.Seq2[Record, error] {
	path := filepath.Join(f.Dir, LineageFile)
	return func(yield func(Record, error) bool) {
		in, err := os.Open(path)
		if err != nil {
			yield(Record{}, &orbench.InputError{File: path, Problem: "cannot be read: " + err.Error(), Hint: "build the benchmark again", Err: err})
			return
		}
		defer in.Close()
		hash := sha256.New()
		for record, err := range records(path, jsonLines(io.TeeReader(in, hash))) {
			if !yield(record, err) || err != nil {
				return
			}
		}
		if hex.EncodeToString(hash.Sum(nil)) != f.Manifest.Files[LineageFile].SHA256 {
			yield(Record{}, &orbench.InputError{
				File: path, Problem: "the file is not the one that was built: its content has another hash than " + ManifestFile + " says",
				Hint: "build the benchmark again; its replies are in the store",
			})
		}
	}
}

// Seeds reads the seeds.
func (f *Folder) Seeds() ([]Seed, error) {
	path := filepath.Join(f.Dir, SeedsFile)
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var seeds []Seed
	for line, err := range jsonLines(in) {
		var s Seed
		if err == nil {
			err = json.Unmarshal(line, &s)
		}
		if err != nil {
			return nil, &orbench.InputError{File: path, Line: len(seeds) + 1, Problem: "not a seed: " + err.Error(), Hint: "build the benchmark again", Err: err}
		}
		seeds = append(seeds, s)
	}
	return seeds, nil
}
