package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/orbench/orbench/internal/cli/command"
)

func manCommand(env *command.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write a manual page of every command",
		Long: `Write a manual page of every command, such as orbench-eval.1, into a folder. The folder
is created if needed, and older pages in it are replaced.`,
		Example: `  orbench man man1
  orbench man ~/.local/share/man/man1`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := args[0]
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return command.InputError(dir, "cannot make the folder: "+err.Error(), "name another")
			}
			// The pages say where the store is by default, not where this user's is.
			tree := root(&command.Env{Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr, Getenv: func(string) string { return "" }})
			pages, err := writePages(tree, dir)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(env.Stdout, "wrote %d pages to %s; read one with: man %s\n", pages, dir, strings.TrimSuffix(dir, "/")+"/orbench.1")
			return err
		},
	}
}

// writePages writes the page of a command and those of its commands, and counts them.
func writePages(c *cobra.Command, dir string) (pages int, err error) {
	var also []string
	if c.HasParent() {
		also = append(also, pageName(c.Parent()))
	}
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			continue
		}
		n, err := writePages(sub, dir)
		if err != nil {
			return pages, err
		}
		pages += n
		also = append(also, pageName(sub))
	}
	return pages + 1, os.WriteFile(filepath.Join(dir, pageName(c)+".1"), []byte(page(c, also)), 0o666)
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// pageWidth is how many of 80 columns a page has beside its margin.
const pageWidth = 72

// page is the page of a command in roff, the language of man. also are other pages to see.
func page(c *cobra.Command, also []string) string {
	var b strings.Builder
	// Names of commands and flags are not broken at the end of a line.
	fmt.Fprintf(&b, ".nr HY 0\n.TH %s 1 %q %q orbench\n.nh\n", strings.ToUpper(pageName(c)), built().Format("Jan 2006"), "orbench "+version())
	section := func(title, text string) {
		fmt.Fprintf(&b, ".SH %s\n%s\n", strings.ToUpper(title), strings.TrimRight(text, "\n"))
	}
	bold := func(text string) string { return `\fB` + plain(text) + `\fP` }
	groups := flagGroups(c)
	c.DisableFlagsInUseLine = len(groups) == 0
	section("Name", plain(pageName(c)+" - "+c.Short))
	section("Synopsis", bold(c.UseLine()))
	section("Description", paragraphs(wrap(cmp.Or(c.Long, c.Short+"."), pageWidth)))
	for _, g := range groups {
		text := ""
		g.flags.VisitAll(func(f *pflag.Flag) { text += option(f) })
		section(strings.Replace(g.title, "Flags", "Options", 1), text)
	}
	if c.Example != "" {
		section("Example", ".EX\n"+plain(wrapCommands(c.Example, pageWidth))+"\n.EE")
	}
	section("See also", bold(strings.Join(also, "(1), ")+"(1)"))
	return b.String()
}

// option is a flag as a term and its text.
func option(f *pflag.Flag) string {
	value, usage := pflag.UnquoteUsage(f)
	term := `\fB` + plain("--"+f.Name) + `\fP`
	if f.Shorthand != "" {
		term = `\fB` + plain("-"+f.Shorthand) + `\fP, ` + term
	}
	if value != "" {
		term += ` \fI` + plain(value) + `\fP`
	}
	switch f.DefValue {
	case "", "0", "false", "[]":
	default:
		usage += " (default " + f.DefValue + ")"
	}
	return ".TP\n" + term + "\n" + plain(usage) + "\n"
}

// plain keeps a text as it is in roff, where a backslash, a hyphen, and a stop or an
// apostrophe at the beginning of a line mean something.
func plain(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace("\n" + text)
	return text[1:]
}

// paragraphs is a help text in roff: lines that begin with a blank are left as they are.
func paragraphs(text string) string {
	var b strings.Builder
	list := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if inList := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"); line != "" && inList != list {
			b.WriteString(map[bool]string{true: ".EX\n", false: ".EE\n"}[inList])
			list = inList
		}
		if line == "" && !list {
			line = ".PP"
		} else {
			line = plain(line)
		}
		b.WriteString(line + "\n")
	}
	if list {
		b.WriteString(".EE\n")
	}
	return b.String()
}
