package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/orbench/orbench/internal/store"
)

// PutBatch implements store.Backend.
func (s *Store) PutBatch(ctx context.Context, b store.Batch, calls []store.BatchCall) error {
	about, open := append([]byte{}, b.About...), int64(0)
	if b.Open {
		open = 1
	}
	return s.again(ctx, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			done, err := tx.Exec(ctx, `INSERT INTO batches (id, about, open, checksum) VALUES ($1, $2, $3, $4)
				ON CONFLICT (id) DO UPDATE SET about = excluded.about, open = excluded.open, checksum = excluded.checksum WHERE batches.open`,
				b.ID[:], about, b.Open, store.BatchChecksum(b.ID[:], about, open))
			if err != nil || done.RowsAffected() == 0 {
				return err // it is no longer open
			}
			if !b.Open {
				_, err := tx.Exec(ctx, `DELETE FROM batch_calls WHERE batch = $1`, b.ID[:])
				return err
			}
			for group := range slices.Chunk(calls, mostRows) {
				var hashes, requests [][]byte
				for i := range group {
					hashes, requests = append(hashes, group[i].Hash[:]), append(requests, group[i].Request)
				}
				_, err := tx.Exec(ctx, `INSERT INTO batch_calls (batch, hash, request)
					SELECT $1, * FROM unnest($2::bytea[], $3::bytea[]) ON CONFLICT (hash) DO NOTHING`, b.ID[:], hashes, requests)
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}
