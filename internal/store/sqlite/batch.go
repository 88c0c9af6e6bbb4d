package sqlite

import (
	"context"
	"database/sql"
	"iter"
	"strings"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
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
		done, err := tx.ExecContext(ctx, put, b.ID[:], string(b.About), open, batchChecksum(b.ID[:], b.About, open))
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

// batchChecksum is the checksum of a batch.
func batchChecksum(id, about []byte, open int64) int64 {
	return store.Checksum(id, about, []byte{byte(open)})
}

// Batches implements store.Backend.
func (s *Store) Batches(ctx context.Context) ([]store.Batch, error) {
	found, err := s.readers.QueryContext(ctx, `SELECT id, about, open, checksum FROM batches ORDER BY rowid`)
	if err != nil {
		return nil, s.at(err)
	}
	var all []store.Batch
	err = scanAll(found, func(rows *sql.Rows) error {
		var b store.Batch
		var id []byte
		var open, stored int64
		if err := rows.Scan(&id, &b.About, &open, &stored); err != nil {
			return err
		}
		if len(id) != len(b.ID) || stored != batchChecksum(id, b.About, open) {
			return errChanged
		}
		b.ID, b.Open = store.BatchID(id), open != 0
		all = append(all, b)
		return nil
	})
	if err != nil {
		return nil, s.at(err)
	}
	return all, nil
}

// BatchCalls implements store.Backend.
func (s *Store) BatchCalls(ctx context.Context, id store.BatchID, hashes []model.Hash) ([]store.BatchCall, error) {
	var all []store.BatchCall
	for len(hashes) > 0 {
		group := hashes[:min(hashesPerQuery, len(hashes))]
		hashes = hashes[len(group):]
		args := []any{id[:]}
		for _, h := range group {
			args = append(args, h[:])
		}
		calls, err := s.batchCalls(ctx, `batch = ? AND hash IN (?`+strings.Repeat(",?", len(group)-1)+`)`, args...)
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
		calls, err := s.batchCalls(ctx, `batch = ? AND hash > ? ORDER BY hash LIMIT ?`, id[:], after[:], hashesPerQuery)
		if len(calls) > 0 {
			after = calls[len(calls)-1].Hash
		}
		return calls, after, err
	})
}

// batchCalls reads rows.
func (s *Store) batchCalls(ctx context.Context, which string, args ...any) (calls []store.BatchCall, err error) {
	found, err := s.readers.QueryContext(ctx, `SELECT hash, request FROM batch_calls WHERE `+which, args...)
	if err == nil {
		err = scanAll(found, func(rows *sql.Rows) error {
			var hash sql.RawBytes
			var c store.BatchCall
			if err := rows.Scan(&hash, &c.Request); err != nil {
				return err
			}
			if c.Hash = hashOf(hash); c.Hash != model.HashCanonical(c.Request) {
				return errChanged
			}
			calls = append(calls, c)
			return nil
		})
	}
	if err != nil {
		return nil, s.at(err)
	}
	return calls, nil
}
