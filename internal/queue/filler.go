package queue

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/model"
)

const (
	// shardCalls is how many calls a job has at most.
	shardCalls = 200
	// look is how often it is looked at how far the workers are, at most: less often where
	// counting takes long.
	look = 250 * time.Millisecond
	// rest is the least time between two walks for what replies decide.
	rest = time.Second
	// tries is how often River gives a shard to workers that fail with it.
	tries = 1000
)

// Filler has missing calls made by workers.
type Filler struct {
	queue    *Queue
	memo     *memo.Memo
	settings Settings
	id       int64

	mu     sync.Mutex
	stats  fill.Stats
	queued int
	failed map[model.Hash]bool
	// wishes are the calls of Ask that somebody waits for; granting is true while they are
	// looked for.
	wishes   []*wish
	granting bool
}

var _ fill.Filler = (*Filler)(nil)

// NewFiller makes a filler of what a memo lacks.
func NewFiller(ctx context.Context, q *Queue, m *memo.Memo, s Settings) (*Filler, error) {
	f := &Filler{queue: q, memo: m, settings: s, failed: map[model.Hash]bool{}}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return f, q.pool.QueryRow(ctx, `INSERT INTO fills (settings) VALUES ($1) RETURNING id`, text).Scan(&f.id)
}

// Stats gives the counts so far: what the workers have answered, and what waits for them.
func (f *Filler) Stats() fill.Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stats
}

// Fill implements fill.Filler. When the context ends, the workers go on with what is
// queued.
func (f *Filler) Fill(ctx context.Context, w fill.Work) error {
	err := f.fill(ctx, w)
	if err != nil && ctx.Err() != nil {
		// What was canceled does not know why.
		return context.Cause(ctx)
	}
	return err
}

func (f *Filler) fill(ctx context.Context, w fill.Work) error {
	known := w.Known
	for {
		began := time.Now()
		open, err := f.look(ctx)
		if err != nil {
			return err
		}
		queued, elsewhere, err := f.walk(ctx, known, true)
		if err != nil {
			return err
		}
		if elsewhere == 0 {
			known = nil
		}
		more, others, err := f.walk(ctx, w.Lacking, false)
		if err != nil {
			return err
		}
		if open+queued+elsewhere+more+others == 0 {
			return errors.Join(f.GivenUp(ctx)...)
		}
		again := began.Add(max(rest, 4*time.Since(began)))
		for took := time.Duration(0); ; {
			if err := sleep(ctx, max(look, 10*took)); err != nil {
				return err
			}
			looked := time.Now()
			if open, err = f.look(ctx); err != nil {
				return err
			}
			took = time.Since(looked)
			if time.Now().After(again) && (w.Lacking != nil || elsewhere > 0) || open == 0 && elsewhere+others == 0 {
				break
			}
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// look sees how far the workers are, and gives how many calls are open. A budget that is
// spent is a *fill.BudgetError.
func (f *Filler) look(ctx context.Context) (open int, err error) {
	var failed int
	var stopped bool
	spent := fill.BudgetError{Budget: f.settings.Budget}
	err = f.queue.pool.QueryRow(ctx, `SELECT count(*) FILTER (WHERE NOT failed), count(*) FILTER (WHERE failed) FROM queued_calls WHERE fill = $1`, f.id).
		Scan(&open, &failed)
	if err == nil {
		err = f.queue.pool.QueryRow(ctx, `SELECT stopped, requests, tokens, usd FROM fills WHERE id = $1`, f.id).
			Scan(&stopped, &spent.Requests, &spent.Tokens, &spent.USD)
	}
	if err != nil {
		return 0, err
	}
	done, err := f.done(ctx)
	if err != nil {
		return 0, err
	}
	f.mu.Lock()
	done.Present, done.Answered, done.Failed = f.stats.Present, f.queued-open-failed, max(0, failed-done.Batched)
	f.stats = done
	f.mu.Unlock()
	if stopped {
		return open, &spent
	}
	return open, nil
}

// done sums what the workers have done for the fill.
func (f *Filler) done(ctx context.Context) (all fill.Stats, err error) {
	rows, err := f.queue.pool.Query(ctx, `SELECT stats FROM fill_stats WHERE fill = $1`, f.id)
	if err != nil {
		return all, err
	}
	unpriced := map[string]bool{}
	var text []byte
	_, err = pgx.ForEachRow(rows, []any{&text}, func() error {
		var s fill.Stats
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
		all.Requests += s.Requests
		all.Blocked += s.Blocked
		all.Retries += s.Retries
		all.Rejected += s.Rejected
		all.Usage.Input += s.Usage.Input
		all.Usage.Output += s.Usage.Output
		all.Usage.Reasoning += s.Usage.Reasoning
		all.Usage.Cached += s.Usage.Cached
		all.USD += s.USD
		all.Charged += s.Charged
		all.FailedUSD += s.FailedUSD
		all.Width += s.Width
		all.Batched += s.Batched
		for _, name := range s.Unpriced {
			unpriced[name] = true
		}
		return nil
	})
	all.Unpriced = slices.Sorted(maps.Keys(unpriced))
	return all, err
}

// walk queues those of the requests that are missing, and gives how many, and how many
// others have queued.
func (f *Filler) walk(ctx context.Context, requests fill.Requests, known bool) (queued, elsewhere int, err error) {
	if requests == nil {
		return 0, 0, nil
	}
	var calls []memo.BatchCall
	flush := func() error {
		n, others, err := f.put(ctx, calls, known)
		queued, elsewhere, calls = queued+n, elsewhere+others, calls[:0]
		return err
	}
	for r, err := range requests(ctx) {
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return queued, elsewhere, err
		}
		canonical := r.Canonical()
		if c := (memo.BatchCall{Hash: model.HashCanonical(canonical), Request: canonical}); !f.failed[c.Hash] {
			calls = append(calls, c)
		}
		if len(calls) == shardCalls {
			if err := flush(); err != nil {
				return queued, elsewhere, err
			}
		}
	}
	return queued, elsewhere, errors.Join(flush(), ctx.Err())
}

// put queues as a shard those of some calls that are missing and not queued.
func (f *Filler) put(ctx context.Context, calls []memo.BatchCall, known bool) (queued, elsewhere int, err error) {
	hashes := make([]model.Hash, len(calls))
	for i := range calls {
		hashes[i] = calls[i].Hash
	}
	has, err := f.memo.Has(ctx, hashes)
	if err != nil {
		return 0, 0, err
	}
	if known {
		f.mu.Lock()
		f.stats.Present += len(has)
		f.mu.Unlock()
	}
	// A walk may repeat a request, and rows are put in one order by all.
	missing := slices.DeleteFunc(slices.Clone(calls), func(c memo.BatchCall) bool { return has[c.Hash] })
	slices.SortFunc(missing, func(a, b memo.BatchCall) int { return slices.Compare(a.Hash[:], b.Hash[:]) })
	missing = slices.CompactFunc(missing, func(a, b memo.BatchCall) bool { return a.Hash == b.Hash })
	if len(missing) == 0 {
		return 0, 0, nil
	}
	var names, requests [][]byte
	for i := range missing {
		names, requests = append(names, missing[i].Hash[:]), append(requests, missing[i].Request)
	}
	err = pgx.BeginFunc(ctx, f.queue.pool, func(tx pgx.Tx) error {
		args := shardArgs{Fill: f.id}
		if err := tx.QueryRow(ctx, `SELECT nextval('shards')`).Scan(&args.Shard); err != nil {
			return err
		}
		// What has failed for an earlier fill is tried again for this one.
		done, err := tx.Exec(ctx, `INSERT INTO queued_calls (hash, fill, shard, request)
			SELECT hash, $3, $4, request FROM unnest($1::bytea[], $2::bytea[]) AS missing (hash, request)
			ON CONFLICT (hash) DO UPDATE SET fill = excluded.fill, shard = excluded.shard, failed = false
			WHERE queued_calls.failed AND queued_calls.fill <> excluded.fill`, names, requests, f.id, args.Shard)
		if err != nil {
			return err
		}
		if queued = int(done.RowsAffected()); queued == 0 {
			return nil
		}
		_, err = f.queue.river.InsertTx(ctx, tx, args, &river.InsertOpts{MaxAttempts: tries})
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	// The others are queued: by this fill before, or by another.
	rows, err := f.queue.pool.Query(ctx, `SELECT hash, failed FROM queued_calls WHERE hash = ANY ($1) AND fill = $2`, names, f.id)
	if err != nil {
		return queued, 0, err
	}
	own := 0
	var hash []byte
	var failed bool
	_, err = pgx.ForEachRow(rows, []any{&hash, &failed}, func() error {
		own++
		if failed {
			f.failed[model.Hash(hash)] = true
		}
		return nil
	})
	f.mu.Lock()
	f.queued += queued
	f.mu.Unlock()
	return queued, max(0, len(missing)-max(own, queued)), err
}

// GivenUp lists the *fill.GivenUpErrors of the models that workers gave up, and forgets which
// calls have failed. It is the last that is asked of a filler.
func (f *Filler) GivenUp(ctx context.Context) (all []error) {
	var text []byte
	err := f.queue.pool.QueryRow(ctx, `SELECT gave_up FROM fills WHERE id = $1`, f.id).Scan(&text)
	why := map[string]givenUp{}
	if err == nil {
		err = json.Unmarshal(text, &why)
	}
	for _, name := range slices.Sorted(maps.Keys(why)) {
		w := why[name]
		all = append(all, &fill.GivenUpError{Provider: w.Provider, Model: w.Model, Err: errors.New(w.Error)})
	}
	if err == nil {
		_, err = f.queue.pool.Exec(ctx, `DELETE FROM queued_calls WHERE fill = $1`, f.id)
	}
	if err != nil {
		all = append(all, err)
	}
	return all
}

// givenUp is why a model was given up.
type givenUp struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Error    string `json:"error"`
}
