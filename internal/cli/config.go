package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/construct"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/policy"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/judge"
)

// configKind is a kind of settings file.
type configKind struct {
	name, template string
	schema         []byte
}

// configKinds lists them; the first is meant where none is named.
var configKinds = [...]configKind{
	{"build", construct.Template, construct.Schema},
	{"experiment", experiment.Template, experiment.Schema},
	{"rubric", judge.RubricTemplate, judge.RubricSchema},
	{"policy", policy.Template, policy.Schema},
}

func configCommand(env *command.Env) *cobra.Command {
	return command.Group("config", "Print a configuration to start from, or its schema; allow hosts to receive keys", `Print a commented file to start from, or its JSON Schema, with which editors check the
file as you type. "orbench build --config" reads the kind build, "orbench eval --config"
reads experiment, "--judge llm:PROVIDER/MODEL@FILE" reads rubric, and "--policy FILE"
reads policy. Without a kind, build.yaml is printed.`,
		configPart(env, "init", "Print a commented build.yaml, experiment.yaml, rubric.yaml or policy.yaml",
			"  orbench config init build > build.yaml\n  orbench config init experiment > experiment.yaml",
			func(k configKind) string { return k.template }),
		configPart(env, "schema", "Print the JSON Schema of build.yaml, experiment.yaml, rubric.yaml or policy.yaml",
			"  orbench config schema experiment > experiment.schema.json",
			func(k configKind) string { return string(k.schema) }),
		settingsCommand(env), allowHostCommand(env))
}

// settingsCommand lists what --set takes, and which commands have it.
func settingsCommand(env *command.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "settings",
		Short: "Explain what --set takes",
		Long: `Explain the settings of "--set NAME=VALUE". The help of a command ends with the names that
it takes. Write VALUE as in YAML; a list needs no brackets. The settings of an experiment
are those of the file that "orbench config init experiment" prints. The command eval takes
each by its path, such as targets[0].name=main or variants.turns=pushback.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			columns, _ := env.Size()
			_, err := io.WriteString(env.Stdout, settingsText(c.Root(), min(helpWidth, columns), map[string]bool{}))
			return err
		},
	}
}

// settingsText explains the settings of a tree of commands, each once.
func settingsText(c *cobra.Command, width int, seen map[string]bool) (text string) {
	for _, s := range command.Settings(c) {
		if line := s.Name + "\n" + table.Wrap("    "+s.Usage, width) + "\n"; s.Into != nil && !seen[line] {
			seen[line] = true
			text += line
		}
	}
	for _, sub := range c.Commands() {
		text += settingsText(sub, width, seen)
	}
	return text
}

// allowHostCommand keeps the user's word on hosts.
func allowHostCommand(env *command.Env) *cobra.Command {
	var forget bool
	c := &cobra.Command{
		Use:   "allow-host [HOST...]",
		Short: "Allow hosts that only files name to receive keys, or list them",
		Long: `A key is sent only to its provider's own address, to this machine, and to addresses that
--base-url or an environment variable gives. A host that only a file names, such as the
base_url of an experiment or of --set providers, gets no key until you allow it with this
command.

Allowed hosts are kept one per line in the file allowed-hosts, in the folder orbench of
the user's configuration. Without a host, the command lists them.`,
		Example: `  orbench config allow-host gateway.example
  orbench config allow-host gpu-box:8000
  orbench config allow-host
  orbench config allow-host --forget gateway.example`,
		RunE: func(_ *cobra.Command, args []string) error {
			path := provider.AllowedPath()
			if path == "" {
				return command.InputError("config allow-host", "the user has no folder of settings", "set HOME, or XDG_CONFIG_HOME")
			}
			var named []string
			for _, text := range args {
				host, err := provider.ParseHost(text)
				if err != nil {
					return command.InputError(text, err.Error(), "write one such as gateway.example or gateway.example:8443")
				}
				named = append(named, host)
			}
			change := provider.Allow
			if forget {
				change = provider.Forget
			}
			if len(named) > 0 {
				if err := change(path, named); err != nil {
					return err
				}
			}
			hosts, err := provider.AllowedHosts(path)
			if err != nil {
				return err
			}
			for _, host := range hosts {
				fmt.Fprintln(env.Stdout, host)
			}
			env.Infof("%d hosts that only files name may receive keys; they are kept in %s", len(hosts), path)
			return nil
		},
	}
	c.Flags().BoolVar(&forget, "forget", false, "no longer allow these hosts")
	return c
}

// configPart is a command that prints something of a kind of file.
func configPart(env *command.Env, use, short, example string, of func(configKind) string) *cobra.Command {
	names := table.RowsOf(configKinds[:], func(k configKind) string { return k.name })
	return &cobra.Command{
		Use: use + " [" + strings.Join(names, "|") + "]", Short: short, Example: example,
		Args: cobra.MaximumNArgs(1), ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			for _, k := range configKinds {
				if len(args) == 0 || args[0] == k.name {
					_, err := io.WriteString(env.Stdout, of(k))
					return err
				}
			}
			return command.InputError("config "+use, fmt.Sprintf("there is no configuration of the kind %q", args[0]), "use "+strings.Join(names, " or "))
		},
	}
}
