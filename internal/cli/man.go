package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

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

// title matches the line above a part of a help text, such as "Examples:".
var title = regexp.MustCompile(`(?m)^([A-Z][A-Za-z ]*):$`)

// page is the page of a command in roff, the language of man: its help text, line by line.
// also are other pages to see.
func page(c *cobra.Command, also []string) string {
	help := title.ReplaceAllStringFunc(plain(helpText(c, pageWidth)), func(line string) string {
		return ".SH " + strings.ToUpper(strings.TrimSuffix(line, ":")) + "\n.nf" // a heading ends it
	})
	return fmt.Sprintf(".TH %s 1 %q %q orbench\n.nh\n.SH NAME\n%s\n.SH DESCRIPTION\n.nf\n%s.fi\n.SH SEE ALSO\n%s\n",
		strings.ToUpper(pageName(c)), built().Format("Jan 2006"), "orbench "+version(), plain(pageName(c)+" - "+c.Short), help, plain(strings.Join(also, "(1), ")+"(1)"))
}

// plain keeps a text as it is in roff, where a backslash, a hyphen, and a stop or an
// apostrophe at the beginning of a line mean something.
func plain(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace("\n" + text)
	return text[1:]
}
