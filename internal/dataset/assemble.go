package dataset

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/orbench/orbench"
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
func (e Entry) assemble(dir string, all []fetched) ([]byte, error) {
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	lines.SetEscapeHTML(false)
	columns := e.assembled()
	for i, f := range e.files() {
		// Errors name the file, so its name is kept.
		file, content := filepath.Join(dir, path.Base(f.Path)), all[i].Content
		if e.Scenario != "" {
			var err error
			if content, err = e.inScenarios(content); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Path, err)
			}
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return nil, err
		}
		opts := e.Columns.options(cmp.Or(f.Label, orbench.Label(e.Label)))
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

// row is a prompt of one message under the names of columns. Line breaks at its end, which all
// prompts of OKTest have, are no part of it.
func (c Columns) row(p orbench.Prompt) map[string]string {
	row := map[string]string{c.Prompt: strings.TrimRight(p.Text(), "\r\n")}
	for name, value := range map[string]string{
		c.Category: string(p.Category), c.Label: string(p.Label), c.Cluster: p.Cluster, c.Pair: p.Pair,
	} {
		if name != "" {
			row[name] = value
		}
	}
	return row
}

// inScenarios makes a CSV file of a row a prompt from one of a row a scenario: the prompt is
// the scenario, an empty line and the prompt. A file that is not UTF-8 is read as GB 18030.
// Quotes around all of a cell are no part of its text.
func (e Entry) inScenarios(content []byte) ([]byte, error) {
	if !utf8.Valid(content) {
		var err error
		if content, err = simplifiedchinese.GB18030.NewDecoder().Bytes(content); err != nil {
			return nil, err
		}
	}
	records, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil {
		return nil, err
	}
	header := records[:min(1, len(records))]
	scenario, cluster := -1, -1
	if len(header) > 0 {
		scenario, cluster = slices.Index(header[0], e.Scenario), slices.Index(header[0], e.Columns.Cluster)
	}
	if scenario < 0 || cluster < 0 {
		return nil, fmt.Errorf("no columns %q and %q", e.Scenario, e.Columns.Cluster)
	}
	text := func(cell string) string {
		cell = strings.TrimSpace(cell)
		if len(cell) > 1 && cell[0] == '"' && cell[len(cell)-1] == '"' {
			cell = cell[1 : len(cell)-1]
		}
		return strings.TrimSpace(cell)
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	err = w.Write([]string{e.Columns.Prompt, e.Columns.Cluster})
	for _, r := range records[1:] {
		for i, name := range header[0] {
			if prompt := text(r[i]); strings.HasPrefix(name, e.Columns.Prompt) && prompt != "" {
				err = errors.Join(err, w.Write([]string{text(r[scenario]) + "\n\n" + prompt, r[cluster]}))
			}
		}
	}
	w.Flush()
	return out.Bytes(), errors.Join(err, w.Error())
}
