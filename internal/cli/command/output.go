package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/table"
)

// formats are the ways to write a view. Whoever adds one lists it here.
var formats = []table.Format{table.AsText, table.AsJSON, table.AsCSV, table.AsMarkdown, table.AsLaTeX}

// Formats are the values of --format of commands that show a view, TwoFormats those of
// the others.
var (
	Formats    = formatNames()
	TwoFormats = Formats[:2]
)

func formatNames() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return names
}

// choice is the value of a flag that takes one of some words.
type choice struct {
	into    *string
	offered []string
	flag    string
	// unknown says of another word that it is none, up to the word.
	unknown string
}

func (c choice) String() string { return *c.into }
func (c choice) Type() string   { return "string" }

func (c choice) Set(word string) error {
	if !slices.Contains(c.offered, word) {
		return InputError("--"+c.flag, fmt.Sprintf("%s %q", c.unknown, word), "use "+either(c.offered))
	}
	*c.into = word
	return nil
}

// ChoiceFlag registers a flag that takes one of the words that are offered, by default the
// first. unknown says of another word that it is none, up to the word.
func ChoiceFlag(c *cobra.Command, into *string, flag string, offered []string, unknown, usage string) {
	*into = offered[0]
	c.Flags().Var(choice{into, offered, flag, unknown}, flag, usage)
	CompleteFlag(c, flag, offered)
}

// share is the value of a flag that takes a share, such as 2pp.
type share struct {
	into       *float64
	flag, text string
}

func (s *share) String() string { return s.text }
func (s *share) Type() string   { return "string" }

func (s *share) Set(text string) (err error) {
	s.text = text
	*s.into, err = settings.ParseShare(s.flag, text)
	return err
}

// ShareFlag registers a flag that takes a share, by default the usual one.
func ShareFlag(c *cobra.Command, into *float64, flag, usual, usage string) {
	value := &share{into: into, flag: flag}
	if err := value.Set(usual); err != nil {
		panic(err) // a fault of the caller
	}
	c.Flags().Var(value, flag, usage)
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

// Printed are the flags that say how results are printed.
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
	s := table.Screen{Whole: "--full", Color: table.Colored(e.Stdout, e.Getenv)}
	if !full {
		s.Brief, s.Width = true, table.WidthOf(e.Stdout, e.Getenv)
	}
	return s
}

// Show prints a view as the flags say.
func (e *Env) Show(f Printed, v table.View) error {
	at := slices.IndexFunc(formats, func(known table.Format) bool { return known.Name == f.Format })
	return formats[at].Write(e.Stdout, e.Screen(f.Full), v)
}

// UsualUnjudged is the share of unjudged answers above which there is no rate.
const UsualUnjudged = 0.1

// Output are the flags that say where results go.
type Output struct {
	Printed
	// Dir is the new folder of a report, or empty for none.
	Dir string
	// Redact leaves the texts of prompts and answers out of the folder.
	Redact bool
	// MostUnjudged is the share of unjudged answers above which no rate is given.
	MostUnjudged float64
}

// Register gives a command the flags, with their defaults.
func (f *Output) Register(c *cobra.Command) {
	f.Printed.Register(c, Formats)
	c.Flags().StringVar(&f.Dir, "out", "", "also write page, plots, figures and answers to this new `DIR`, or replace a report of the same run in it")
	f.MostUnjudged = UsualUnjudged
	AddSettings(c, Setting{Name: "most_unjudged", Into: &f.MostUnjudged, Usage: "give no rate where more than this share of the answers is unjudged (default 0.1)"})
}

// Check refuses a share that is none.
func (f *Output) Check() error {
	if !(f.MostUnjudged > 0 && f.MostUnjudged <= 1) {
		return InputError("--set most_unjudged", "the share is not above 0 and at most 1", "0.1 is the default, 1 gives every rate")
	}
	return nil
}

// CheckDir refuses a folder that cannot be made, or that holds anything but a report of
// the same subject.
func (f *Output) CheckDir(of folder.Subject) error {
	if f.Dir == "" {
		return nil
	}
	made, err := folder.Create(f.Dir, of)
	if err != nil {
		return err
	}
	return made.Discard()
}

// CompleteFlag offers the values of a flag to the shell.
func CompleteFlag(c *cobra.Command, flag string, values []string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag does not exist: a fault of the caller
	}
}
