package queue

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/postgres"
	"github.com/orbench/orbench/model"
)

const (
	// shardCalls is how many calls a job has at most.
	shardCalls = 200
	// look is how often it is looked at how far the workers are, at most: less often where
	// counting takes long.
	look = 250 * time.Millisecond
	// rest is the least time from one walk for what replies decide to the next.
	rest = time.Second
	// fresh is how old progress is at most, where a walk takes a third of it or less.
	fresh = 4500 * time.Millisecond
	// attemptTime is when a statement is taken to hang, as on a network that is cut, and
	// mostPause the longest pause before it is tried again.
	attemptTime = 30 * time.Second
	mostPause   = 2 * time.Second
	// tries is how often River gives a shard to workers that fail with it.
	tries = 1000
)

// Filler has missing calls made by workers.
type Filler struct {
	queue    *Queue
	store    *store.Store
	settings Settings
	id       int64

	mu    sync.Mutex
	stats fill.Stats
	// stopped is when it was seen that the budget is spent.
	stopped time.Time
	queued  int
	failed  map[model.Hash]bool
	// elsewhere counts the answers to calls that another fill had queued.
	elsewhere int
	// wishes are the calls of Ask that somebody waits for; granting is true while they are
	// looked for.
	wishes   []*wish
	granting bool
	// told is true once it was said that the database is away.
	told atomic.Bool
	// began is when the fill did, and said what was said of what keeps it from going on.
	began time.Time
	said  map[string]bool
}

var _ fill.Filler = (*Filler)(nil)

// NewFiller makes a filler of what a store lacks. Its budget, where there is one, is from now on
// that of all calls which still wait for the same account.
func NewFiller(ctx context.Context, q *Queue, m *store.Store, s Settings) (*Filler, error) {
	f := &Filler{queue: q, store: m, settings: s, failed: map[model.Hash]bool{}, began: time.Now()}
	if err := q.prune(ctx); err != nil {
		return nil, err
	}
	if s.Budget != (fill.Budget{}) {
		if _, err := q.pool.Exec(ctx, `UPDATE fills SET settings = jsonb_set(settings, '{budget}', $2) WHERE settings->>'account' = $1`, s.Account, s.Budget); err != nil {
			return nil, err
		}
	}
	return f, q.pool.QueryRow(ctx, `INSERT INTO fills (settings) VALUES ($1) RETURNING id`, s).Scan(&f.id)
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
	r := round{Work: w}
	err := f.wait(ctx, func() error { return f.fill(ctx, &r) })
	if err != nil && ctx.Err() != nil {
		// What was canceled does not know why.
		return context.Cause(ctx)
	}
	return err
}

// wait does something again for as long as the database is away, and says so once.
func (f *Filler) wait(ctx context.Context, do func() error) error {
	for pause := look; ; pause = min(2*pause, mostPause) {
		err := do()
		if err == nil || ctx.Err() != nil || !postgres.Away(err) {
			return err
		}
		if !f.told.Swap(true) {
			log.Printf("%v; waiting for it; workers continue when it is back", err)
		}
		if err := fill.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// round is work that is being filled, without what of it is queued for good.
type round struct {
	fill.Work
	// counted is true once those that were remembered beforehand are, and before how many
	// these were.
	counted bool
	before  int
}

// fill is Fill while the database is there.
func (f *Filler) fill(ctx context.Context, w *round) error {
	for {
		began := time.Now()
		open, err := f.look(ctx)
		if err != nil {
			return err
		}
		known, err := f.walk(ctx, w.Fixed)
		if err != nil {
			return err
		}
		f.mu.Lock()
		if !w.counted {
			w.counted, w.before = true, known.present
			f.stats.Present += known.present
		} else if w.Fixed != nil {
			// What is remembered now and was not: the rest of it was queued by another fill.
			f.elsewhere = max(0, known.present-w.before-f.stats.Answered)
		}
		f.mu.Unlock()
		if known.elsewhere == 0 {
			w.Fixed = nil
		}
		var missing fill.Requests
		all := func(model.Ref) bool { return true }
		if w.Missing != nil {
			missing = func(ctx context.Context) iter.Seq2[model.Request, error] { return w.Missing(ctx, all) }
		}
		lacking, err := f.walk(ctx, missing)
		if err != nil {
			return err
		}
		elsewhere := known.elsewhere + lacking.elsewhere
		if open+known.queued+lacking.queued+elsewhere == 0 && (w.Held == nil || !w.Held(all)) {
			return errors.Join(f.GivenUp(ctx)...)
		}
		// Walks take a quarter of the time, more only where progress would else be older than
		// fresh: what the start of a walk saw is shown until the end of the next.
		walk := time.Since(began)
		again := max(rest-walk, 3*walk)
		if walk <= fresh/3 {
			again = min(again, fresh-2*walk)
		}
		rested := time.Now().Add(again)
		for took := time.Duration(0); ; {
			if err := fill.Sleep(ctx, max(look, 10*took)); err != nil {
				return err
			}
			looked := time.Now()
			if open, err = f.look(ctx); err != nil {
				return err
			}
			took = time.Since(looked)
			if err := f.watchWorkers(ctx, open+elsewhere); err != nil {
				return err
			}
			if time.Now().After(rested) && (w.Missing != nil || elsewhere > 0) || open == 0 && elsewhere == 0 {
				break
			}
		}
	}
}

// look sees how far the workers are, and gives how many calls are open. A budget that is
// spent is a *fill.BudgetError.
func (f *Filler) look(ctx context.Context) (open int, err error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	var failed int
	var stopped bool
	var spent fill.BudgetError
	err = f.queue.pool.QueryRow(ctx, `SELECT count(*) FILTER (WHERE NOT failed), count(*) FILTER (WHERE failed) FROM queued_calls WHERE fill = $1`, f.id).
		Scan(&open, &failed)
	if err == nil {
		err = f.queue.pool.QueryRow(ctx, `SELECT stopped, tokens, usd, settings->'budget' FROM fills WHERE id = $1`, f.id).
			Scan(&stopped, &spent.Next.Tokens, &spent.Next.USD, &spent.Budget)
	}
	if err != nil {
		return 0, err
	}
	done, err := f.queue.stats(ctx, f.id)
	if err != nil {
		return 0, err
	}
	f.mu.Lock()
	done.Present, done.Answered, done.Failed = f.stats.Present, f.queued-open-failed, max(0, failed-done.Batched)
	// What workers wait for is made by others of them, or was when the last of one was heard.
	done.Elsewhere, done.Waiting = f.elsewhere, 0
	f.stats = done
	f.mu.Unlock()
	if !stopped {
		return open, nil
	}
	f.mu.Lock()
	if f.stopped.IsZero() {
		f.stopped = time.Now()
	}
	since := f.stopped
	f.mu.Unlock()
	shares, err := f.store.Shares(ctx, f.settings.Account)
	if err != nil {
		return 0, err
	}
	if fill.Pending(shares).Requests > 0 && time.Since(since) < fill.SettleTime {
		return open + 1, nil // what workers have under way is not yet counted
	}
	spent.Spent = fill.Taken(shares)
	for _, s := range shares {
		if s.Began.Before(f.began) {
			spent.Before.Add(fill.Taken([]store.Share{s}))
			continue
		}
		spent.Charged += s.Charged
		spent.Failed.Add(fill.Budget{Tokens: s.Failed.Tokens, USD: s.Failed.USD})
	}
	return open, &spent
}

// stats sums what the workers have done for a fill.
func (q *Queue) stats(ctx context.Context, id int64) (all fill.Stats, err error) {
	err = q.pool.Each(ctx, func(rows pgx.Rows) error {
		s, err := pgx.RowTo[fill.Stats](rows)
		all.Add(s)
		return err
	}, `SELECT stats FROM fill_stats WHERE fill = $1`, id)
	return all, err
}

// walked is what a walk found of the requests: queued were put into the queue, elsewhere are
// those that others have queued, and present those that are remembered.
type walked struct{ queued, elsewhere, present int }

// walk queues those of the requests that are missing.
func (f *Filler) walk(ctx context.Context, requests fill.Requests) (all walked, err error) {
	if requests == nil {
		return all, nil
	}
	var calls []store.BatchCall
	flush := func() error {
		found, err := f.put(ctx, calls)
		all.queued += found.queued
		all.elsewhere += found.elsewhere
		all.present += found.present
		calls = calls[:0]
		return err
	}
	for r, err := range requests(ctx) {
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return all, err
		}
		canonical := r.Canonical()
		if c := (store.BatchCall{Hash: model.HashCanonical(canonical), Request: canonical}); !f.failed[c.Hash] {
			calls = append(calls, c)
		}
		if len(calls) == shardCalls {
			if err := flush(); err != nil {
				return all, err
			}
		}
	}
	return all, errors.Join(flush(), ctx.Err())
}

// put queues as a shard those of some calls that are missing and not queued.
func (f *Filler) put(ctx context.Context, calls []store.BatchCall) (found walked, err error) {
	hashes := make([]model.Hash, len(calls))
	for i := range calls {
		hashes[i] = calls[i].Hash
	}
	has, err := f.store.Has(ctx, hashes)
	if err != nil {
		return found, err
	}
	found.present = len(has)
	// A walk may repeat a request, and rows are put in one order by all.
	missing := slices.DeleteFunc(slices.Clone(calls), func(c store.BatchCall) bool { return has[c.Hash] })
	slices.SortFunc(missing, func(a, b store.BatchCall) int { return slices.Compare(a.Hash[:], b.Hash[:]) })
	missing = slices.CompactFunc(missing, func(a, b store.BatchCall) bool { return a.Hash == b.Hash })
	if len(missing) == 0 {
		return found, nil
	}
	// A shard asks one endpoint, so that who cannot ask it leaves nothing else.
	type shard struct{ names, requests [][]byte }
	shards := map[model.Ref]*shard{}
	var names [][]byte
	for i := range missing {
		var at model.Ref
		if err := json.Unmarshal(missing[i].Request, &at); err != nil {
			return found, err
		}
		at.Model = ""
		if shards[at] == nil {
			shards[at] = &shard{}
		}
		shards[at].names, shards[at].requests = append(shards[at].names, missing[i].Hash[:]), append(shards[at].requests, missing[i].Request)
		names = append(names, missing[i].Hash[:])
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	err = f.queue.pool.InTx(ctx, func(tx pgx.Tx) error {
		found.queued = 0
		for at, s := range shards {
			args := shardArgs{Fill: f.id}
			if err := tx.QueryRow(ctx, `SELECT nextval('shards')`).Scan(&args.Shard); err != nil {
				return err
			}
			// What has failed for an earlier fill is tried again for this one.
			done, err := tx.Exec(ctx, `INSERT INTO queued_calls (hash, fill, shard, request)
				SELECT hash, $3, $4, request FROM unnest($1::bytea[], $2::bytea[]) AS missing (hash, request)
				ON CONFLICT (hash) DO UPDATE SET fill = excluded.fill, shard = excluded.shard, failed = false
				WHERE queued_calls.failed AND queued_calls.fill <> excluded.fill`, s.names, s.requests, f.id, args.Shard)
			if err != nil {
				return err
			}
			if done.RowsAffected() == 0 {
				continue
			}
			found.queued += int(done.RowsAffected())
			name := laneName(f.id, at)
			if _, err := tx.Exec(ctx, `INSERT INTO lanes VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`, f.id, name, at.Provider, at.Endpoint); err != nil {
				return err
			}
			if _, err := f.queue.river.InsertTx(ctx, tx, args, &river.InsertOpts{MaxAttempts: tries, Queue: name}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return walked{}, err
	}
	f.mu.Lock()
	f.queued += found.queued
	f.mu.Unlock()
	// The others are queued: by this fill before, or by another.
	own := 0
	var hash []byte
	var failed bool
	err = f.queue.each(ctx, []any{&hash, &failed}, func() error {
		own++
		if failed {
			f.failed[model.Hash(hash)] = true
		}
		return nil
	}, `SELECT hash, failed FROM queued_calls WHERE hash = ANY ($1) AND fill = $2`, names, f.id)
	found.elsewhere = max(0, len(missing)-max(own, found.queued))
	return found, err
}

// GivenUp lists the *fill.GivenUpErrors of the models that workers gave up, and forgets which
// calls have failed. It is the last that is asked of a filler.
func (f *Filler) GivenUp(ctx context.Context) (all []error) {
	var why map[string]givenUp
	err := f.queue.pool.QueryRow(ctx, `SELECT gave_up FROM fills WHERE id = $1`, f.id).Scan(&why)
	for _, name := range slices.Sorted(maps.Keys(why)) {
		w := why[name]
		all = append(all, &fill.GivenUpError{Provider: w.Provider, Model: w.Model, Err: errors.New(w.Error)})
	}
	if err == nil {
		_, err = f.queue.pool.Exec(ctx, `DELETE FROM queued_calls WHERE fill = $1 AND failed`, f.id)
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
