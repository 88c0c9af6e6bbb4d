package postgres

import (
	"context"
	"strconv"
	"time"

	json "github.com/go-json-experiment/json/v1"
	"github.com/jackc/pgx/v5"

	"github.com/orbench/orbench/internal/store"
)

// SaveRun implements store.Backend. Now is by the clock of the server.
func (s *Store) SaveRun(ctx context.Context, r store.Run) error {
	datasets, err := json.Marshal(append([]store.Key{}, r.Datasets...))
	if err != nil {
		return err
	}
	if r.Saved.IsZero() {
		if _, err := s.one(ctx, []any{&r.Saved}, `SELECT clock_timestamp()`); err != nil {
			return err
		}
	}
	name, saved := []byte(r.Name), r.Saved.UnixNano()
	config, made := append([]byte{}, r.Config...), append([]byte{}, r.Made...)
	var batch pgx.Batch
	batch.Queue(`INSERT INTO runs (name, config, datasets, made, saved, checksum) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (name) DO UPDATE SET config = excluded.config, datasets = excluded.datasets, made = excluded.made, saved = excluded.saved, checksum = excluded.checksum`,
		name, config, datasets, made, saved, runChecksum(name, config, datasets, made, saved))
	return s.send(ctx, &batch)
}

// runChecksum is the checksum of a run.
func runChecksum(name, config, datasets, made []byte, saved int64) int64 {
	return store.Checksum(name, config, datasets, made, strconv.AppendInt(nil, saved, 10))
}

// Run implements store.Backend.
func (s *Store) Run(ctx context.Context, name string) (store.Run, error) {
	runs, err := s.runs(ctx, `WHERE name = $1 OR $1 = '' ORDER BY saved DESC, name LIMIT 1`, []byte(name))
	if err != nil {
		return store.Run{}, err
	}
	if len(runs) == 0 {
		return store.Run{}, s.at(store.ErrNoRun)
	}
	return runs[0], nil
}

// Runs implements store.Backend.
func (s *Store) Runs(ctx context.Context) ([]store.Run, error) {
	return s.runs(ctx, `ORDER BY saved DESC, name`)
}

// runs reads the runs that the rest of a query tells.
func (s *Store) runs(ctx context.Context, rest string, args ...any) (runs []store.Run, err error) {
	err = s.query(ctx, func() { runs = nil }, func(rows pgx.Rows) error {
		var r store.Run
		var name, datasets []byte
		var saved, sum int64
		if err := rows.Scan(&name, &r.Config, &datasets, &r.Made, &saved, &sum); err != nil {
			return err
		}
		if sum != runChecksum(name, r.Config, datasets, r.Made, saved) || json.Unmarshal(datasets, &r.Datasets) != nil {
			return errChanged
		}
		r.Name, r.Saved = string(name), time.Unix(0, saved).UTC()
		runs = append(runs, r)
		return nil
	}, `SELECT name, config, datasets, made, saved, checksum FROM runs `+rest, args...)
	return runs, err
}
