package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/policy"
	"github.com/orbench/orbench/internal/table"
)

func (a app) policyCommand() *cobra.Command {
	return command.Group("policy", "List and show policies: what counts as harm", "",
		a.policyListCommand(), a.policyShowCommand())
}

func (a app) policyListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the built-in policies",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			t := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "name\tcategories\twhat it is")
			for _, name := range policy.Names() {
				p, err := policy.Open(name)
				if err != nil {
					return err
				}
				fmt.Fprintf(t, "%s\t%d\t%s\n", p.Name, len(p.Categories), p.Title)
			}
			return t.Flush()
		},
	}
}

func (a app) policyShowCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "show NAME|FILE",
		Short: "Print a policy: its categories, and what is allowed and what is not",
		Long: `Print a built-in policy, or one in a file, as people read it when they label. The JSON
has everything that its file says. "orbench config init policy" prints a file to start
from.`,
		Example: "  orbench policy show mlcommons\n  orbench policy show mine.yaml --format json",
		Args:    cobra.ExactArgs(1), ValidArgs: policy.Names(),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := policy.Open(args[0])
			if err != nil {
				return err
			}
			if format == "json" {
				return table.JSON(a.Stdout, p)
			}
			var d table.Document
			for line := range strings.Lines(p.Text()) {
				if line == "\n" {
					d.Add(table.Gap)
					continue
				}
				d.Add(table.Line(strings.TrimSuffix(line, "\n")))
			}
			return d.Text(a.Stdout, a.Screen(false))
		},
	}
	command.FormatFlag(c, &format, command.TwoFormats)
	return c
}
