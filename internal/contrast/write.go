package contrast

import (
	_ "embed"
	"io"
	"strings"
	"text/template"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/rows"
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

// Writer writes a set's folder, which appears whole or not at all.
type Writer struct {
	out     *folder.Folder
	run     *Run
	entries []Entry
	rows    []Wording
}

// NewWriter begins a folder that will become dir. An existing folder that is not empty is
// an *orbench.InputError, unless it holds a set of the same run with missing replies. The
// caller must call Write or Discard.
func NewWriter(r *Run, dir string) (*Writer, error) {
	out, err := folder.Create(dir, r.Subject())
	return &Writer{out: out, run: r}, err
}

// Add takes a prompt with its wordings.
func (w *Writer) Add(s Source) error {
	w.entries = append(w.entries, s.entries(string(w.run.Wordings[0].Axis))...)
	w.rows = append(w.rows, s.Rows...)
	return nil
}

// Discard removes the files written so far. It does nothing after Write.
func (w *Writer) Discard() error { return w.out.Discard() }

// Write writes the set, the lineage of every wording, the counts and the card.
func (w *Writer) Write(r *Result) error {
	var failed error
	write := func(name string, content func(io.Writer) error) {
		if failed == nil {
			_, failed = w.out.Write(name, content)
		}
	}
	write(CSVFile, func(out io.Writer) error { return rows.WriteCSV(out, w.entries) })
	write(ParquetFile, func(out io.Writer) error { return rows.WriteParquet(out, w.entries) })
	write(LineageFile, func(out io.Writer) error { return rows.WriteJSONLines(out, w.rows) })
	write(ManifestFile, table.AsJSON.Of(r))
	write(CardFile, func(out io.Writer) error {
		var counts table.Document
		counts.Sections(r.sections()...)
		var text strings.Builder
		if err := counts.Markdown(&text); err != nil {
			return err
		}
		return card.Execute(out, struct {
			*Result
			Notice string
			Table  string
		}{r, table.SimulatedNotice, text.String()})
	})
	if failed != nil {
		return failed
	}
	if r.Missing() == 0 {
		w.out.Final()
	}
	return w.out.Finish()
}

//go:embed card.md.tmpl
var cardText string

var card = template.Must(template.New(CardFile).Funcs(template.FuncMap{"md": untrusted.Markdown}).Parse(cardText))
