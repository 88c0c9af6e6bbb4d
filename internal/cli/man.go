package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/cli/help"
)

func manCommand(env *command.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write a manual page of every command",
		Long: `Write a manual page of every command, such as orbench-eval.1, into a folder. It is
made where it does not exist, and pages in it are written anew.`,
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
			help.Manual(tree)
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
