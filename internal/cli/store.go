package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/internal/store"
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
	return " --store " + shellQuote(address)
}

// openExisting opens the memo of a store that must be there.
func openExisting(ctx context.Context, address string) (*memo.Memo, error) {
	memory, err := store.OpenExisting(ctx, address)
	if errors.Is(err, memo.ErrNoStore) {
		return nil, inputError(address, "there is no store", "make one with orbench eval, or name another with --store")
	}
	return memory, err
}
