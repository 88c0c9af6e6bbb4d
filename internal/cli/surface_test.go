package cli

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/orbench/orbench/internal/cli/command"
)

// What people can take in at most: the commands of the first screen, the flags and settings of a
// command, and those of commands that need more.
const (
	mostCommands = 14
	most         = 16
)

var mostOf = map[string]int{
	"orbench build": 23, "orbench eval": 49, "orbench export": 20, "orbench judge": 32, "orbench logs": 18,
	"orbench logs draw": 20, "orbench moderate": 26, "orbench report": 18,
}

// TestSurface prints how many flags and settings each command has and how many commands the
// first screen lists, and holds them to what people can take in.
func TestSurface(t *testing.T) {
	t.Parallel()
	tree := root(&command.Env{Getenv: func(string) string { return "" }})
	shown := 0
	for _, c := range tree.Commands() {
		if c.IsAvailableCommand() && c.GroupID != further {
			shown++
		}
	}
	t.Logf("%3d commands on the first screen, of %d", shown, mostCommands)
	if shown > mostCommands {
		t.Errorf("%d commands are on the first screen, want at most %d: put one below another", shown, mostCommands)
	}
	all := 0
	everyCommand(tree, func(c *cobra.Command) {
		flags, settings := 0, len(command.Settings(c))
		for _, g := range flagGroups(c) {
			g.flags.VisitAll(func(*pflag.Flag) { flags++ })
		}
		all++
		t.Logf("%3d flags of %s, and %d settings", flags, c.CommandPath(), settings)
		if bound := cmp.Or(mostOf[c.CommandPath()], most); flags+settings > bound {
			t.Errorf("%s has %d flags and settings, want at most %d: take out what another says, what follows from what is given and what nobody needs", c.CommandPath(), flags+settings, bound)
		}
	})
	if all < 40 {
		t.Fatalf("only %d commands were found", all)
	}
}

func everyCommand(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		everyCommand(sub, do)
	}
}

// TestSettings says each setting of every command once with a value of another kind, which
// is refused by its name, and as a flag, for which the error says how to say it.
func TestSettings(t *testing.T) {
	t.Parallel()
	env := &command.Env{Getenv: func(string) string { return "" }}
	said := 0
	everyCommand(root(env), func(c *cobra.Command) {
		words := strings.Fields(c.CommandPath())[1:]
		for _, s := range command.Settings(c) {
			code, _, text := runCommand(nil, slices.Concat(words, []string{"--" + s.FlagName(), "1"})...)
			if want := "--set " + s.Name + "=VALUE"; code != exitInput || !strings.Contains(strings.ReplaceAll(text, "'", ""), want) {
				t.Errorf("%s --%s: exit %d, %q, want %q", c.CommandPath(), s.FlagName(), code, text, want)
			}
			code, _, text = runCommand(nil, slices.Concat(words, []string{"--set", s.Name + "={a: b}"})...)
			if s.Into != nil && (code != exitInput || !strings.Contains(text, "--set "+s.Name+": ")) {
				t.Errorf("%s --set %s: exit %d, %q", c.CommandPath(), s.Name, code, text)
			}
			said++
		}
	})
	if said < 60 {
		t.Fatalf("only %d settings were found", said)
	}
	for text, want := range map[string]string{
		"rpn=5":      `--set: unknown setting "rpn"; did you mean "rpm"? known are providers, rpm, `,
		"colours=5":  `--set: unknown setting "colours"; known are `,
		"rpm":        "--set rpm: no value is given; write NAME=VALUE",
		"rpm=many":   `--set rpm: "many" is not a whole number`,
		"rpm=-1":     "--set rpm: the value is too small",
		"timeout=10": "--set timeout: ",
		"prices=x":   "--set prices: there is no such setting any more; write providers=FILE, which takes files of prices too",
		"probes=3":   "--set probes: there is no such setting any more; leave it out",
	} {
		if code, _, got := runCommand(nil, "build", "--config", "x", "--dry-run", "--set", text); code != exitInput || !strings.Contains(got, want) {
			t.Errorf("build --set %s: exit %d, %q, want %q", text, code, got, want)
		}
		if strings.Contains(want, "known") {
			continue
		}
		if code, _, got := runCommand(nil, "eval", "--target", "sim/balanced", "--dataset", "starter", "--dry-run", "--set", text); code != exitInput || !strings.Contains(got, want) {
			t.Errorf("eval --set %s: exit %d, %q, want %q", text, code, got, want)
		}
	}
	code, _, got := runCommand(nil, "eval", "--target", "sim/balanced", "--dataset", "starter", "--dry-run", "--set", "max_cost=3")
	if want := "--set max_cost: it is a flag; write --max-cost"; code != exitInput || !strings.Contains(got, want) {
		t.Errorf("exit %d, %q, want %q", code, got, want)
	}
	code, _, got = runCommand(nil, "eval", "--target", "sim/balanced", "--dataset", "starter", "--dry-run", "--set", "max_request=5")
	if want := `--set max_request: no setting here is called "max_request"; did you mean max_requests?`; code != exitInput || !strings.Contains(got, want) {
		t.Errorf("exit %d, %q, want %q", code, got, want)
	}
}
