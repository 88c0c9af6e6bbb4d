package measurement

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/experiment"
)

// settingFlags registers the flags that are short for settings of an experiment: all of
// them, or the plain ones; see experiment.Setting.
func settingFlags(c *cobra.Command, plain bool) {
	// What other commands read too is registered as there.
	shared, limit := &cobra.Command{}, 0
	command.ColumnFlags(shared, &dataset.Options{})
	command.ClusterFlag(shared, &dataset.Options{})
	command.DrawFlags(shared, &limit, &dataset.Options{})
	flags := c.Flags()
	for _, s := range experiment.Settings() {
		if plain && !s.Plain {
			continue
		}
		if f := shared.Flags().Lookup(s.Flag); f != nil {
			flags.AddFlag(f)
			continue
		}
		switch usual := s.Default.(type) {
		case []string:
			flags.StringArray(s.Flag, usual, s.Usage)
		case bool:
			flags.Bool(s.Flag, usual, s.Usage)
		case int:
			flags.Int(s.Flag, usual, s.Usage)
		case int64:
			flags.Int64(s.Flag, usual, s.Usage)
		case string:
			flags.String(s.Flag, usual, s.Usage)
		}
	}
}

// said is what the flags of a command and --set say of an experiment.
func said(c *cobra.Command) ([]experiment.Said, error) {
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
		all = append(all, s.Say(values...)...)
	}
	set := c.Flags().Lookup("set")
	if set == nil {
		return all, nil
	}
	for _, text := range set.Value.(pflag.SliceValue).GetSlice() {
		s, err := experiment.ParseSet("--set", text)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// readExperiment reads the experiment that a command names: a file, unless path is empty,
// and what flags say.
func readExperiment(c *cobra.Command, path string) (*experiment.File, error) {
	beside, err := said(c)
	if err != nil {
		return nil, err
	}
	return experiment.Load(path, beside...)
}
