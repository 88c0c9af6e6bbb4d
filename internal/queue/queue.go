package queue

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/postgres"
)

// Settings say how the calls of a fill are made, whoever makes them.
type Settings struct {
	// Run names what the calls are for.
	Run string `json:"run,omitempty"`
	// Attempts and Timeout are those of fill.LiveConfig.
	Attempts int           `json:"attempts"`
	Timeout  time.Duration `json:"timeout"`
	// RequestsPerMinute bounds all workers together, for each endpoint; 0 is no bound.
	RequestsPerMinute int `json:"requests_per_minute,omitempty"`
	// Budget bounds what is spent of the account of that name.
	Budget  fill.Budget `json:"budget"`
	Account string      `json:"account"`
	// Prices are the table of prices.
	Prices []price.Price `json:"prices"`
}

// Queue is the calls that wait in a database, over the connections of its store.
type Queue struct {
	pool   postgres.Pool
	schema string
	river  inserter
}

// inserter is what is asked of River's client. Its own type would have every package that
// has a Queue compile River's generic code again.
type inserter interface {
	InsertTx(ctx context.Context, tx pgx.Tx, args river.JobArgs, opts *river.InsertOpts) (*rivertype.JobInsertResult, error)
}

// shardArgs are the arguments of a job: which calls it has.
type shardArgs struct {
	Fill  int64 `json:"fill"`
	Shard int64 `json:"shard"`
}

// Kind names the jobs.
func (shardArgs) Kind() string { return "calls" }

// CheckStore is an error where the store at an address has no queue, whether it is there or not.
func CheckStore(address string) error {
	if postgres.Is(address) {
		return nil
	}
	return noDatabase()
}

func noDatabase() error {
	return &orbench.InputError{
		Problem: "workers need a store in a database, but this one is a file",
		Hint:    "name one with `store` postgres://USER@HOST/DATABASE",
	}
}

// Open opens the queue in the database of a store, and makes its tables. A store in
// a file is an *orbench.InputError.
func Open(ctx context.Context, m *store.Store) (*Queue, error) {
	database, ok := m.Backend.(*postgres.Store)
	if !ok {
		return nil, noDatabase()
	}
	pool, schema := database.Pool()
	q := &Queue{pool: pool, schema: schema}
	err := pool.Again(ctx, func() error { return q.migrate(ctx) })
	if err == nil {
		q.river, err = river.NewClient(riverpgxv5.New(pool.Pgx()), &river.Config{Schema: schema, Logger: slog.New(slog.DiscardHandler)})
	}
	if err != nil {
		return nil, fmt.Errorf("the queue of calls: %w", err)
	}
	return q, nil
}

// tables are those of this package that the store's schema does not have.
//
//go:embed workers.sql
var tables string

// migrate makes the tables of River, or brings them up to date. Of several processes that
// start together one does so, while the others wait.
func (q *Queue) migrate(ctx context.Context) (err error) {
	conn, err := q.pool.Pgx().Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	const lock = `(hashtextextended('orbench queue ' || $1, 0))`
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock`+lock, q.schema); err != nil {
		return err
	}
	defer func() {
		_, failed := conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock`+lock, q.schema)
		err = errors.Join(err, failed)
	}()
	m, err := rivermigrate.New(riverpgxv5.New(q.pool.Pgx()), &rivermigrate.Config{Schema: q.schema, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if _, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, tables)
	return err
}

// settings reads those of a fill, and whether it is stopped.
func (q *Queue) settings(ctx context.Context, id int64) (s Settings, stopped bool, err error) {
	err = q.pool.QueryRow(ctx, `SELECT settings, stopped FROM fills WHERE id = $1`, id).Scan(&s, &stopped)
	return s, stopped, err
}

// prune deletes what is left of fills that began 30 days ago and have no call that waits,
// and limits that nobody has used since.
func (q *Queue) prune(ctx context.Context) error {
	_, err := q.pool.Exec(ctx, `
		WITH old AS (DELETE FROM fills WHERE began < now() - interval '30 days'
			AND NOT EXISTS (SELECT 1 FROM queued_calls WHERE fill = fills.id AND NOT failed) RETURNING id),
		stats AS (DELETE FROM fill_stats USING old WHERE fill = old.id),
		lanes AS (DELETE FROM lanes USING old WHERE fill = old.id),
		halts AS (DELETE FROM halts USING old WHERE fill = old.id),
		unused AS (DELETE FROM rates WHERE next < now() - interval '30 days'),
		forgotten AS (DELETE FROM paces WHERE kept < now() - interval '30 days')
		DELETE FROM queued_calls USING old WHERE fill = old.id`)
	return err
}

// each does something for every row that a query finds, once it is read into into.
func (q *Queue) each(ctx context.Context, into []any, do func() error, query string, args ...any) error {
	return q.pool.Each(ctx, func(rows pgx.Rows) error {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		return do()
	}, query, args...)
}

// Waiting is how many calls wait.
func (q *Queue) Waiting(ctx context.Context) (n int, err error) {
	err = q.pool.QueryRow(ctx, `SELECT count(*) FROM queued_calls WHERE NOT failed`).Scan(&n)
	return n, err
}
