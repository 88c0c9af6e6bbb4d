package queue

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/model"
)

// rate is a limit per minute that all workers keep together. The database has the time from
// which more may be used, by its own clock.
func (q *Queue) rate(at model.Ref, unit string, perMinute int) fill.Limiter {
	name := fmt.Sprintf("%s %s %s", at.Provider, at.Endpoint, unit)
	return fill.NewSharedRate(perMinute, func(ctx context.Context, by time.Duration) (time.Duration, error) {
		var wait float64
		err := q.pool.QueryRow(ctx, `INSERT INTO rates AS r (name, next) VALUES ($1, clock_timestamp() + $2::interval)
			ON CONFLICT (name) DO UPDATE SET next = greatest(r.next, clock_timestamp()) + $2::interval
			RETURNING extract(epoch FROM r.next - $2::interval - clock_timestamp())::float8`, name, by).Scan(&wait)
		return time.Duration(wait * float64(time.Second)), err
	})
}

// purse is the budget of a fill, which the database keeps for all workers. A worker takes
// about as much ahead as it spends in a second: what one that dies had taken counts as
// spent, since nobody knows whether it was.
type purse struct {
	queue *Queue
	id    int64
	most  fill.Budget

	mu sync.Mutex
	// lease is what was taken last, at that time.
	lease fill.Budget
	at    time.Time
}

var _ fill.Purse = (*purse)(nil)

const (
	// leases is how many of the leases that are taken would at least use up what is left.
	leases = 32
	// leaseTime is how long a lease should last.
	leaseTime = time.Second
)

// Take implements fill.Purse.
func (p *purse) Take(ctx context.Context, least fill.Budget) (got fill.Budget, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// One that is used up too soon is followed by a larger one.
	scale := 1.0
	switch since := time.Since(p.at); {
	case since < leaseTime:
		scale = 2
	case since > 4*leaseTime:
		scale = 0.5
	}
	err = pgx.BeginFunc(ctx, p.queue.pool, func(tx pgx.Tx) error {
		var taken fill.Budget
		err := tx.QueryRow(ctx, `SELECT requests, tokens, usd FROM fills WHERE id = $1 FOR UPDATE`, p.id).Scan(&taken.Requests, &taken.Tokens, &taken.USD)
		if err != nil {
			return err
		}
		left := fill.Budget{Requests: p.most.Requests - taken.Requests, Tokens: p.most.Tokens - taken.Tokens, USD: p.most.USD - taken.USD}
		if least.Requests > left.Requests && p.most.Requests > 0 || least.Tokens > left.Tokens && p.most.Tokens > 0 || least.USD > left.USD && p.most.USD > 0 {
			return nil
		}
		if least.Requests > 0 {
			got.Requests = max(least.Requests, min(left.Requests/leases, int(scale*float64(p.lease.Requests))))
		}
		if least.Tokens > 0 {
			got.Tokens = max(least.Tokens, min(left.Tokens/leases, int(scale*float64(p.lease.Tokens))))
		}
		if least.USD > 0 {
			got.USD = max(least.USD, min(left.USD/leases, scale*p.lease.USD))
		}
		return p.add(ctx, tx, got, 1)
	})
	if err != nil {
		return fill.Budget{}, err
	}
	p.at = time.Now()
	if got.Requests > 0 {
		p.lease.Requests = got.Requests
	}
	if got.Tokens > 0 {
		p.lease.Tokens = got.Tokens
	}
	if got.USD > 0 {
		p.lease.USD = got.USD
	}
	return got, nil
}

// Give implements fill.Purse.
func (p *purse) Give(ctx context.Context, unspent fill.Budget) error {
	return pgx.BeginFunc(ctx, p.queue.pool, func(tx pgx.Tx) error { return p.add(ctx, tx, unspent, -1) })
}

// add notes that more, or with sign -1 less, is taken.
func (p *purse) add(ctx context.Context, tx pgx.Tx, b fill.Budget, sign int) error {
	_, err := tx.Exec(ctx, `UPDATE fills SET requests = requests + $2, tokens = tokens + $3, usd = usd + $4 WHERE id = $1`,
		p.id, sign*b.Requests, sign*b.Tokens, float64(sign)*b.USD)
	return err
}
