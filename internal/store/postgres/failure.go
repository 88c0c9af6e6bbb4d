package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// PutFailures implements store.Backend.
func (s *Store) PutFailures(ctx context.Context, failures []store.Failure) error {
	// A statement changes no row twice, and those that change the same rows do so in one
	// order. The last failure of a hash counts.
	last := map[model.Hash]store.Failure{}
	for _, f := range failures {
		last[f.Hash] = f
	}
	hashes := make([]model.Hash, 0, len(last))
	for h := range last {
		hashes = append(hashes, h)
	}
	slices.SortFunc(hashes, func(a, b model.Hash) int { return slices.Compare(a[:], b[:]) })
	var batch pgx.Batch
	for group := range slices.Chunk(hashes, mostRows) {
		var kinds, messages [][]byte
		var sums []int64
		for _, h := range group {
			kind, message := []byte(last[h].Kind), []byte(last[h].Message)
			kinds, messages = append(kinds, kind), append(messages, message)
			sums = append(sums, store.Checksum(h[:], kind, message))
		}
		batch.Queue(`INSERT INTO failures (hash, kind, message, checksum)
			SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bigint[])
			ON CONFLICT (hash) DO UPDATE SET kind = excluded.kind, message = excluded.message, checksum = excluded.checksum`,
			texts(group), kinds, messages, sums)
	}
	return s.send(ctx, &batch)
}

// unanswered are the failures without a response.
const unanswered = `SELECT hash, kind, message, checksum FROM failures AS f
	WHERE NOT EXISTS (SELECT 1 FROM calls WHERE calls.hash = f.hash)`

// Failures implements store.Backend.
func (s *Store) Failures(ctx context.Context, hashes []model.Hash) (map[model.Hash]store.Failure, error) {
	found := map[model.Hash]store.Failure{}
	for group := range slices.Chunk(hashes, mostRows) {
		all, err := s.failures(ctx, unanswered+` AND hash = ANY ($1)`, texts(group))
		if err != nil {
			return nil, err
		}
		for _, f := range all {
			found[f.Hash] = f
		}
	}
	return found, nil
}

// AllFailures implements store.Backend.
func (s *Store) AllFailures(ctx context.Context) ([]store.Failure, error) {
	return s.failures(ctx, unanswered+` ORDER BY hash`)
}

func (s *Store) failures(ctx context.Context, query string, args ...any) (all []store.Failure, err error) {
	err = s.query(ctx, func() { all = nil }, func(rows pgx.Rows) error {
		var hash, kind, message []byte
		var sum int64
		if err := rows.Scan(&hash, &kind, &message, &sum); err != nil {
			return err
		}
		if sum != store.Checksum(hash, kind, message) {
			return errChanged
		}
		all = append(all, store.Failure{Hash: hashOf(hash), Kind: model.Kind(kind), Message: string(message)})
		return nil
	}, query, args...)
	return all, err
}
