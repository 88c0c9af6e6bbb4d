package construct

import (
	"bufio"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/price"
)

// CheckFolder refuses a folder that Write would not fill: one that is there and
// not empty.
func CheckFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &orbench.InputError{File: dir, Problem: "is not a folder that can be read", Hint: "name another with --out", Err: err}
	case len(entries) > 0:
		return &orbench.InputError{File: dir, Problem: "is there already, and not empty", Hint: "name a new folder with --out, or remove it"}
	}
	return nil
}

// Write writes the benchmark's folder: the sets as CSV and Parquet, the seeds, the
// lineage, the card and the manifest. The folder appears whole or not at all.
func (b *Benchmark) Write(dir string, prices price.Table) (err error) {
	if err := CheckFolder(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	draft, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+"-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(draft)) }()
	if err := os.Chmod(draft, 0o755); err != nil {
		return err
	}
	m := Manifest{
		Format: format, Name: b.Config.Name, Version: b.Config.Version, Builds: b.Builds, Simulated: b.Simulated(),
		Files: map[string]File{}, Config: b.Config, Models: b.Spent, Funnel: b.Funnel, WornOut: b.WornOut,
		Batches: b.Batches, Steering: b.Steering, Quality: quality(b),
	}
	for _, name := range SetNames {
		label := orbench.Safe
		if name == ToxicSet {
			label = orbench.Toxic
		}
		prompts := b.Sets[name]
		for ending, write := range map[string]func(io.Writer, []orbench.Prompt) error{".csv": writeCSV, ".parquet": writeParquet} {
			file := string(name) + ending
			sum, err := writeFile(filepath.Join(draft, file), func(w io.Writer) error { return write(w, prompts) })
			if err != nil {
				return err
			}
			m.Files[file] = File{SHA256: sum, Rows: len(prompts), Label: label}
		}
	}
	rows := 0
	sum, err := writeFile(filepath.Join(draft, LineageFile), func(w io.Writer) error {
		for line, err := range b.lines() {
			if err != nil {
				return err
			}
			rows++
			if _, err := w.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.Files[LineageFile] = File{SHA256: sum, Rows: rows}
	sum, err = writeFile(filepath.Join(draft, SeedsFile), func(w io.Writer) error {
		for _, s := range b.Seeds {
			line, err := encode(s)
			if err != nil {
				return err
			}
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.Files[SeedsFile] = File{SHA256: sum, Rows: len(b.Seeds)}
	sum, err = writeFile(filepath.Join(draft, CardFile), func(w io.Writer) error { return writeCard(w, m, prices) })
	if err != nil {
		return err
	}
	m.Files[CardFile] = File{SHA256: sum}
	if _, err = writeFile(filepath.Join(draft, ManifestFile), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(m)
	}); err != nil {
		return err
	}
	// An empty folder may be there; a rename takes its place.
	return os.Rename(draft, dir)
}

// writeFile writes a file durably and gives its SHA-256 in hex.
func writeFile(path string, write func(io.Writer) error) (sum string, err error) {
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}()
	var h hash.Hash = sha256.New()
	w := bufio.NewWriterSize(io.MultiWriter(f, h), 1<<20)
	err = write(w)
	err = errors.Join(err, w.Flush())
	if err == nil {
		err = f.Sync()
	}
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}

// writeCSV writes prompts in the published layout.
func writeCSV(w io.Writer, prompts []orbench.Prompt) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"prompt", "category"}); err != nil {
		return err
	}
	for _, p := range prompts {
		if err := out.Write([]string{p.Text(), string(p.Category)}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// parquetRow is a row in the published layout.
type parquetRow struct {
	Prompt   string `parquet:"prompt"`
	Category string `parquet:"category"`
}

// writeParquet writes the same rows as writeCSV.
func writeParquet(w io.Writer, prompts []orbench.Prompt) error {
	out := parquet.NewGenericWriter[parquetRow](w, parquet.Compression(&parquet.Zstd))
	rows := make([]parquetRow, len(prompts))
	for i, p := range prompts {
		rows[i] = parquetRow{p.Text(), string(p.Category)}
	}
	if _, err := out.Write(rows); err != nil {
		return err
	}
	return out.Close()
}
