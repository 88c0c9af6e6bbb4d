package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/model"
)

// rate is a limit per minute that all workers keep together. The database has the time from
// which more may be used, by its own clock. It is that of an address for whoever asks it
// with a key, of which digest gives a name.
func (q *Queue) rate(at model.Ref, key string, perMinute int) fill.Limiter {
	name := fmt.Sprintf("%s %s %s requests", at.Provider, at.Endpoint, key)
	return fill.NewSharedRate(perMinute, func(ctx context.Context, by time.Duration) (time.Duration, error) {
		var wait float64
		err := q.pool.QueryRow(ctx, `INSERT INTO rates AS r (name, next) VALUES ($1, clock_timestamp() + $2::interval)
			ON CONFLICT (name) DO UPDATE SET next = greatest(r.next, clock_timestamp()) + $2::interval
			RETURNING extract(epoch FROM r.next - $2::interval - clock_timestamp())::float8`, name, by).Scan(&wait)
		return time.Duration(wait * float64(time.Second)), err
	})
}
