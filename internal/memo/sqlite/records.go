package sqlite

import (
	"context"
	"database/sql"
	"iter"
	"strings"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/model"
)

// Records implements memo.Store.
func (s *Store) Records(ctx context.Context, hashes []model.Hash) ([]memo.Record, error) {
	var all []memo.Record
	for len(hashes) > 0 {
		group := hashes[:min(hashesPerQuery, len(hashes))]
		hashes = hashes[len(group):]
		args := make([]any, len(group))
		for i := range args {
			args[i] = group[i][:]
		}
		_, records, err := s.records(ctx, `WHERE hash IN (?`+strings.Repeat(",?", len(group)-1)+`) ORDER BY id`, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, records...)
	}
	return all, nil
}

// AllRecords implements memo.Store.
func (s *Store) AllRecords(ctx context.Context) iter.Seq2[memo.Record, error] {
	return func(yield func(memo.Record, error) bool) {
		var last int64
		for {
			// No query stays open while the caller works with what it found.
			reached, records, err := s.records(ctx, `WHERE id > ? ORDER BY id LIMIT ?`, last, hashesPerQuery)
			if err != nil {
				yield(memo.Record{}, err)
				return
			}
			if len(records) == 0 {
				return
			}
			for _, r := range records {
				if !yield(r, nil) {
					return
				}
			}
			last = reached
		}
	}
}

// records reads rows, and gives the ID of the last.
func (s *Store) records(ctx context.Context, which string, args ...any) (last int64, records []memo.Record, err error) {
	found, err := s.readers.QueryContext(ctx, `SELECT id, hash, request, response, checksum FROM calls `+which, args...)
	if err == nil {
		err = scanAll(found, func(rows *sql.Rows) error {
			var hash, response sql.RawBytes
			var r memo.Record
			var stored any
			if err := rows.Scan(&last, &hash, &r.Request, &response, &stored); err != nil {
				return err
			}
			r.Hash = hashOf(hash)
			if r.Hash != model.HashCanonical(r.Request) {
				return errChanged
			}
			if err := verify(stored, hash, response); err != nil {
				return err
			}
			if json.Unmarshal(response, &r.Response) != nil {
				return errChanged
			}
			records = append(records, r)
			return nil
		})
	}
	if err != nil {
		return 0, nil, s.at(err)
	}
	return last, records, nil
}
