package benchmark

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/untrusted"
)

// The files of a benchmark's folder, beside a CSV and a Parquet file for each set and for
// the pairs: the safe prompts and the toxic seeds that they stem from. In a benchmark of
// conversations these are JSON Lines.
const (
	ManifestFile = "manifest.json"
	LineageFile  = "lineage.jsonl"
	SeedsFile    = "seeds.jsonl"
	CardFile     = "README.md"
	// TasksFile makes the folder a benchmark on the Hugging Face hub.
	TasksFile = "eval.yaml"
)

// Task names the task of a benchmark on the Hugging Face hub: prompts of a dataset that are
// to be answered or refused. It is empty for labels that say neither.
func Task(dataset string, label orbench.Label) string {
	switch label {
	case orbench.Safe:
		return dataset + "_answered"
	case orbench.Toxic:
		return dataset + "_refused"
	}
	return ""
}

// maxManifest is the longest manifest and maxLine the longest line of a lineage, in
// bytes.
const maxManifest, maxLine = 16 << 20, 16 << 20

// Folder is a benchmark that was written to a folder.
type Folder struct {
	Dir      string
	Manifest Manifest
}

// Open reads the manifest of a benchmark's folder. A folder without one, or with
// one of another format, is an *orbench.InputError.
func Open(dir string) (*Folder, error) {
	path := filepath.Join(dir, ManifestFile)
	text, err := untrusted.ReadFile(path, maxManifest)
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
	if f.Manifest.Format != Format {
		return nil, &orbench.InputError{File: path, Problem: "a manifest of another version of orbench", Hint: "use the orbench that built it, or build it again"}
	}
	return f, nil
}

// Rows streams the lineage. It ends with an *orbench.InputError at a line that is no row,
// or if the file is not the one in the manifest.
func (f *Folder) Rows() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		n := 0
		for line, err := range f.lineage() {
			n++
			var r Record
			if err == nil {
				if err = json.Unmarshal(line, &r); err != nil {
					err = f.notARow(n, err)
				}
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// lineage streams the lines of the lineage. Each is valid until the next. It ends with an
// error if the file is not the one in the manifest.
func (f *Folder) lineage() iter.Seq2[[]byte, error] {
	path := filepath.Join(f.Dir, LineageFile)
	return func(yield func([]byte, error) bool) {
		in, err := os.Open(path)
		if err != nil {
			yield(nil, &orbench.InputError{File: path, Problem: "cannot be read: " + err.Error(), Hint: "build the benchmark again", Err: err})
			return
		}
		defer in.Close()
		hash := sha256.New()
		for line, err := range linesOf(io.TeeReader(in, hash)) {
			if !yield(line, err) || err != nil {
				return
			}
		}
		if hex.EncodeToString(hash.Sum(nil)) != f.Manifest.Files[LineageFile].SHA256 {
			yield(nil, &orbench.InputError{
				File: path, Problem: "the file is not the one that was built: its hash is not the one in " + ManifestFile,
				Hint: "build the benchmark again; its replies are in the store",
			})
		}
	}
}

func (f *Folder) notARow(line int, err error) error {
	return &orbench.InputError{
		File: filepath.Join(f.Dir, LineageFile), Line: line, Problem: "not a row of a lineage: " + err.Error(),
		Hint: "the file was changed; build the benchmark again, its replies are in the store", Err: err,
	}
}

// Seeds reads the seeds.
func (f *Folder) Seeds() (seeds []Seed, err error) {
	path := filepath.Join(f.Dir, SeedsFile)
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	for line, err := range linesOf(in) {
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

// linesOf streams the lines of a file, which may be long. Each is valid until the next.
func linesOf(in io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(in)
		lines.Buffer(make([]byte, 0, 1<<20), maxLine)
		for lines.Scan() {
			if !yield(lines.Bytes(), nil) {
				return
			}
		}
		err := lines.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("the line has more than %d bytes", maxLine)
		}
		if err != nil {
			yield(nil, err)
		}
	}
}
