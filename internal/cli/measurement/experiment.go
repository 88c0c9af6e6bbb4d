package measurement

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/experiment"
)

// settingFlags registers the flags that are short for settings of an experiment: --set takes
// the others.
func settingFlags(c *cobra.Command) {
	// What other commands read too is registered as there.
	shared, limit := &cobra.Command{}, 0
	command.ColumnFlags(shared, &dataset.Options{})
	command.DrawFlags(shared, &limit, &dataset.Options{})
	flags := c.Flags()
	for _, s := range experiment.Settings() {
		if s.Bare {
			command.AddSettings(c, command.Setting{Name: s.Path, Flag: s.Flag})
			continue
		}
		if f := shared.Flags().Lookup(s.Flag); f != nil {
			flags.AddFlag(f)
			continue
		}
		switch usual := s.Default.(type) {
		case []string:
			flags.StringArray(s.Flag, usual, s.Usage)
		case int:
			flags.Int(s.Flag, usual, s.Usage)
		case bool:
			flags.Bool(s.Flag, usual, s.Usage)
		case string:
			flags.String(s.Flag, usual, s.Usage)
		}
	}
}

// said is what the flags of a command and --set say of an experiment.
func said(c *cobra.Command) []experiment.Said {
	var all []experiment.Said
	for _, s := range experiment.Settings() {
		f := c.Flags().Lookup(s.Flag)
		if f == nil || !f.Changed {
			continue
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		all = append(all, s.Say(values...))
	}
	return append(all, command.Said(c)...)
}
