package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/table"
)

func doctorCommand(env *command.Env) *cobra.Command {
	var store, target string
	calls := command.DefaultCalls()
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check keys, servers, the store and the datasets, or try one target",
		Long: `Check what a measurement needs: which providers have a key (keys are never printed), which
local servers answer, whether the store opens and how much it holds, and which datasets
are on this machine. No call is made that costs money. The store is counted, not verified;
"orbench store check" reads all of it.

--target makes one call, which may cost money, and stores nothing. It prints how long the
call took, which model answered, whether the answer is empty, cut or withheld, whether
the model thinks, and what a thousand such calls cost.`,
		Example: `  orbench doctor
  orbench doctor --target vllm/my-model --base-url http://127.0.0.1:8000/v1`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if target != "" {
				return tryTarget(env, c.Context(), calls, target)
			}
			return doctor(env, c.Context(), store, calls)
		},
	}
	env.StoreFlag(c, &store)
	c.Flags().StringVar(&target, "target", "", "make one call to this `TARGET` and print what it returned")
	calls.RegisterServers(c)
	return c
}

// doctor prints one line for each thing that is set up, and names what is not.
func doctor(env *command.Env, ctx context.Context, store string, calls command.Calls) error {
	providers, err1 := calls.LoadProviders()
	allowed, err2 := provider.AllowedHosts(provider.AllowedPath())
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	t := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "orbench\t%s\n", version())
	var keyless, absent []string
	for _, p := range providers {
		if state, ok := providerState(env, ctx, p, allowed); ok {
			fmt.Fprintf(t, "provider %s\t%s\n", p.Name, state)
		} else {
			keyless = append(keyless, p.Name)
		}
	}
	for _, e := range dataset.List(env.CacheDir()) {
		if e.Present {
			fmt.Fprintf(t, "dataset %s\tthere\n", e.Name)
		} else {
			absent = append(absent, e.Name)
		}
	}
	problem := storeState(env, ctx, t, store)
	err := errors.Join(t.Flush(), problem)
	var d table.Document
	if len(keyless) > 0 {
		d.Add(table.Line("Not set up, because there is no key or no server answers (docs/cli.md has the variables and addresses): " + strings.Join(keyless, ", ")))
	}
	if len(absent) > 0 {
		d.Add(table.Line("Not on this machine (orbench dataset pull NAME fetches one): " + strings.Join(absent, ", ")))
	}
	return errors.Join(err, d.Text(env.Stdout, env.Screen(false)))
}

// providerState says what can be asked of a provider; ok is false where it is not set up.
// allowed are the hosts that may have keys by the user's word.
func providerState(env *command.Env, ctx context.Context, p provider.Provider, allowed []string) (state string, ok bool) {
	e, err := p.Resolve("", env.Getenv)
	switch {
	case err != nil:
		return "", false
	case e.Key != "" && !e.KeyBelongs(env.Getenv) && !slices.Contains(allowed, provider.Host(e.BaseURL)):
		return "key found; for " + provider.Host(e.BaseURL) + ", which a file names, say orbench config allow-host", true
	case e.Key != "":
		return "key found", true
	case !p.KeyOptional:
		return "ready", true
	}
	return e.Listening(ctx)
}

// storeState opens the store and counts what it holds. It does not read all of it, and says
// so: what is damaged may not be met. What does not open, or cannot be counted, is a problem.
func storeState(env *command.Env, ctx context.Context, t *tabwriter.Writer, at string) error {
	err := env.WithExisting(ctx, at, func(memory store.Reader) error {
		if memory == nil {
			fmt.Fprintf(t, "store %s\tnot there yet; the first eval makes it\n", address.Shown(at))
			return nil
		}
		calls, err1 := memory.Count(ctx)
		runs, err2 := memory.Runs(ctx)
		if err := cmp.Or(err1, err2); err != nil {
			return err
		}
		fmt.Fprintf(t, "store %s\t%s, %s\n", address.Shown(at), table.Counted(calls, "remembered call", "remembered calls"), table.Counted(len(runs), "run", "runs"))
		fmt.Fprintf(t, "\tcounted, not verified (orbench store check%s verifies it)\n", env.StoreArgument(at))
		return nil
	})
	if err != nil {
		fmt.Fprintf(t, "store %s\tdoes not open, or cannot be read\n", address.Shown(at))
	}
	return err
}
