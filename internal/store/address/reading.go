package address

import (
	"context"
	"errors"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/sqlite"
)

// OpenReading is OpenExisting for a command that shows or copies what is there. Damaged rows
// of a file are left out, and tell is called at the first of them. Of a database nothing is
// left out: what is damaged is store.ErrDamaged.
func OpenReading(ctx context.Context, address string, tell func()) (*store.Store, error) {
	if !IsFile(address) {
		return OpenExisting(ctx, address)
	}
	s, err := sqlite.OpenExisting(ctx, address)
	if err != nil {
		return nil, err
	}
	if err := s.Tolerate(ctx, tell); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return store.New(s), nil
}
