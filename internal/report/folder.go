package report

import (
	"errors"
	"fmt"
	"io"

	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/page"
	"github.com/orbench/orbench/internal/report/answers"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// The files of a report folder.
const (
	PageFile = "report.html"
	// AnswersPage shows all answers. It loads the files of the folder answers.
	AnswersPage = "answers.html"
	AnswersFile = "answers.jsonl"
	// ProvenanceFile says how the figures were made, for the files that have no
	// room for it.
	ProvenanceFile = "provenance.json"
)

// Folder is a report being written into a directory: the pages, the plots as SVG, PNG
// and PDF, the figures as JSON, CSV and Markdown, and every answer. The directory is
// there as a whole or not at all. Use it so:
//
//	f, err := report.Create(dir, of, false)
//	...
//	defer f.Discard()
//	for each chunk of rows { f.Add(chunk) }
//	return f.Finish(result)
type Folder struct {
	files    *folder.Folder
	redacted bool
	answers  *answers.Writer
}

// Create starts a report that will be at dir, without the texts of prompts and answers if
// it is redacted. If dir already holds a report of the same subject, Finish replaces it. If
// dir holds anything else, Create returns an *orbench.InputError.
func Create(dir string, of folder.Subject, redacted bool) (*Folder, error) {
	files, err := folder.Create(dir, of)
	if err != nil {
		return nil, err
	}
	all, err := answers.NewWriter(files, AnswersPage, AnswersFile, redacted)
	if err != nil {
		return nil, errors.Join(err, files.Discard())
	}
	return &Folder{files, redacted, all}, nil
}

// Dir is where the report is once Finish has returned.
func (f *Folder) Dir() string { return f.files.Dir() }

// Add takes the rows of all targets on some prompts.
func (f *Folder) Add(c score.Chunk) error { return f.answers.Add(c) }

// Finish writes all files for the figures of the added rows and moves the
// report into place. Do not use the Folder after Finish, whatever it returns.
func (f *Folder) Finish(r score.Result) error {
	if err := f.write(r); err != nil {
		return errors.Join(fmt.Errorf("write the report %s: %w", f.Dir(), err), f.Discard())
	}
	return f.files.Finish()
}

func (f *Folder) write(r score.Result) error {
	linked := []string{AnswersFile}
	write := func(name string, of func(io.Writer) error) error {
		linked = append(linked, name)
		_, err := f.files.Write(name, of)
		return err
	}
	err := errors.Join(write("report.csv", table.AsCSV.Of(View{Result: r})), write("report.json", table.AsJSON.Of(View{Result: r})), write("report.md", table.AsMarkdown.Of(View{Result: r})))
	if r.Provenance != nil {
		err = errors.Join(err, write(ProvenanceFile, r.Provenance.JSON))
	}
	if judges := r.Judges(); len(judges) > 0 {
		for _, p := range plots(r, judges[0]) {
			p.figure.About = r.Provenance.Line()
			for _, format := range chart.Formats {
				err = errors.Join(err, write(p.name+"."+format, p.figure.As(format)))
			}
		}
	}
	menu := func(here string) []page.Link {
		return []page.Link{{Text: "Report", Address: PageFile, Here: here == PageFile}, {Text: "Answers", Address: AnswersPage, Here: here == AnswersPage}}
	}
	of := Page{Result: r, Frame: page.File("", page.Style, page.Script), Files: linked, Opens: func(q page.Query) string { return q.Fragment(AnswersPage) }}
	of.Frame.Menu, of.Frame.Redacted = menu(PageFile), f.redacted
	if err := errors.Join(err, write(PageFile, of.Write)); err != nil {
		return err
	}
	return f.answers.Finish(r, "Answers", headOf(r), menu(AnswersPage))
}

// Discard removes what was written of an unfinished report. It does nothing
// after Finish.
func (f *Folder) Discard() error { return f.files.Discard() }
