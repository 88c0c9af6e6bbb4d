package postgres

import (
	"context"
	"iter"
	"slices"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
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
	var hashes, requests, responses [][]byte
	var sums []int64
	size := 0
	for i := range records {
		response, err := jsonv1.Marshal(records[i].Response)
		if err != nil {
			return err
		}
		hash := records[i].Hash[:]
		hashes, requests = append(hashes, hash), append(requests, records[i].Request)
		responses, sums = append(responses, response), append(sums, store.Checksum(hash, response))
		size += len(response) + len(records[i].Request)
		if len(hashes) == mostRows || size > mostBytes || i == len(records)-1 {
			batch.Queue(`INSERT INTO calls (hash, request, response, checksum)
				SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bigint[]) ON CONFLICT (hash) DO NOTHING`,
				hashes, requests, responses, sums)
			hashes, requests, responses, sums, size = nil, nil, nil, nil, 0
		}
	}
	return s.send(ctx, &batch)
}

// send sends a batch as one transaction, which can be repeated.
func (s *Store) send(ctx context.Context, batch *pgx.Batch) error {
	if batch.Len() == 0 {
		return nil
	}
	return s.again(ctx, func(ctx context.Context) error {
		// A batch that was sent knows statements of its connection, so each attempt has its own.
		var fresh pgx.Batch
		for _, q := range batch.QueuedQueries {
			fresh.QueuedQueries = append(fresh.QueuedQueries, &pgx.QueuedQuery{SQL: q.SQL, Arguments: q.Arguments, Fn: q.Fn})
		}
		return s.pool.SendBatch(ctx, &fresh).Close()
	})
}

// texts are hashes as an argument of a query.
func texts(hashes []model.Hash) [][]byte {
	all := make([][]byte, len(hashes))
	for i := range hashes {
		all[i] = hashes[i][:]
	}
	return all
}

// hashOf is a stored hash, zero where it has another length.
func hashOf(b []byte) (h model.Hash) {
	if len(b) == len(h) {
		copy(h[:], b)
	}
	return h
}

// readOnce reads JSON as encoding/json does, but for its first pass over the text: that
// only keeps the value as it was where the text is damaged, and here the value is dropped.
var readOnce = json.JoinOptions(jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false))

// Get implements store.Backend.
func (s *Store) Get(ctx context.Context, hashes []model.Hash) (map[model.Hash]model.Response, error) {
	found := make(map[model.Hash]model.Response, len(hashes))
	for group := range slices.Chunk(hashes, mostRows) {
		err := s.query(ctx, func() {}, func(rows pgx.Rows) error {
			var hash, response pgtype.DriverBytes
			var sum int64
			if err := rows.Scan(&hash, &response, &sum); err != nil {
				return err
			}
			if sum != store.Checksum(hash, response) {
				return errChanged
			}
			var r model.Response
			if json.Unmarshal(response, &r, readOnce) != nil {
				return errChanged
			}
			found[hashOf(hash)] = r
			return nil
		}, `SELECT hash, response, checksum FROM calls WHERE hash = ANY ($1)`, texts(group))
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Has implements store.Backend.
func (s *Store) Has(ctx context.Context, hashes []model.Hash) (map[model.Hash]bool, error) {
	found := make(map[model.Hash]bool, len(hashes))
	for group := range slices.Chunk(hashes, mostRows) {
		err := s.query(ctx, func() {}, func(rows pgx.Rows) error {
			var hash pgtype.DriverBytes
			err := rows.Scan(&hash)
			found[hashOf(hash)] = true
			return err
		}, `SELECT hash FROM calls WHERE hash = ANY ($1)`, texts(group))
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Count implements store.Backend.
func (s *Store) Count(ctx context.Context) (n int, err error) {
	_, err = s.one(ctx, []any{&n}, `SELECT count(*) FROM calls`)
	return n, err
}

// Marks implements store.Backend.
func (s *Store) Marks(ctx context.Context, rows []int64) ([]store.Mark, error) {
	marks := make([]store.Mark, len(rows))
	for i, row := range rows {
		var hash, response []byte
		ok, err := s.one(ctx, []any{&marks[i].Row, &hash, &response}, `SELECT id, hash, response FROM calls WHERE id <= $1 ORDER BY id DESC LIMIT 1`, row)
		if err != nil {
			return nil, err
		}
		if ok {
			marks[i].Sum = store.Checksum(hash, response)
		}
	}
	return marks, nil
}

// Records implements store.Backend.
func (s *Store) Records(ctx context.Context, hashes []model.Hash) ([]store.Record, error) {
	var all []store.Record
	for group := range slices.Chunk(hashes, mostRows) {
		records, _, err := s.records(ctx, `WHERE hash = ANY ($1) ORDER BY id`, texts(group))
		if err != nil {
			return nil, err
		}
		all = append(all, records...)
	}
	return all, nil
}

// AllRecords implements store.Backend.
func (s *Store) AllRecords(ctx context.Context) iter.Seq2[store.Record, error] {
	return store.Paged(func(after int64) ([]store.Record, int64, error) {
		return s.records(ctx, `WHERE id > $1 ORDER BY id LIMIT 256`, after)
	})
}

// records reads rows, and gives the ID of the last.
func (s *Store) records(ctx context.Context, which string, args ...any) (records []store.Record, last int64, err error) {
	err = s.query(ctx, func() { records = nil }, func(rows pgx.Rows) error {
		var hash, response pgtype.DriverBytes
		var r store.Record
		var sum int64
		if err := rows.Scan(&last, &hash, &r.Request, &response, &sum); err != nil {
			return err
		}
		r.Hash = hashOf(hash)
		if r.Hash != model.HashCanonical(r.Request) || sum != store.Checksum(hash, response) || json.Unmarshal(response, &r.Response, readOnce) != nil {
			return errChanged
		}
		records = append(records, r)
		return nil
	}, `SELECT id, hash, request, response, checksum FROM calls `+which, args...)
	return records, last, err
}
