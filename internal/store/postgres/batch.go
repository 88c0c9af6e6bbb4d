package postgres

import (
	"context"
	"iter"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// PutBatch implements store.Backend.
func (s *Store) PutBatch(ctx context.Context, b store.Batch, calls []store.BatchCall) error {
	about := append([]byte{}, b.About...)
	return s.again(ctx, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			done, err := tx.Exec(ctx, `INSERT INTO batches (id, about, open, checksum) VALUES ($1, $2, $3, $4)
				ON CONFLICT (id) DO UPDATE SET about = excluded.about, open = excluded.open, checksum = excluded.checksum WHERE batches.open`,
				b.ID[:], about, b.Open, batchChecksum(b.ID[:], about, b.Open))
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

// batchChecksum is the checksum of a batch.
func batchChecksum(id, about []byte, open bool) int64 {
	is := byte(0)
	if open {
		is = 1
	}
	return store.Checksum(id, about, []byte{is})
}

// Batches implements store.Backend.
func (s *Store) Batches(ctx context.Context) (all []store.Batch, err error) {
	err = s.query(ctx, func() { all = nil }, func(rows pgx.Rows) error {
		var b store.Batch
		var id []byte
		var stored int64
		if err := rows.Scan(&id, &b.About, &b.Open, &stored); err != nil {
			return err
		}
		if len(id) != len(b.ID) || stored != batchChecksum(id, b.About, b.Open) {
			return errChanged
		}
		b.ID = store.BatchID(id)
		all = append(all, b)
		return nil
	}, `SELECT id, about, open, checksum FROM batches ORDER BY number`)
	return all, err
}

// BatchCalls implements store.Backend.
func (s *Store) BatchCalls(ctx context.Context, id store.BatchID, hashes []model.Hash) ([]store.BatchCall, error) {
	var all []store.BatchCall
	for group := range slices.Chunk(hashes, mostRows) {
		calls, err := s.batchCalls(ctx, `batch = $1 AND hash = ANY ($2)`, id[:], texts(group))
		if err != nil {
			return nil, err
		}
		all = append(all, calls...)
	}
	return all, nil
}

// AllBatchCalls implements store.Backend.
func (s *Store) AllBatchCalls(ctx context.Context, id store.BatchID) iter.Seq2[store.BatchCall, error] {
	return store.Paged(func(after model.Hash) ([]store.BatchCall, model.Hash, error) {
		calls, err := s.batchCalls(ctx, `batch = $1 AND hash > $2 ORDER BY hash LIMIT 256`, id[:], after[:])
		if len(calls) > 0 {
			after = calls[len(calls)-1].Hash
		}
		return calls, after, err
	})
}

// batchCalls reads rows.
func (s *Store) batchCalls(ctx context.Context, which string, args ...any) (calls []store.BatchCall, err error) {
	err = s.query(ctx, func() { calls = nil }, func(rows pgx.Rows) error {
		var hash pgtype.DriverBytes
		var c store.BatchCall
		if err := rows.Scan(&hash, &c.Request); err != nil {
			return err
		}
		if c.Hash = hashOf(hash); c.Hash != model.HashCanonical(c.Request) {
			return errChanged
		}
		calls = append(calls, c)
		return nil
	}, `SELECT hash, request FROM batch_calls WHERE `+which, args...)
	return calls, err
}
