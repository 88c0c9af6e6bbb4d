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
)

// TestCommandReference holds docs/commands.md to the help texts that it is made
// of. ORBENCH_UPDATE=1 writes it anew.
func TestCommandReference(t *testing.T) {
	env := &command.Env{Getenv: func(string) string { return "" }}
	var b bytes.Buffer
	b.WriteString("# Commands\n\nFor whoever looks up a flag; made from the help texts by `make docs`. How the command line works is in [cli.md](cli.md), single tasks are in [recipes.md](recipes.md).\n")
	writeReference(t, &b, root(env))
	path := filepath.Join("..", "..", "docs", "commands.md")
	if os.Getenv("ORBENCH_UPDATE") != "" {
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, b.Bytes()) {
		t.Error("docs/commands.md is not what the help texts say; write it anew with make docs")
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
