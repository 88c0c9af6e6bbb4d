package postgres

import (
	"context"
	"slices"

	json "github.com/go-json-experiment/json/v1"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// What goes to or comes from the server in one message, at most: so many rows, and about
// so many bytes.
const (
	mostRows  = 1024
	mostBytes = 16 << 20
)

// Put implements store.Backend.
func (s *Store) Put(ctx context.Context, records []store.Record) error {
	// The statements of a batch are one transaction.
	var batch pgx.Batch
	var hashes, requests, packs, responses [][]byte
	var sums []int64
	size := 0
	for i := range records {
		response, err := json.Marshal(records[i].Response)
		if err != nil {
			return err
		}
		hash := records[i].Hash[:]
		plain, packed := store.Pack(records[i].Request)
		hashes, requests, packs = append(hashes, hash), append(requests, plain), append(packs, packed)
		responses, sums = append(responses, response), append(sums, store.Checksum(hash, response))
		size += len(response) + len(plain) + len(packed)
		if len(hashes) == mostRows || size > mostBytes || i == len(records)-1 {
			batch.Queue(`INSERT INTO calls (hash, request, packed, response, checksum)
				SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bigint[]) ON CONFLICT (hash) DO NOTHING`,
				hashes, requests, packs, responses, sums)
			hashes, requests, packs, responses, sums, size = nil, nil, nil, nil, nil, 0
		}
	}
	return s.send(ctx, &batch)
}

// send sends a batch as one transaction, which can be repeated.
func (s *Store) send(ctx context.Context, batch *pgx.Batch) error {
	if batch.Len() == 0 {
		return nil
	}
	return s.again(ctx, func(ctx context.Context) error { return s.pool.Send(ctx, batch) })
}

// texts are hashes as an argument of a query.
func texts(hashes []model.Hash) [][]byte {
	all := make([][]byte, len(hashes))
	for i := range hashes {
		all[i] = hashes[i][:]
	}
	return all
}

// Get implements store.Backend.
func (s *Store) Get(ctx context.Context, hashes []model.Hash) (map[model.Hash]model.Response, error) {
	found := make(map[model.Hash]model.Response, len(hashes))
	return found, s.among(ctx, hashes, `hash, response, checksum`, func(rows pgx.Rows) error {
		var hash, response pgtype.DriverBytes
		var sum int64
		if err := rows.Scan(&hash, &response, &sum); err != nil {
			return err
		}
		r, err := store.ReadResponse(hash, response, sum)
		if err != nil {
			return err
		}
		found[store.HashOf(hash)] = r
		return nil
	})
}

// Has implements store.Backend.
func (s *Store) Has(ctx context.Context, hashes []model.Hash) (map[model.Hash]bool, error) {
	found := make(map[model.Hash]bool, len(hashes))
	return found, s.among(ctx, hashes, `hash`, func(rows pgx.Rows) error {
		var hash pgtype.DriverBytes
		err := rows.Scan(&hash)
		found[store.HashOf(hash)] = true
		return err
	})
}

// among reads columns of those calls that have one of the hashes.
func (s *Store) among(ctx context.Context, hashes []model.Hash, columns string, scan func(pgx.Rows) error) error {
	for group := range slices.Chunk(hashes, mostRows) {
		if err := s.query(ctx, func() {}, scan, `SELECT `+columns+` FROM calls WHERE hash = ANY ($1)`, texts(group)); err != nil {
			return err
		}
	}
	return nil
}
