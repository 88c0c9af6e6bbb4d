package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/fill"
)

// Halt is how the calls of a fill are kept from being made.
type Halt string

// The ways: Paused calls stay queued, Canceled ones are taken from the queue.
const (
	Running  Halt = ""
	Paused   Halt = "paused"
	Canceled Halt = "canceled"
)

// ErrCanceled ends a fill that was called off in the queue.
var ErrCanceled = errors.New("its queued calls were canceled; repeat the command to queue the missing ones again")

// Queued is a run, or another study, with calls in the queue.
type Queued struct {
	Run string `json:"run"`
	// Waiting counts the calls that wait or are under way, and Failed those that failed.
	Waiting int `json:"waiting"`
	Failed  int `json:"failed"`
	// Began is when the first of them were queued.
	Began  time.Time `json:"began"`
	Halted Halt      `json:"halted,omitempty"`
}

// List gives the runs with calls that wait, the one that began first first.
func (q *Queue) List(ctx context.Context) (all []Queued, err error) {
	err = q.pool.Each(ctx, func(rows pgx.Rows) error {
		one, err := pgx.RowToStructByPos[Queued](rows)
		all = append(all, one)
		return err
	}, `SELECT coalesce(f.settings->>'run', '') AS run, sum(c.waiting)::int, sum(c.failed)::int, min(f.began) AS began, coalesce(max(h.how), '')
		FROM (SELECT fill, count(*) FILTER (WHERE NOT failed) AS waiting, count(*) FILTER (WHERE failed) AS failed FROM queued_calls GROUP BY fill) AS c
		JOIN fills AS f ON f.id = c.fill LEFT JOIN halts AS h ON h.fill = c.fill
		WHERE c.waiting > 0 GROUP BY run ORDER BY began`)
	return all, err
}

// Halt pauses, resumes or cancels the calls of a run. When it returns, workers send no further
// one of them; those under way are finished, and their answers kept. A run without queued
// calls is an *orbench.InputError.
func (q *Queue) Halt(ctx context.Context, run string, how Halt) error {
	err := q.pool.InTx(ctx, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, `SELECT id FROM fills WHERE coalesce(settings->>'run', '') = $1
			AND EXISTS (SELECT 1 FROM queued_calls WHERE fill = id AND NOT failed)`, run)
		fills, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return err
		}
		if len(fills) == 0 {
			return &orbench.InputError{Problem: fmt.Sprintf("no call of %q is queued", run), Hint: "orbench worker list shows what is"}
		}
		if how == Running {
			_, err := tx.Exec(ctx, `DELETE FROM halts WHERE fill = ANY ($1)`, fills)
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO halts SELECT unnest($1::bigint[]), $2 ON CONFLICT (fill) DO UPDATE SET how = excluded.how`, fills, how)
		if err != nil || how == Paused {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM queued_calls WHERE fill = ANY ($1) AND NOT failed`, fills)
		return err
	})
	if err == nil && how != Running {
		err = q.heard(ctx)
	}
	return err
}

// heard waits until every worker that runs has looked at the queue once more.
func (q *Queue) heard(ctx context.Context) error {
	var since time.Time
	if err := q.pool.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&since); err != nil {
		return err
	}
	for {
		var deaf bool
		err := q.pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM workers WHERE seen > clock_timestamp() - $1::interval AND seen <= $2)`, gone, since).Scan(&deaf)
		if err != nil || !deaf {
			return err
		}
		if err := fill.Sleep(ctx, look); err != nil {
			return err
		}
	}
}
