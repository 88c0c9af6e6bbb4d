package command

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/settings"
)

// Setting is what a command takes by --set and has no flag for.
type Setting struct {
	// Name is what --set calls it, and Flag the name by which it may be looked for, where that
	// is not the same with hyphens.
	Name, Flag string
	// Into points to where the value goes; a float64 is read as a share, such as 0.1 or
	// 10%. It is nil for a path of an experiment.
	Into any
	// Usage says in a line what it is.
	Usage string
}

// FlagName is the name by which the setting may be looked for.
func (s Setting) FlagName() string { return cmp.Or(s.Flag, strings.ReplaceAll(s.Name, "_", "-")) }

// setValue is the value of --set.
type setValue struct {
	flags *pflag.FlagSet
	known []Setting
	// said is what is said of an experiment, where the command takes its paths.
	said []experiment.Said
}

func (*setValue) String() string { return "" }
func (*setValue) Type() string   { return "setting" }

func (v *setValue) Set(text string) error {
	name, value, valued := strings.Cut(text, "=")
	if name == "probes" && value == "false" {
		return nil // as it always is now
	}
	var names []string
	for _, s := range v.known {
		switch {
		case s.Into == nil:
		case s.Name == name && valued:
			hint := "give a value of the right kind"
			if strings.Contains(value, "=") {
				hint = "give each setting a --set of its own"
			}
			if share, ok := s.Into.(*float64); ok {
				var err error
				*share, err = settings.ParseShare("set "+name, value)
				return err
			}
			if meaning := zeroMeans[name]; meaning != "" && value == "0" {
				return InputError("--set "+name, "0 "+meaning, "give a positive one, or leave it out")
			}
			return settings.Value("--set "+name, value, s.Into, hint)
		default:
			names = append(names, s.Name)
		}
	}
	if hint := settings.Gone(name); hint != "" {
		return InputError("--set "+name, "there is no such setting any more", hint)
	}
	flag := strings.ReplaceAll(name, "_", "-")
	if v.flags.Lookup(flag) != nil && !slices.ContainsFunc(experiment.Settings(), func(s experiment.Setting) bool { return s.Flag == flag }) {
		return InputError("--set "+name, "it is a flag", "write --"+flag)
	}
	if len(names) < len(v.known) {
		s, err := experiment.ParseSet("--set", text)
		s.Others = names
		v.said = append(v.said, s)
		return err
	}
	if !valued {
		return InputError("--set "+name, "no value is given", "write NAME=VALUE, such as "+names[0]+"=…")
	}
	return settings.Unknown("set", "setting", name, names)
}

// AddSettings has --set of a command take settings, and where one is a path, every path of an
// experiment.
func AddSettings(c *cobra.Command, more ...Setting) {
	if c.Flags().Lookup("set") == nil {
		c.Flags().Var(&setValue{flags: c.Flags()}, "set", "set what has no flag, as `NAME=VALUE`; repeatable; \"orbench config settings\" explains the names below")
	}
	v := setOf(c)
	v.known = append(v.known, more...)
}

// Said is what --set says of an experiment.
func Said(c *cobra.Command) []experiment.Said { return setOf(c).said }

// Settings lists what --set of a command takes, but for most paths of an experiment.
func Settings(c *cobra.Command) []Setting { return setOf(c).known }

// setOf is the value of a command's --set, an empty one where it has none.
func setOf(c *cobra.Command) *setValue {
	if f := c.Flags().Lookup("set"); f != nil {
		return f.Value.(*setValue)
	}
	return new(setValue)
}

// FlagOf is what says a setting on the command line of the command that runs.
func (e *Env) FlagOf(setting string) string {
	if e.running == nil || e.running.Flags().Lookup(setting) != nil {
		return "--" + setting
	}
	for _, s := range Settings(e.running) {
		if s.FlagName() == setting {
			return "--set " + s.Name
		}
	}
	return experiment.FlagOf(setting)
}

// zeroMeans says of flags and settings that take a number what 0 would be, which nobody means who
// writes it.
var zeroMeans = map[string]string{
	"limit": "takes all prompts", "sample": "takes all prompts", "concurrency": "is the provider's default", "max-cost": "sets no limit",
	"rpm": "sets no limit", "max_requests": "sets no limit", "size": "draws nothing", "per-prompt": "writes nothing",
}

// Began has settings called, from now on, what a command calls them. It refuses paths and
// variables that a shell has not expanded, and 0 where it would mean all.
func (e *Env) Began(c *cobra.Command, args []string) (err error) {
	if e.running = c; slices.Contains(args, "") && !strings.HasPrefix(c.Name(), cobra.ShellCompRequestCmd) {
		return InputError("", "an argument is empty", "give what it stands for, or leave it out")
	}
	expanded := func(name, value string) {
		if err == nil && strings.HasPrefix(value, "~/") {
			err = InputError(name, value+" begins with ~, which your shell did not expand", "write "+cmp.Or(e.Getenv("HOME"), "your home folder")+value[1:])
		}
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		name, text := "--"+f.Name, strings.Trim(f.Value.String(), "[]")
		expanded(name, text)
		meaning, kind := zeroMeans[f.Name], f.Value.Type()
		_, checked := f.Value.(value)
		switch {
		case err != nil:
		case meaning != "" && text == "0":
			err = InputError(name, "0 "+meaning, "give a positive one, or leave it out")
		case text == "" && strings.HasPrefix(kind, "string") && !checked && f.NoOptDefVal == "" && f.Name != "gold-refusal":
			err = InputError(name, "the value is empty", "give one, or leave the flag out")
		}
	})
	for _, name := range []string{"ORBENCH_STORE", "ORBENCH_CACHE", indexFolder} {
		if c.Flags().Lookup("store") != nil {
			expanded(name, e.Getenv(name))
		}
	}
	return err
}
