package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// Vacuum writes the tables of texts anew, so that their files have nothing that was deleted.
// The log of writes of the server and its backups keep it for as long as they are set to.
func (s *Store) Vacuum(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, "VACUUM (FULL, ANALYZE) calls, pieces, datasets, runs, failures, annotations, batches, batch_calls")
	return s.at(err)
}

// Forget implements store.Backend. It refuses while calls wait for workers, which hold their
// texts.
func (s *Store) Forget(ctx context.Context, datasets []store.Key, calls []model.Hash, annotations [][sha256.Size]byte) error {
	var waiting int
	if err := s.one(ctx, &waiting, `SELECT count(*) FROM queued_calls WHERE NOT failed`); err != nil {
		return s.at(err)
	}
	if waiting > 0 {
		return s.input(fmt.Sprintf("%d calls wait for workers", waiting), "let the workers finish, then forget")
	}
	if _, err := s.pool.Exec(ctx, `TRUNCATE queued_calls`); err != nil {
		return s.at(err)
	}
	return s.Tables.Forget(ctx, datasets, calls, annotations)
}
