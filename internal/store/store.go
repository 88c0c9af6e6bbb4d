package store

import (
	"context"

	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/internal/memo/sqlite"
)

// Open opens the memo at an address, and makes the store where there is none. An
// address that names no store, and cannot, is an *orbench.InputError.
func Open(ctx context.Context, address string) (*memo.Memo, error) {
	return opened(sqlite.Open(ctx, address))
}

// OpenExisting is Open for a store that must be there: it makes none, and its error
// is memo.ErrNoStore where there is none.
func OpenExisting(ctx context.Context, address string) (*memo.Memo, error) {
	return opened(sqlite.OpenExisting(ctx, address))
}

func opened(s *sqlite.Store, err error) (*memo.Memo, error) {
	if err != nil {
		return nil, err
	}
	return memo.New(s), nil
}
