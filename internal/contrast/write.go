package contrast

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

// The files of a set's folder.
const (
	CSVFile      = "contrast.csv"
	ParquetFile  = "contrast.parquet"
	LineageFile  = "lineage.jsonl"
	ManifestFile = "manifest.json"
	CardFile     = "README.md"
)

// Anchor is the axis name of the sources themselves.
const Anchor = "source"

// Entry is a prompt of the set, as written in the files. The set is a dataset with pairs:
// a pair is the wordings of one source on one axis. The source itself belongs to the pair
// on the first axis.
type Entry struct {
	Prompt   string `parquet:"prompt"`
	Category string `parquet:"category"`
	// Label is the moderators' decision, or for a source the label in its dataset.
	Label    string `parquet:"label"`
	Pair     string `parquet:"pair"`
	Axis     string `parquet:"axis"`
	Value    string `parquet:"value"`
	ID       string `parquet:"id"`
	SourceID string `parquet:"source_id"`
}

// entries are the source and its kept wordings.
func (s Source) entries(first string) []Entry {
	all := []Entry{{
		Prompt: s.Prompt.Text(), Category: string(s.Prompt.Category), Label: string(s.Prompt.Label), Pair: string(s.Prompt.ID) + " " + first,
		Axis: Anchor, Value: Anchor, ID: string(orbench.NewPrompt(s.Prompt.Text(), "", "").ID), SourceID: string(s.Prompt.ID),
	}}
	for _, row := range s.Rows {
		if row.Dropped == "" {
			all = append(all, Entry{
				Prompt: row.Text, Category: string(row.Category), Label: string(row.Label), Pair: string(row.Source) + " " + string(row.Axis),
				Axis: string(row.Axis), Value: row.Value, ID: string(row.ID), SourceID: string(row.Source),
			})
		}
	}
	return all
}

// Write derives the set and writes its folder, which appears whole or not at all: the set,
// the lineage of every wording, the counts and the card. An existing folder that is not empty
// is an *orbench.InputError, unless it holds a set of the same run with missing replies.
func (r *Run) Write(ctx context.Context, m store.Reader, dir string) (result *Result, err error) {
	out, err := folder.Create(dir, r.Subject())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, out.Discard()) }()
	var entries []Entry
	var wordings []Wording
	result, err = r.Derive(ctx, m, func(s Source) error {
		entries = append(entries, s.entries(string(r.Wordings[0].Axis))...)
		wordings = append(wordings, s.Rows...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if lost := result.Lost(); lost != "" {
		return nil, fmt.Errorf("the count of %s does not add up; this is a fault of orbench", lost)
	}
	write := func(name string, content func(io.Writer) error) {
		if err == nil {
			_, err = out.Write(name, content)
		}
	}
	write(CSVFile, func(w io.Writer) error { return rows.WriteCSV(w, entries) })
	write(ParquetFile, func(w io.Writer) error { return rows.WriteParquet(w, entries) })
	write(LineageFile, func(w io.Writer) error { return rows.WriteJSONLines(w, wordings) })
	write(ManifestFile, table.AsJSON.Of(result))
	write(CardFile, func(w io.Writer) error {
		var counts table.Document
		counts.Sections(result.sections()...)
		var text strings.Builder
		if err := counts.Markdown(&text); err != nil {
			return err
		}
		return card.Execute(w, struct {
			*Result
			Notice string
			Table  string
		}{result, table.SimulatedNotice, text.String()})
	})
	if err != nil {
		return nil, err
	}
	if result.Missing() == 0 {
		out.Final()
	}
	return result, out.Finish()
}

//go:embed card.md.tmpl
var cardText string

var card = template.Must(template.New(CardFile).Funcs(template.FuncMap{"md": untrusted.Markdown}).Parse(cardText))
