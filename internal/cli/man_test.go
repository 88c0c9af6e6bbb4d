package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
)

// TestMan writes the pages twice and has groff, where it is there, read them.
func TestMan(t *testing.T) {
	t.Parallel()
	dir, again := filepath.Join(t.TempDir(), "man1"), t.TempDir()
	for _, d := range []string{dir, again} {
		if code, _, said := runCommand(map[string]string{"ORBENCH_STORE": "/home/ana/secret.db"}, "man", d); code != exitDone {
			t.Fatal(said)
		}
	}
	var pages []string
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		page := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		text, err := os.ReadFile(filepath.Join(dir, page))
		if err != nil {
			t.Error(err)
			return
		}
		same, err := os.ReadFile(filepath.Join(again, page))
		if err != nil || string(same) != string(text) {
			t.Errorf("%s is not the same again: %v", page, err)
		}
		if strings.Contains(string(text), "secret") || !strings.Contains(string(text), ".SH DESCRIPTION") {
			t.Errorf("%s is\n%s", page, text)
		}
		pages = append(pages, page)
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() && !sub.IsAdditionalHelpTopicCommand() {
				visit(sub)
			}
		}
	}
	visit(root(&command.Env{Getenv: func(string) string { return "" }}))
	if len(pages) < 40 {
		t.Errorf("only %d pages", len(pages))
	}
	text, err := os.ReadFile(filepath.Join(dir, "orbench-eval.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".SH WHAT TO ASK\n", ".SH LIMITS AND MONEY\n", "\\-\\-max\\-cost dollars ", ".SH EXAMPLES\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("orbench-eval.1 lacks %q", want)
		}
	}
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed: the pages were not read")
	}
	groff := exec.Command("groff", append([]string{"-man", "-Tutf8", "-ww", "-z"}, pages...)...)
	groff.Dir = dir
	if said, err := groff.CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("groff: %v, %s", err, said)
	}
}
