package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/evaluate"
)

// The files of a report folder.
const (
	PageFile    = "report.html"
	AnswersFile = "answers.jsonl"
	// PropensityFile is there when targets are asked several times.
	PropensityFile = "propensity.csv"
)

// Folder is a report being written into a directory: the page, the plots as SVG
// and PNG, the figures as JSON, CSV and Markdown, and every answer.
//
// The files are written beside the directory and take its name in one step at
// the end, so that a report is there as a whole or not at all. Use it so:
//
//	f, err := report.Create(dir)
//	...
//	defer f.Discard()
//	for each row { f.Add(row) }
//	return f.Finish(result)
type Folder struct {
	dir, temp string
	answers   *os.File
	collector *Collector
	// propensities is nil until a prompt is added that was asked several times.
	propensities *csvFile
}

// Create begins a report that will be dir. It returns an *orbench.InputError when
// dir is there already and holds anything: a report never overwrites.
func Create(dir string) (*Folder, error) {
	dir = filepath.Clean(dir)
	if err := vacant(dir); err != nil {
		return nil, err
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, &orbench.InputError{
			File: "--out", Problem: fmt.Sprintf("cannot make the directory %s: %v", parent, err),
			Hint: "choose a directory that you may write to", Err: err,
		}
	}
	temp, err := os.MkdirTemp(parent, "."+filepath.Base(dir)+".unfinished-*")
	if err != nil {
		return nil, &orbench.InputError{
			File: "--out", Problem: fmt.Sprintf("cannot write in %s: %v", parent, err),
			Hint: "choose a directory that you may write to", Err: err,
		}
	}
	f := &Folder{dir: dir, temp: temp}
	f.answers, err = os.OpenFile(filepath.Join(temp, AnswersFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, errors.Join(err, f.Discard())
	}
	f.collector = NewCollector(f.answers)
	return f, nil
}

// vacant returns an error unless dir is missing or an empty directory.
func vacant(dir string) error {
	taken := func(problem string) error {
		return &orbench.InputError{
			File: "--out", Problem: dir + " " + problem,
			Hint: "a report never overwrites: give another directory, or move this one away",
		}
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return &orbench.InputError{File: "--out", Problem: err.Error(), Hint: "give another directory", Err: err}
	case !info.IsDir():
		return taken("is a file")
	}
	d, err := os.Open(dir)
	if err != nil {
		return &orbench.InputError{File: "--out", Problem: err.Error(), Hint: "give another directory", Err: err}
	}
	defer d.Close()
	if _, err := d.Readdirnames(1); !errors.Is(err, io.EOF) {
		return taken("holds files already")
	}
	return nil
}

// Dir is where the report will be once Finish has returned.
func (f *Folder) Dir() string { return f.dir }

// Add takes one row of the run; see Collector.Add.
func (f *Folder) Add(row evaluate.Row) error { return f.collector.Add(row) }

// AddPropensity takes what a target that is asked several times does with one
// prompt: a line of PropensityFile.
func (f *Folder) AddPropensity(p evaluate.PromptPropensity) error {
	if f.propensities == nil {
		made, err := createCSV(filepath.Join(f.temp, PropensityFile), propensityHeader)
		if err != nil {
			return err
		}
		f.propensities = made
	}
	return f.propensities.Write(propensityRow(p))
}

// Finish writes all files for the figures of the rows added and puts the report
// in its place. The Folder is done with after it, whatever it returns.
func (f *Folder) Finish(r evaluate.Result) error {
	if err := f.finish(r); err != nil {
		return errors.Join(fmt.Errorf("write the report %s: %w", f.dir, err), f.Discard())
	}
	return nil
}

func (f *Folder) finish(r evaluate.Result) error {
	if err := f.collector.Flush(); err != nil {
		return err
	}
	if err := f.answers.Close(); err != nil {
		return err
	}
	f.answers = nil
	if f.propensities != nil {
		if err := f.propensities.close(); err != nil {
			return err
		}
		f.propensities = nil
	}
	// The plots show what the page does: one point for the samples of a target.
	shown := r.Folded()
	if err := f.collector.conserved(r); err != nil {
		return err
	}
	type file struct {
		name  string
		write func(io.Writer) error
	}
	files := []file{
		{"report.json", func(w io.Writer) error { return JSON(w, r) }},
		{"report.csv", func(w io.Writer) error { return CSV(w, r) }},
		{"report.md", func(w io.Writer) error { return Markdown(w, r) }},
		{PageFile, func(w io.Writer) error { return writePage(w, r, f.collector) }},
	}
	if judges := r.Judges(); len(judges) > 0 {
		// The first judge is the run's main one; the page draws the others too.
		if fig, ok := tradeOff(shown, judges[0]); ok {
			files = append(files, file{"tradeoff.svg", fig.svg}, file{"tradeoff.png", fig.png})
		}
		if fig, ok := heatMap(shown, judges[0]); ok {
			files = append(files, file{"categories.svg", fig.svg}, file{"categories.png", fig.png})
		}
		if fig, ok := propensityPlot(shown, judges[0]); ok {
			files = append(files, file{"propensity.svg", fig.svg}, file{"propensity.png", fig.png})
		}
	}
	for _, file := range files {
		if err := writeFile(filepath.Join(f.temp, file.name), file.write); err != nil {
			return err
		}
	}
	if err := os.Chmod(f.temp, 0o755); err != nil {
		return err
	}
	// An empty directory is in the way of the new name; removing it fails when
	// someone has put a file into it meanwhile, and then so does this report.
	if err := os.Remove(f.dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(f.temp, f.dir); err != nil {
		return err
	}
	f.temp = ""
	return nil
}

func writeFile(path string, write func(io.Writer) error) error {
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(out)
	err = write(b)
	if err == nil {
		err = b.Flush()
	}
	return errors.Join(err, out.Close())
}

// Discard removes what was written of a report that is not finished. It does
// nothing after Finish.
func (f *Folder) Discard() error {
	var err error
	if f.answers != nil {
		err = f.answers.Close()
		f.answers = nil
	}
	if f.propensities != nil {
		err = errors.Join(err, f.propensities.close())
		f.propensities = nil
	}
	if f.temp != "" {
		err = errors.Join(err, os.RemoveAll(f.temp))
		f.temp = ""
	}
	return err
}
