package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
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
			manual(tree)
			if err := doc.GenManTree(tree, &doc.GenManHeader{Source: "orbench " + version(), Manual: "orbench", Date: built()}, dir); err != nil {
				return err
			}
			pages, err := filepath.Glob(filepath.Join(dir, "orbench*.1"))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(env.Stdout, "wrote %d pages to %s; read one with: man %s\n", len(pages), dir, strings.TrimSuffix(dir, "/")+"/orbench.1")
			return err
		},
	}
}

// pageWidth is how many of 80 columns a page has beside its margin.
const pageWidth = 72

// manual turns the texts of a tree of commands into the Markdown of which cobra makes
// pages for man, and moves the flags into them, in their groups. The tree is good for
// nothing else then.
func manual(c *cobra.Command) {
	long := c.Long
	if long == "" {
		long = c.Short + "."
	}
	var b strings.Builder
	b.WriteString(paragraphs(wrap(long, pageWidth)))
	groups := flagGroups(c)
	if len(groups) > 0 {
		c.Use += " [flags]"
	}
	for _, g := range groups {
		title := g.title
		if title == "Flags" {
			title = "Options"
		}
		fmt.Fprintf(&b, "\n\n# %s\n", strings.ToUpper(title))
		g.flags.VisitAll(func(f *pflag.Flag) { b.WriteString(option(f)) })
	}
	c.Long, c.DisableAutoGenTag = b.String(), true
	c.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	c.InitDefaultHelpFlag()
	_ = c.Flags().MarkHidden(helpFlag) // it is there: it was just made
	c.Example = wrapCommands(c.Example, pageWidth)
	for _, sub := range c.Commands() {
		manual(sub)
	}
}

// option is a flag as a term and its text.
func option(f *pflag.Flag) string {
	value, usage := pflag.UnquoteUsage(f)
	term := "**--" + f.Name + "**"
	if f.Shorthand != "" {
		term = "**-" + f.Shorthand + "**, " + term
	}
	if value != "" {
		term += " *" + plain(value) + "*"
	}
	text := plain(usage)
	switch f.DefValue {
	case "", "0", "false", "[]":
	default:
		text += " (default " + plain(f.DefValue) + ")"
	}
	return term + "\n: " + text + "\n\n"
}

// special are the characters that mean something in Markdown.
var special = regexp.MustCompile("[\\\\`*_<>\\[\\]#|~]")

// plain keeps a text as it is in Markdown.
func plain(text string) string { return special.ReplaceAllString(text, `\$0`) }

// paragraphs is a help text as Markdown: lines that begin with a blank are left as
// they are.
func paragraphs(text string) string {
	var b strings.Builder
	list := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if inList := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"); line != "" && inList != list {
			b.WriteString("\n```\n")
			list = inList
		}
		if !list {
			line = plain(line)
		}
		b.WriteString(line + "\n")
	}
	if list {
		b.WriteString("```\n")
	}
	return b.String()
}
