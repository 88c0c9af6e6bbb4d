package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/build"
)

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Print a configuration to start from, or its schema",
		Long: `Print what "orbench build --config" reads: a commented build.yaml to start from,
or its JSON Schema, with which editors check the file as one types.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(&cobra.Command{
		Use:     "init",
		Short:   "Print a commented build.yaml",
		Example: "  orbench config init > build.yaml",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(a.env.Stdout, build.Template)
			return err
		},
	}, &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of build.yaml",
		Example: "  orbench config schema > build.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.env.Stdout.Write(build.Schema())
			return err
		},
	})
	return c
}
