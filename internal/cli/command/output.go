package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/chart"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/interchange"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/table"
)

// formats are the ways to write a view. Whoever adds one lists it here.
var formats = []table.Format{table.AsText, table.AsJSON, table.AsCSV, table.AsMarkdown, table.AsLaTeX}

// Formats are the values of --format of commands that show a view, TwoFormats those of
// the others.
var (
	Formats    = table.RowsOf(formats, func(f table.Format) string { return f.Name })
	TwoFormats = Formats[:2]
)

// value is the value of a flag: what it is shown as, and what takes its text.
type value struct {
	shown func() string
	set   func(text string) error
}

func (v value) String() string        { return v.shown() }
func (v value) Type() string          { return "string" }
func (v value) Set(text string) error { return v.set(text) }

// ChoiceFlag registers a flag that takes one of the words that are offered, by default the
// first. unknown begins the error for any other word, such as "there is no format".
func ChoiceFlag(c *cobra.Command, into *string, flag string, offered []string, unknown, usage string) {
	*into = offered[0]
	set := func(word string) error {
		if !slices.Contains(offered, word) {
			return InputError("--"+flag, fmt.Sprintf("%s %q", unknown, word), "use "+either(offered))
		}
		*into = word
		return nil
	}
	c.Flags().Var(value{func() string { return *into }, set}, flag, usage)
	CompleteFlag(c, flag, offered)
}

// ShareFlag registers a flag that takes a share, such as 2pp, by default the usual one.
func ShareFlag(c *cobra.Command, into *float64, flag, usual, usage string) {
	shown := ""
	set := func(text string) (err error) {
		shown = text
		*into, err = settings.ParseShare(flag, text)
		return err
	}
	if err := set(usual); err != nil {
		panic(err) // a fault of the caller
	}
	c.Flags().Var(value{func() string { return shown }, set}, flag, usage)
}

// FormatFlag registers --format.
func FormatFlag(c *cobra.Command, format *string, offered []string) {
	ChoiceFlag(c, format, "format", offered, "there is no format", "`FORMAT` to print: "+either(offered))
}

// either lists words of which one is to be chosen.
func either(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Printed holds the flags for how results are printed.
type Printed struct {
	// Format is one of Formats.
	Format string
	// Full is true for every table and column on a terminal.
	Full bool
}

// Register gives a command the flags, with some of the Formats.
func (f *Printed) Register(c *cobra.Command, offered []string) {
	FormatFlag(c, &f.Format, offered)
	f.RegisterFull(c)
}

// RegisterFull gives a command the flag for full tables alone.
func (f *Printed) RegisterFull(c *cobra.Command) {
	c.Flags().BoolVar(&f.Full, "full", false, "print every table and column, whatever the terminal's width")
}

// Screen is what standard output is shown on.
func (e *Env) Screen(full bool) table.Screen {
	s := table.Screen{Whole: "--full", Color: table.Colored(e.Stdout, e.Getenv), Commands: e.withStore}
	if !full {
		s.Brief, s.Width = true, table.WidthOf(e.Stdout, e.Getenv)
	}
	return s
}

// Show prints a view as the flags say.
func (e *Env) Show(f Printed, v table.View) error {
	return formatOf(f.Format).Write(e.Stdout, e.Screen(f.Full), v)
}

// formatOf is the format of views with a name, which is one of Formats.
func formatOf(name string) table.Format {
	return formats[slices.IndexFunc(formats, func(f table.Format) bool { return f.Name == name })]
}

// Output are the flags that say where results go.
type Output struct {
	Printed
	// Dir is the new folder of a report, or empty for none.
	Dir string
	// Places are what else is written, in the formats that are named.
	Places []Place
	// Plot is the name of the plot that is written in place of figures; empty for none.
	Plot string
	// Redact leaves the texts of prompts and answers out of what is written.
	Redact bool
}

// Place is a file or folder that results are written to.
type Place struct{ Format, Path string }

// subject is what the place holds of the subject of a study: one format does not replace
// another.
func (p Place) subject(of folder.Subject) folder.Subject {
	if of != (folder.Subject{}) {
		of.Of = p.Format + " of the " + of.Of
	}
	return of
}

// places are those that take answers and figures, or else those that take a view or a plot.
func (f *Output) places(answers bool) []Place {
	return slices.DeleteFunc(slices.Clone(f.Places), func(p Place) bool {
		return (slices.Contains(Formats, p.Format) || slices.Contains(chart.Formats, p.Format)) == answers
	})
}

// outFormats names all formats that --out writes.
func outFormats() []string {
	return append(slices.Clone(Formats), table.RowsOf(interchange.Formats, func(f interchange.Format) string { return f.Name })...)
}

// fileEnding matches the name of a file. A folder may have a dot before a number, as in
// results-v1.2.
var fileEnding = regexp.MustCompile(`[^.]\.[A-Za-z]+$`)

// addOut takes a value of --out.
func (f *Output) addOut(text string) error {
	format, path, named := strings.Cut(text, "=")
	switch {
	case text == "":
		return InputError("--out", "the value is empty", "give one, or leave the flag out")
	case named && strings.Trim(format, "abcdefghijklmnopqrstuvwxyz-") == "":
		if !slices.Contains(outFormats(), format) {
			return InputError("--out", fmt.Sprintf("there is no format %q", format), "use "+either(outFormats())+", or ./"+text+" for a folder of that name")
		}
	case slices.Contains(interchange.Endings, strings.ToLower(filepath.Ext(text))):
		format, path = interchange.Formats[0].Name, text
	case slices.Contains(chart.Formats, strings.TrimPrefix(strings.ToLower(filepath.Ext(text)), ".")):
		format, path = strings.ToLower(filepath.Ext(text))[1:], text
	case fileEnding.MatchString(filepath.Base(text)) && !os.IsPathSeparator(text[len(text)-1]):
		return InputError("--out", text+" has no ending of a file that is written so", "the endings are "+strings.Join(interchange.Endings, ", ")+"; NAME=PATH writes another format, such as json="+text+"; "+text+"/ is a folder")
	case f.Dir != "":
		return InputError("--out", "two folders are named for one report", "name one")
	default:
		f.Dir = text
		return nil
	}
	if path == "" {
		return InputError("--out", "no file or folder is named", "write --out "+format+"=PATH")
	}
	f.Places = append(f.Places, Place{format, path})
	return nil
}

// Register gives a command the flags, with their defaults.
func (f *Output) Register(c *cobra.Command) {
	f.Printed.Register(c, Formats)
	c.Flags().Var(value{func() string { return f.Dir }, f.addOut}, "out", "also write page, plots, figures and answers to this new `DIR`, or replace a report of the same run in it (DIR/ if its name ends as a file's); every verdict to a .csv, .jsonl or .parquet file; NAME=PATH writes another format: "+either(outFormats())+"; repeatable")
}

// Check refuses two results for one file.
func (f *Output) Check() error {
	seen := map[string]bool{"": true, filepath.Clean(f.Dir): f.Dir != ""}
	for _, p := range f.Places {
		if path := filepath.Clean(p.Path); seen[path] {
			return InputError("--out", fmt.Sprintf("%s is named twice", p.Path), "name another place")
		}
		seen[filepath.Clean(p.Path)] = true
		if drawn := slices.Contains(chart.Formats, p.Format); drawn != (f.Plot != "") && (drawn || slices.Contains(Formats, p.Format)) {
			return InputError("--out", p.Path+" takes "+map[bool]string{true: "a plot", false: "figures"}[drawn], "name the plot with orbench report --plot, which is written as "+either(chart.Formats))
		}
	}
	return nil
}

// CheckPlaces refuses a folder or file that cannot be made, or that holds anything but a
// result of the same subject, and what a format does not take. s is the study of formats of
// answers.
func (f *Output) CheckPlaces(of folder.Subject, s interchange.Study) error {
	for _, p := range f.places(false) {
		if err := folder.VacantFile(p.Path, p.subject(of)); err != nil {
			return err
		}
	}
	writers, err := f.Create(of, s)
	if err = errors.Join(err, writers.Discard()); err != nil || f.Dir == "" {
		return err
	}
	made, err := folder.Create(f.Dir, of)
	if err != nil {
		return err
	}
	return made.Discard()
}

// RefuseAnswers refuses formats of answers for what has none.
func (f *Output) RefuseAnswers(what string) error {
	if all := f.places(true); len(all) > 0 {
		return InputError("--out "+all[0].Format, what+" has no answers to write", "use "+either(Formats))
	}
	return nil
}

// Create begins all files and folders that take answers, and gives those that it can begin.
func (f *Output) Create(of folder.Subject, s interchange.Study) (all Writers, err error) {
	all.redact = f.Redact
	for _, p := range f.places(true) {
		at := slices.IndexFunc(interchange.Formats, func(format interchange.Format) bool { return format.Name == p.Format })
		w, failed := interchange.Formats[at].Create(p.Path, p.subject(of), s)
		if err = errors.Join(err, failed); failed == nil {
			all.writers = append(all.writers, w)
		}
	}
	return all, err
}

// ShowOutput prints a view, and writes it to the files whose formats show views; of these, one
// that fails does not stop the others. unfinished says that replies are missing from it.
func (e *Env) ShowOutput(f Output, of folder.Subject, unfinished bool, v table.View) error {
	err := e.Show(f.Printed, v)
	for _, p := range f.places(false) {
		err = errors.Join(err, f.write(p, of, unfinished, func(w io.Writer) error { return formatOf(p.Format).Write(w, table.Screen{}, v) }))
	}
	return err
}

// Draw writes a figure to the files that take one, or prints it as SVG.
func (e *Env) Draw(f Output, of folder.Subject, drawn chart.Figure) (err error) {
	all := f.places(false)
	if len(all) == 0 {
		return drawn.SVG(e.Stdout)
	}
	for _, p := range all {
		err = errors.Join(err, f.write(p, of, false, drawn.As(p.Format)))
	}
	return err
}

// write writes a file.
func (f *Output) write(p Place, of folder.Subject, unfinished bool, write func(io.Writer) error) error {
	file, err := folder.CreateFile(p.Path, p.subject(of))
	if err != nil {
		return err
	}
	defer file.Discard()
	if err := write(file); err != nil {
		return fmt.Errorf("write %s: %w", p.Path, err)
	}
	return file.Finish(unfinished)
}

// Writers write the answers and figures of a study to several places.
type Writers struct {
	writers []interchange.Writer
	redact  bool
}

// Any reports whether there is a place.
func (w Writers) Any() bool { return len(w.writers) > 0 }

// Add adds an answer.
func (w Writers) Add(a *score.AnswerRow) error {
	if w.redact && w.Any() {
		a = a.Redacted()
	}
	for _, one := range w.writers {
		if err := one.Add(a); err != nil {
			return err
		}
	}
	return nil
}

// Finish takes the figures; see interchange.Writer.
func (w Writers) Finish(r score.Result, unfinished bool) (err error) {
	for _, one := range w.writers {
		err = errors.Join(err, one.Finish(r, unfinished))
	}
	return err
}

// Discard removes what is not finished.
func (w Writers) Discard() (err error) {
	for _, one := range w.writers {
		err = errors.Join(err, one.Discard())
	}
	return err
}

// CompleteFlag offers the values of a flag to the shell.
func CompleteFlag(c *cobra.Command, flag string, values []string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag does not exist: a fault of the caller
	}
}
