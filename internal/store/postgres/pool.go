package postgres

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Pool is connections to a database. What the server ends since another transaction is in its
// way is done again, for a while; all of it can be repeated.
type Pool struct{ pgx *pgxpool.Pool }

const (
	// yieldTime is for how long.
	yieldTime = 10 * time.Second
	// longestYield is the longest pause: another transaction is soon over, unlike an outage.
	longestYield = 200 * time.Millisecond
)

// yields reports whether the server ended a transaction in favor of another.
func yields(err error) bool {
	return slices.Contains([]string{notSerializable, deadlock, lockTaken}, code(err))
}

// Pgx gives the connections as they are, for a library that repeats by itself what has to be.
func (p Pool) Pgx() *pgxpool.Pool { return p.pgx }

// Again does something that can be repeated until no other transaction is in its way.
func (p Pool) Again(ctx context.Context, do func() error) error {
	began := time.Now()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, longestYield) {
		err := do()
		if !yields(err) || time.Since(began) > yieldTime {
			return err
		}
		select {
		case <-time.After(pause/2 + rand.N(pause/2)): // two that met do not meet again
		case <-ctx.Done():
			return err
		}
	}
}

// Exec does a statement.
func (p Pool) Exec(ctx context.Context, query string, args ...any) (done pgconn.CommandTag, err error) {
	err = p.Again(ctx, func() error {
		done, err = p.pgx.Exec(ctx, query, args...)
		return err
	})
	return done, err
}

// QueryRow finds a row, once that is scanned.
func (p Pool) QueryRow(ctx context.Context, query string, args ...any) pgx.Row {
	return row(func(into ...any) error {
		return p.Again(ctx, func() error { return p.pgx.QueryRow(ctx, query, args...).Scan(into...) })
	})
}

// row is a pgx.Row.
type row func(into ...any) error

// Scan implements pgx.Row.
func (r row) Scan(into ...any) error { return r(into...) }

// Each calls scan for every row that a query finds. Once it has, nothing is done again.
func (p Pool) Each(ctx context.Context, scan func(pgx.Rows) error, query string, args ...any) error {
	var failed error
	err := p.Again(ctx, func() error {
		rows, _ := p.pgx.Query(ctx, query, args...) // each gives the error
		read := false
		err := each(rows, func(rows pgx.Rows) error {
			read = true
			return scan(rows)
		})
		if read {
			failed = err
			return nil
		}
		return err
	})
	return cmp.Or(err, failed)
}

// Send does the statements of a batch as one transaction.
func (p Pool) Send(ctx context.Context, batch *pgx.Batch) error {
	return p.Again(ctx, func() error {
		// A batch that was sent knows statements of its connection, so each attempt has its own.
		var fresh pgx.Batch
		for _, q := range batch.QueuedQueries {
			fresh.QueuedQueries = append(fresh.QueuedQueries, &pgx.QueuedQuery{SQL: q.SQL, Arguments: q.Arguments, Fn: q.Fn})
		}
		return p.pgx.SendBatch(ctx, &fresh).Close()
	})
}

// InTx does something in a transaction, perhaps more than once.
func (p Pool) InTx(ctx context.Context, do func(pgx.Tx) error) error {
	return p.Again(ctx, func() error { return pgx.BeginFunc(ctx, p.pgx, do) })
}
