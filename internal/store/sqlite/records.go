package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"strings"

	json "github.com/go-json-experiment/json/v1"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// Records implements store.Backend.
func (s *Store) Records(ctx context.Context, hashes []model.Hash) ([]store.Record, error) {
	var all []store.Record
	for len(hashes) > 0 {
		group := hashes[:min(hashesPerQuery, len(hashes))]
		hashes = hashes[len(group):]
		args := make([]any, len(group))
		for i := range args {
			args[i] = group[i][:]
		}
		records, _, err := s.records(ctx, `WHERE hash IN (?`+strings.Repeat(",?", len(group)-1)+`) ORDER BY id`, args...)
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
		return s.records(ctx, `WHERE id > ? ORDER BY id LIMIT ?`, after, hashesPerQuery)
	})
}

// records reads rows, and gives the ID of the last.
func (s *Store) records(ctx context.Context, which string, args ...any) (records []store.Record, last int64, err error) {
	found, err := s.readers.QueryContext(ctx, `SELECT id, hash, request, response, checksum FROM calls `+which, args...)
	if err == nil {
		err = scanAll(found, func(rows *sql.Rows) error {
			var hash, response sql.RawBytes
			var r store.Record
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
		return nil, 0, s.at(err)
	}
	return records, last, nil
}

// Marks implements store.Backend.
func (s *Store) Marks(ctx context.Context, rows []int64) ([]store.Mark, error) {
	marks := make([]store.Mark, len(rows))
	for i, row := range rows {
		var hash, response []byte
		err := s.readers.QueryRowContext(ctx, `SELECT id, hash, response FROM calls WHERE id <= ? ORDER BY id DESC LIMIT 1`, row).
			Scan(&marks[i].Row, &hash, &response)
		switch {
		case err == nil:
			marks[i].Sum = store.Checksum(hash, response)
		case !errors.Is(err, sql.ErrNoRows):
			return nil, s.at(err)
		}
	}
	return marks, nil
}
