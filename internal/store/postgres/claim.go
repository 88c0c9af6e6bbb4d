package postgres

import (
	"context"
	"maps"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/model"
)

// claimAlone is the first statement of a transaction that makes or renews claims: no other
// does meanwhile. It is not waited for on the disk: a claim that a failing server loses is
// not held when it is renewed.
const claimAlone = `SELECT set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock(hashtextextended('orbench claims ' || $1, 0))`

// makeClaim claims those of the calls that are free, and tells of the others: what is
// answered, and what another handle holds. A claim that is over is deleted, so that who
// held it learns of it. All of it is of one moment, by the clock of the server.
const makeClaim = `
	WITH now AS MATERIALIZED (SELECT clock_timestamp() AS t),
	wanted AS MATERIALIZED (SELECT DISTINCT unnest($1::bytea[]) AS hash),
	answered AS MATERIALIZED (SELECT hash FROM calls WHERE hash = ANY ($1)),
	ended AS (DELETE FROM claims USING now WHERE owner <> $2 AND until <= now.t),
	taken AS MATERIALIZED (
		SELECT DISTINCT hash FROM now, claims, unnest(hashes) AS hash
		WHERE owner <> $2 AND until > now.t AND hash IN (SELECT hash FROM wanted) AND hash NOT IN (SELECT hash FROM answered)),
	free AS (SELECT hash FROM wanted EXCEPT SELECT hash FROM answered EXCEPT SELECT hash FROM taken),
	claimed AS (
		INSERT INTO claims (owner, number, until, hashes, place, pid)
		SELECT $2, $3, now.t + $4::interval, array_agg(hash), $5, $6 FROM free, now GROUP BY now.t
		ON CONFLICT (owner, number) DO UPDATE SET until = excluded.until, hashes = excluded.hashes)
	SELECT hash, 'answered' FROM answered UNION ALL SELECT hash, 'taken' FROM taken
	UNION ALL SELECT hash, 'batched' FROM batch_calls WHERE hash = ANY ($1)`

// Claim implements store.Backend. A claim is one row, whatever it has of calls.
func (s *Store) Claim(ctx context.Context, hashes []model.Hash, term time.Duration, _ int64) (store.Claim, error) {
	if len(hashes) == 0 {
		return store.Claim{}, nil
	}
	c, err := s.claim(ctx, hashes, term)
	if err != nil || len(c.Taken) == 0 {
		return c, err
	}
	switch ended, err := s.endGone(ctx); {
	case err != nil:
		return store.Claim{}, err
	case !ended:
		return c, nil
	}
	// What this handle holds itself it can claim again.
	if err := s.Release(ctx, []int64{c.ID}); err != nil {
		return store.Claim{}, err
	}
	return s.claim(ctx, hashes, term)
}

// endGone ends the claims of processes on this machine that are known to be no more, and
// says whether there were any.
func (s *Store) endGone(ctx context.Context) (ended bool, err error) {
	if s.place == "" {
		return false, nil
	}
	var gone []string
	err = s.query(ctx, func() { gone = nil }, func(rows pgx.Rows) error {
		var owner string
		var pid int
		err := rows.Scan(&owner, &pid)
		if err == nil && store.ProcessGone(pid) {
			gone = append(gone, owner)
		}
		return err
	}, `SELECT DISTINCT owner, pid FROM claims WHERE place = $1 AND owner <> $2`, s.place, s.owner)
	if err != nil || len(gone) == 0 {
		return false, err
	}
	var batch pgx.Batch
	batch.Queue(claimAlone, s.schema)
	batch.Queue(`DELETE FROM claims WHERE owner = ANY ($1)`, gone)
	return true, s.send(ctx, &batch)
}

// claim is Claim without a look at which processes are gone.
func (s *Store) claim(ctx context.Context, hashes []model.Hash, term time.Duration) (c store.Claim, err error) {
	wanted := make(map[model.Hash]bool, len(hashes))
	for _, h := range hashes {
		wanted[h] = true
	}
	// An attempt whose answer was lost may have claimed, so that another has its number.
	number := s.claims.Add(1)
	var batch pgx.Batch
	batch.Queue(claimAlone, s.schema)
	batch.Queue(makeClaim, texts(hashes), s.owner, number, term, s.place, os.Getpid()).Query(func(rows pgx.Rows) error {
		c = store.Claim{Answered: map[model.Hash]bool{}, Taken: map[model.Hash]bool{}, Batched: map[model.Hash]bool{}}
		by := map[string]map[model.Hash]bool{"answered": c.Answered, "taken": c.Taken, "batched": c.Batched}
		for rows.Next() {
			var hash pgtype.DriverBytes
			var is string
			if err := rows.Scan(&hash, &is); err != nil {
				return err
			}
			by[is][store.HashOf(hash)] = true
		}
		maps.DeleteFunc(c.Batched, func(h model.Hash, _ bool) bool { return c.Answered[h] || c.Taken[h] })
		return rows.Err()
	})
	if err := s.send(ctx, &batch); err != nil {
		return store.Claim{}, err
	}
	if len(c.Answered)+len(c.Taken) < len(wanted) {
		c.ID = number
	}
	return c, nil
}

// Renew implements store.Backend.
func (s *Store) Renew(ctx context.Context, term time.Duration) (held []int64, err error) {
	var batch pgx.Batch
	batch.Queue(claimAlone, s.schema)
	batch.Queue(`UPDATE claims SET until = clock_timestamp() + $2::interval WHERE owner = $1 RETURNING number`, s.owner, term).
		Query(func(rows pgx.Rows) (err error) {
			held, err = pgx.CollectRows(rows, pgx.RowTo[int64])
			return err
		})
	err = s.send(ctx, &batch)
	return held, err
}

// Release implements store.Backend.
func (s *Store) Release(ctx context.Context, claims []int64) error {
	if len(claims) == 0 {
		return nil
	}
	var batch pgx.Batch
	batch.Queue(`SELECT set_config('synchronous_commit', 'off', true)`)
	batch.Queue(`DELETE FROM claims WHERE owner = $1 AND number = ANY ($2)`, s.owner, claims)
	return s.send(ctx, &batch)
}
