package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset/hub"
)

// assembled are the columns of an assembled dataset. The names are always the same; a
// column exists only if the files have it.
func (e Entry) assembled() Columns {
	c := Columns{Prompt: "prompt"}
	if e.Columns.Category != "" {
		c.Category = "category"
	}
	if e.Label == perRow {
		c.Label = "label"
	}
	if e.Columns.Cluster != "" {
		c.Cluster = "cluster"
	}
	if e.Columns.Pair != "" {
		c.Pair = "pair"
	}
	return c
}

// assemble makes one JSON Lines file from all files, in their order, with the program's
// own columns and labels. It keeps duplicates. dir is for temporary files.
func (e Entry) assemble(dir string, all []hub.File) ([]byte, error) {
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	lines.SetEscapeHTML(false)
	columns := e.assembled()
	for i, f := range e.files() {
		// Errors name the file, so its name is kept.
		file := filepath.Join(dir, path.Base(f.Path))
		if err := os.WriteFile(file, all[i].Content, 0o600); err != nil {
			return nil, err
		}
		opts := Options{
			Prompt: e.Columns.Prompt, Category: e.Columns.Category, Label: e.Columns.Label,
			Cluster: e.Columns.Cluster, Pair: e.Columns.Pair, Default: f.Label,
		}
		if opts.Default == "" {
			opts.Default = orbench.Label(e.Label)
		}
		in, err := source{path: file, opts: opts, labels: e.LabelValues}.open()
		for p, err := range itemsOf(in, err) {
			if err == nil {
				err = lines.Encode(columns.row(p))
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Path, err)
			}
		}
	}
	return out.Bytes(), nil
}

// row is a prompt of one message under the names of columns.
func (c Columns) row(p orbench.Prompt) map[string]string {
	row := map[string]string{c.Prompt: p.Text()}
	for name, value := range map[string]string{
		c.Category: string(p.Category), c.Label: string(p.Label), c.Cluster: p.Cluster, c.Pair: p.Pair,
	} {
		if name != "" {
			row[name] = value
		}
	}
	return row
}
