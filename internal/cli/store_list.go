package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/table"
)

func (s storeCommands) list() *cobra.Command {
	var address, format string
	var full bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the runs of a store",
		Long: `List the runs of a store, the newest first: when each was last started, in UTC, its
targets, datasets and judges. "orbench report RUN" shows one.`,
		Example: "  orbench store list\n  orbench store list --format json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if err := command.CheckFormat(format, command.TwoFormats); err != nil {
				return err
			}
			m, err := s.OpenReading(c.Context(), address)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, m.Close()) }()
			stored, err := run.List(c.Context(), m)
			if err != nil {
				return err
			}
			runs := make([]run.Listed, len(stored))
			for i, r := range stored {
				runs[i] = r.Listed()
			}
			if format == "json" {
				return table.JSON(s.Stdout, runs)
			}
			out := table.NewPrinter(s.Stdout, s.Screen(full))
			if len(runs) == 0 {
				out.Line("The store has no runs.")
				return out.Flush()
			}
			out.Section(runsSection(runs))
			return out.Flush()
		},
	}
	s.StoreFlag(c, &address)
	command.FormatFlag(c, &format, command.TwoFormats)
	command.FullFlag(c, &full)
	return c
}

// runsSection is a table of runs. Of many targets the first are named.
func runsSection(runs []run.Listed) table.Section {
	section := table.Section{Header: []string{"run", "started", "targets", "datasets", "judges"}, Left: 5, Spare: []string{"judges"}, WrapNames: true}
	for _, r := range runs {
		datasets := make([]string, len(r.Datasets))
		for i, d := range r.Datasets {
			datasets[i] = d.Dataset + "@" + table.ShortHash(d.SHA256)
		}
		section.Rows = append(section.Rows, []string{
			r.Run, r.Started.Format("2006-01-02 15:04"), first(r.Targets), first(datasets), cmp.Or(strings.Join(r.Judges, ", "), "none"),
		})
	}
	return section
}

// first names the first three of a list, and counts the others.
func first(names []string) string {
	const most = 3
	if len(names) > most {
		names = append(slices.Clone(names[:most]), table.Count(len(names)-most)+" more")
	}
	return strings.Join(names, ", ")
}
