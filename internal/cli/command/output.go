package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/table"
)

// formats are the ways to write a view. Whoever adds one lists it here.
var formats = []table.Format{table.AsText, table.AsJSON, table.AsCSV, table.AsMarkdown}

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

// FormatFlag registers --format.
func FormatFlag(c *cobra.Command, format *string, offered []string) {
	usage := "`FORMAT` to print: " + either(offered)
	c.Flags().StringVar(format, "format", offered[0], usage)
	CompleteFlag(c, "format", offered)
}

// CheckFormat refuses a format that a command does not offer.
func CheckFormat(format string, offered []string) error {
	if slices.Contains(offered, format) {
		return nil
	}
	return InputError("--format", fmt.Sprintf("there is no format %q", format), "use "+either(offered))
}

// either lists words of which one is to be chosen.
func either(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// FullFlag registers --full.
func FullFlag(c *cobra.Command, full *bool) {
	c.Flags().BoolVar(full, "full", false, "print every table and column, whatever the terminal's width")
}

// Screen is what standard output is shown on.
func (e *Env) Screen(full bool) table.Screen {
	s := table.Screen{Whole: "--full", Color: table.Colored(e.Stdout, e.Getenv)}
	if !full {
		s.Brief, s.Width = true, table.WidthOf(e.Stdout, e.Getenv)
	}
	return s
}

// Show prints a view in one of the formats: as a table brief, unless full is true.
func (e *Env) Show(format string, full bool, v table.View) error {
	at := slices.IndexFunc(formats, func(f table.Format) bool { return f.Name == format })
	return formats[at].Write(e.Stdout, e.Screen(full), v)
}

// UsualUnjudged is the share of unjudged answers above which there is no rate.
const UsualUnjudged = 0.1

// Output are the flags that say where results go.
type Output struct {
	// Format is one of Formats.
	Format string
	// Full is true for every table and column on a terminal.
	Full bool
	// Dir is the new folder of a report, or empty for none.
	Dir string
	// MostUnjudged is the share of unjudged answers above which no rate is given.
	MostUnjudged float64
}

// Register gives a command the flags, with their defaults.
func (f *Output) Register(c *cobra.Command) {
	FormatFlag(c, &f.Format, Formats)
	FullFlag(c, &f.Full)
	c.Flags().StringVar(&f.Dir, "out", "", "also write page, plots, figures and answers to this new `DIR`, or in place of a report of the same run")
	c.Flags().Float64Var(&f.MostUnjudged, "most-unjudged", UsualUnjudged, "give no rate where more than this `SHARE` of the answers is unjudged")
}

// Check refuses an unknown format and a share that is none.
func (f *Output) Check() error {
	if err := CheckFormat(f.Format, Formats); err != nil {
		return err
	}
	if !(f.MostUnjudged > 0 && f.MostUnjudged <= 1) {
		return InputError("--most-unjudged", "the share is not above 0 and at most 1", "0.1 is the default, 1 gives every rate")
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
