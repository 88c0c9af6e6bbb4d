package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/guard"
)

// TestCommandReference holds the help of every command to its form. With ORBENCH_PAGES=DIR it
// writes a page of each for the site there, and commands.md, which links to them.
func TestCommandReference(t *testing.T) {
	list := "# Commands\n\nHow the command line works is in [cli.md](cli.md), single tasks are in [recipes.md](recipes.md).\n\n"
	for _, c := range root(&command.Env{Getenv: func(string) string { return "" }}).Commands() {
		if !c.IsAvailableCommand() || c.Name() == "help" {
			continue
		}
		var page bytes.Buffer
		fmt.Fprintf(&page, "# %s\n", c.CommandPath())
		writeReference(t, &page, c)
		for _, format := range guard.Telling(guard.Refusal) {
			if c.Name() == "judge" && !strings.Contains(c.Long, format) {
				t.Errorf("orbench judge --help does not name the guards' format %s", format)
			}
		}
		name := "orbench-" + c.Name() + ".md"
		list += fmt.Sprintf("- [%s](%s): %s\n", c.CommandPath(), name, c.Short)
		writePage(t, name, page.String())
	}
	writePage(t, "commands.md", list)
}

// writePage writes a page where the site wants it.
func writePage(t *testing.T, name, text string) {
	t.Helper()
	if dir := os.Getenv("ORBENCH_PAGES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// writeReference writes a command's help and that of its subcommands.
func writeReference(t *testing.T, b *bytes.Buffer, c *cobra.Command) {
	t.Helper()
	for _, g := range flagGroups(c) {
		g.flags.VisitAll(func(f *pflag.Flag) {
			if g.title != "Flags" && kindOf(c, f) == none {
				t.Errorf("%s --%s is in no group of flags; say in internal/cli/flag_groups.go what it is about", c.CommandPath(), f.Name)
			}
		})
	}
	if c.GroupID == "" && c.HasParent() && !c.Parent().HasParent() {
		t.Errorf("%s is in no group of commands", c.CommandPath())
	}
	text := helpText(c, helpWidth)
	fmt.Fprintf(b, "\n## %s\n\n```text\n%s```\n", c.CommandPath(), text)
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(line) > helpWidth+1 && strings.Contains(strings.TrimSpace(line), " ") {
			t.Errorf("%s: wider than %d columns: %s", c.CommandPath(), helpWidth, line)
		}
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			writeReference(t, b, sub)
		}
	}
}
