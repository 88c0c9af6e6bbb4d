package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/table"
)

func doctorCommand(env *command.Env) *cobra.Command {
	var store, providersFile string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check keys, local servers, the store and the datasets",
		Long: `Check what a measurement needs: which providers have a key (keys are never
printed), which local servers answer, whether the store opens and how much it
holds, and which datasets are there. Nothing is asked that costs money. The
store is counted and not verified; "orbench store check" reads all of it.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return doctor(env, c.Context(), store, providersFile) },
	}
	env.StoreFlag(c, &store)
	c.Flags().StringVar(&providersFile, "providers", "", "YAML `FILE` of providers beside the built-in ones")
	return c
}

// doctor prints one line for each thing that it checks.
func doctor(env *command.Env, ctx context.Context, store, providersFile string) error {
	providers, err := command.LoadProviders(providersFile)
	if err != nil {
		return err
	}
	allowed, err := provider.AllowedHosts(provider.AllowedPath())
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "orbench\t%s\n", version())
	for _, p := range providers.All() {
		fmt.Fprintf(t, "provider %s\t%s\n", p.Name, providerState(env, ctx, p, allowed))
	}
	for _, e := range dataset.List(env.CacheDir()) {
		state := "there"
		if !e.Present {
			state = settings.Rename(e.HowToGet(), experiment.FlagOf)
		}
		fmt.Fprintf(t, "dataset %s\t%s\n", e.Name, state)
	}
	problem := storeState(env, ctx, t, store)
	return errors.Join(t.Flush(), problem)
}

// providerState says whether a provider can be asked. allowed are the hosts that may have
// keys by the user's word.
func providerState(env *command.Env, ctx context.Context, p provider.Provider, allowed []string) string {
	e, err := p.Resolve("", env.Getenv)
	switch {
	case err != nil:
		return "not set up: " + command.WithFlags(err)
	case e.Key != "" && !e.KeyBelongs(env.Getenv) && !slices.Contains(allowed, provider.Host(e.BaseURL)):
		return "key found; for " + provider.Host(e.BaseURL) + ", which a file names, say --allow-host or orbench config allow-host"
	case e.Key != "":
		return "key found"
	case !p.KeyOptional:
		return "ready"
	}
	return e.Listening(ctx)
}

// storeState opens the store and counts what it holds. It does not read all of it, and says
// so: what is damaged may not be met. What does not open, or cannot be counted, is a problem.
func storeState(env *command.Env, ctx context.Context, t *tabwriter.Writer, at string) error {
	calls, runs, err := countStore(ctx, at)
	switch {
	case errors.Is(err, store.ErrNoStore):
		fmt.Fprintf(t, "store %s\tnot there yet; the first eval makes it\n", address.Shown(at))
		return nil
	case err != nil:
		fmt.Fprintf(t, "store %s\tdoes not open, or cannot be read\n", address.Shown(at))
		return err
	}
	fmt.Fprintf(t, "store %s\t%s, %s\n", address.Shown(at), table.Counted(calls, "remembered call", "remembered calls"), table.Counted(runs, "run", "runs"))
	fmt.Fprintf(t, "\topened and counted, not verified: orbench store check%s reads all of it\n", env.StoreArgument(at))
	return nil
}

// countStore counts the calls and the runs of a store.
func countStore(ctx context.Context, at string) (calls, runs int, err error) {
	s, err := address.OpenExisting(ctx, at)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if calls, err = s.Count(ctx); err != nil {
		return 0, 0, err
	}
	all, err := s.Runs(ctx)
	return calls, len(all), err
}
