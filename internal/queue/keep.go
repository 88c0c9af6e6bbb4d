package queue

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/pace"
	"github.com/orbench/orbench/model"
)

const (
	// digestRounds makes it slow to guess a key from its digest, should one be so short that
	// it can be guessed at all. It takes some 20 ms.
	digestRounds = 100_000
	digestSize   = 8
)

// digest names a key without telling it: the same in all processes that share the store.
func (q *Queue) digest(ctx context.Context, key string) (string, error) {
	if key == "" {
		return "", nil
	}
	var salt []byte
	err := q.pool.QueryRow(ctx, `WITH made AS (INSERT INTO key_salt (salt) VALUES ($1) ON CONFLICT DO NOTHING RETURNING salt)
		SELECT salt FROM made UNION ALL SELECT salt FROM key_salt LIMIT 1`, []byte(rand.Text())).Scan(&salt)
	if err != nil {
		return "", err
	}
	sum, err := pbkdf2.Key(sha256.New, key, salt, digestRounds, digestSize)
	return hex.EncodeToString(sum), err
}

// keeper keeps in the database what workers learn of a model's rate together.
type keeper struct {
	queue *Queue
	name  string
}

// keeper is that of a model for whoever asks it with a key, of which digest gives a name.
func (q *Queue) keeper(of model.Ref, key string) pace.Keeper {
	return &keeper{q, fmt.Sprintf("%s %s %s %s", of.Provider, of.Endpoint, of.Model, key)}
}

// Update implements pace.Keeper. What a failing server loses is learned again, so the disk
// is not waited for.
func (k *keeper) Update(ctx context.Context, change func(kept []byte, now time.Time) ([]byte, error)) error {
	return k.queue.pool.InTx(ctx, func(tx pgx.Tx) error {
		var batch pgx.Batch
		batch.Queue(`SET LOCAL synchronous_commit = off`)
		batch.Queue(`INSERT INTO paces VALUES ($1, '', clock_timestamp()) ON CONFLICT DO NOTHING`, k.name)
		var state []byte
		var now time.Time
		batch.Queue(`SELECT state, clock_timestamp() FROM paces WHERE name = $1 FOR UPDATE`, k.name).QueryRow(func(row pgx.Row) error {
			return row.Scan(&state, &now)
		})
		if err := tx.SendBatch(ctx, &batch).Close(); err != nil {
			return err
		}
		if len(state) == 0 {
			state = nil
		}
		state, err := change(state, now)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE paces SET state = $2, kept = clock_timestamp() WHERE name = $1`, k.name, state)
		return err
	})
}

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
