package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/untrusted"
)

// storeFlag registers --store, whose default the environment may set.
func (a *app) storeFlag(c *cobra.Command, address *string) {
	usual := "orbench.db"
	if env := a.env.Getenv("ORBENCH_STORE"); env != "" {
		usual = env
	}
	c.Flags().StringVar(address, "store", usual, "`FILE` that remembers every paid call ($ORBENCH_STORE)")
}

// storeArgument is what names the store in a command, empty for the default.
func (a *app) storeArgument(address string) string {
	if address == "orbench.db" || address == a.env.Getenv("ORBENCH_STORE") {
		return ""
	}
	return " --store " + untrusted.Shell(address)
}

// openRun opens a run of a store; the empty name is the one saved last.
func (a *app) openRun(ctx context.Context, memory *memo.Memo, address, name string) (*run.Run, error) {
	stored, err := run.Find(ctx, memory, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return stored.Open(ctx, a.cacheDir())
}

// openRuns opens runs of a store.
func (a *app) openRuns(ctx context.Context, memory *memo.Memo, address string, names []string) ([]*run.Run, error) {
	var runs []*run.Run
	for _, name := range names {
		r, err := a.openRun(ctx, memory, address, name)
		if err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// openExisting opens the memo of a store that must be there.
func openExisting(ctx context.Context, address string) (*memo.Memo, error) {
	memory, err := store.OpenExisting(ctx, address)
	if errors.Is(err, memo.ErrNoStore) {
		return nil, inputError(address, "there is no store", "make one with orbench eval, or name another with --store")
	}
	return memory, err
}
