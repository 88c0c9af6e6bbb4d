package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/orbench/orbench/internal/cli/command"
)

// A source lists what a value that begins with typed may be; one that ends in a
// separator is the beginning of a value.
type source func(w world, typed string) []cobra.Completion

// world is what sources look at.
type world struct {
	*command.Env
	ctx context.Context
	// store is the address that the command line gives, and words are the arguments
	// before the one to complete.
	store string
	words []string
}

// separators end the beginnings of values.
const separators = "/:@([="

// completeAll has every flag and argument of a tree of commands completed that has no
// completion of its own. Files are offered only where one is meant.
func completeAll(c *cobra.Command, env *command.Env) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if _, own := c.GetFlagCompletionFunc(f.Name); own {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		from := sourceOf(c.Name(), f.Name)
		if f.Name == "set" {
			from = named(command.Settings(c))
		}
		var err error
		switch {
		case from != nil:
			err = c.RegisterFlagCompletionFunc(f.Name, complete(env, from, strings.HasPrefix(f.Value.Type(), "string") && f.Value.Type() != "string"))
		case value == "FILE" && strings.HasPrefix(usage, "YAML"):
			err = c.MarkFlagFilename(f.Name, "yaml", "yml")
		case value == "FILE", value == "STORE":
			err = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault))
		case value == "DIR":
			err = c.MarkFlagDirname(f.Name)
		}
		if err != nil {
			panic(err) // the flag is there: it was visited
		}
	})
	if from := arguments[strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")]; from != nil {
		c.ValidArgsFunction = complete(env, from, false)
	}
	for _, sub := range c.Commands() {
		completeAll(sub, env)
	}
}

// complete makes a source cobra's. In a list, which commas divide, the last value is
// completed.
func complete(env *command.Env, from source, list bool) cobra.CompletionFunc {
	return func(c *cobra.Command, words []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		w := world{Env: env, ctx: c.Context(), words: words}
		if f := c.Flag("store"); f != nil {
			w.store = f.Value.String()
		}
		before := ""
		if list {
			before = typed[:strings.LastIndexByte(typed, ',')+1]
		}
		var all []cobra.Completion
		seen := map[string]bool{}
		directive := cobra.ShellCompDirectiveNoFileComp
		for _, value := range from(w, typed[len(before):]) {
			if value == files {
				directive &^= cobra.ShellCompDirectiveNoFileComp
				continue
			}
			text, _, _ := strings.Cut(value, "\t")
			if text == "" || seen[text] || !strings.HasPrefix(text, typed[len(before):]) {
				continue
			}
			seen[text] = true
			if strings.ContainsAny(text[len(text)-1:], separators) {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
			all = append(all, before+value)
		}
		return all, directive
	}
}

// files among completions says that a file may stand there too.
const files = "\x00"
