package sqlite

import (
	"context"
	"database/sql"

	"github.com/orbench/orbench/internal/store"
)

// PutBatch implements store.Backend.
func (s *Store) PutBatch(ctx context.Context, b store.Batch, calls []store.BatchCall) error {
	open := int64(0)
	if b.Open {
		open = 1
	}
	return s.inTx(ctx, func(tx *sql.Tx) error {
		const put = `INSERT INTO batches (id, about, open, checksum) VALUES (?,?,?,?)
			ON CONFLICT (id) DO UPDATE SET about = excluded.about, open = excluded.open, checksum = excluded.checksum WHERE open = 1`
		done, err := tx.ExecContext(ctx, put, b.ID[:], string(b.About), open, store.BatchChecksum(b.ID[:], b.About, open))
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return err // it is no longer open
		}
		if !b.Open {
			_, err := tx.ExecContext(ctx, `DELETE FROM batch_calls WHERE batch = ?`, b.ID[:])
			return err
		}
		add, err := tx.PrepareContext(ctx, `INSERT INTO batch_calls (batch, hash, request) VALUES (?,?,?) ON CONFLICT (hash) DO NOTHING`)
		if err != nil {
			return err
		}
		defer add.Close()
		for _, c := range calls {
			if _, err := add.ExecContext(ctx, b.ID[:], c.Hash[:], string(c.Request)); err != nil {
				return err
			}
		}
		return nil
	})
}
