package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/pace"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/postgres"
	"github.com/orbench/orbench/model"
)

// WorkerConfig says how a worker works.
type WorkerConfig struct {
	// Name is what others call the worker, such as "worker 12 on HOST".
	Name string
	// Connect gives the way to an endpoint.
	Connect func(model.Ref) (Connection, error)
	// Turn is how long a worker keeps a shard before it hands back what is left of it.
	Turn time.Duration
	// Shards is how many shards the worker has at once.
	Shards int
	// Abort, when closed, abandons the calls under way.
	Abort <-chan struct{}
	// Log is told what goes wrong.
	Log *slog.Logger
}

// Connection is the way to an endpoint.
type Connection struct {
	Model model.Model
	// Concurrency is how many calls to make at once.
	Concurrency int
	// Key is the key that is sent, empty for none. Workers share the limits of one key, for
	// which a digest of it is stored.
	Key string
}

// Worker makes queued calls.
type Worker struct {
	river.WorkerDefaults[shardArgs]
	WorkerConfig
	queue *Queue
	store *store.Store
	// id names the worker among all.
	id string

	// bounds has the lanes that all fills share.
	bounds *fill.Live

	// connecting is held by who connects; connections has the Connections so far, by their
	// model.Ref, with digests in place of keys.
	connecting  sync.Mutex
	connections sync.Map

	mu    sync.Mutex
	fills map[int64]*filling
	// failed counts calls.
	failed int
	// shards are those under way.
	shards map[*river.Job[shardArgs]]bool
	// refuses says why providers are left to other workers, by their address.
	refuses map[string]string
}

// filling is the calls of one fill that this worker makes.
type filling struct {
	live     *fill.Live
	settings Settings
	// shards is how many of them are under way here.
	shards int
	// running ends while the fill is paused, and once it is canceled.
	running context.Context //nolint:containedctx // it is of the fill, over all its shards
	cut     context.CancelCauseFunc
}

// errHalted ends the turns of a fill that is paused or canceled.
var errHalted = errors.New("the queued calls are paused or canceled")

// NewWorker makes a worker that remembers in a store.
func NewWorker(q *Queue, m *store.Store, c WorkerConfig) *Worker {
	w := &Worker{WorkerConfig: c, queue: q, store: m, id: rand.Text(), fills: map[int64]*filling{}, shards: map[*river.Job[shardArgs]]bool{}, refuses: map[string]string{}}
	w.bounds = fill.NewLive(m, fill.LiveConfig{Keep: func(of model.Ref) pace.Keeper { return q.keeper(of, w.digest(of)) }})
	return w
}

// Counts gives how many calls the worker has had answered, and how many have failed. A call
// that two fills queued, and that was answered for one of them, counts once.
func (w *Worker) Counts() (answered, failed int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.fills {
		answered += f.live.Stats().Answered
	}
	return answered, w.failed
}

// Run works until the context ends, and finishes the calls under way then. With drain it
// ends when no call waits.
func (w *Worker) Run(ctx context.Context, drain bool) error {
	workers := river.NewWorkers()
	river.AddWorker(workers, w)
	client, err := river.NewClient(riverpgxv5.New(w.queue.pool.Pgx()), &river.Config{
		// What River says of a database that is away, Worker and store say themselves. It does
		// not listen, which would take a connection.
		ID: w.id, Schema: w.queue.schema, Workers: workers, Logger: slog.New(slog.DiscardHandler), FetchPollInterval: 500 * time.Millisecond, PollOnly: true,
		// Each fill and endpoint has a queue, which watch takes up. Shards of an older version are
		// in the default one.
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: max(1, w.Shards)}},
		// The shards of a worker that died are given to others by lookAround, long before River does.
		JobTimeout: 2 * w.Turn, RescueStuckJobsAfter: 3 * w.Turn,
	})
	if err != nil {
		return err
	}
	// River is started anew where the database was not there.
	running := context.WithoutCancel(ctx)
	for err := client.Start(running); err != nil; err = client.Start(running) {
		w.Log.Warn("the queue cannot start", "error", err.Error())
		if err := fill.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
	watching, leave := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		taken := map[string]bool{}
		for again := true; again; again = fill.Sleep(watching, beat) == nil {
			if err := w.lookAround(watching, client.Queues(), taken); err != nil && watching.Err() == nil && !postgres.Away(err) {
				w.Log.Warn("the queue cannot be read; trying again", "error", err.Error())
			}
		}
	}()
	defer w.bye(running)
	for waiting := 1; waiting > 0 && fill.Sleep(ctx, time.Second) == nil; {
		if !drain {
			continue
		}
		if n, err := w.queue.Waiting(ctx); err == nil {
			waiting = n
		}
	}
	leave()
	<-watched
	// Shards under way are cut short, with their calls finished.
	stopping, cancel := context.WithTimeout(running, time.Hour)
	defer cancel()
	stopped := client.StopAndCancel(stopping)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return stopped
}

// Work makes the calls of a shard, for a turn.
func (w *Worker) Work(ctx context.Context, job *river.Job[shardArgs]) error {
	err := w.work(ctx, job)
	if err != nil && !errors.As(err, new(*river.JobSnoozeError)) && ctx.Err() == nil && !postgres.Away(err) {
		w.Log.Warn("a shard failed; it will be tried again", "error", err.Error())
	}
	return err
}

func (w *Worker) work(ctx context.Context, job *river.Job[shardArgs]) error {
	w.mu.Lock()
	w.shards[job] = true
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.shards, job)
	}()
	f, err := w.enter(ctx, job.Args.Fill)
	if err != nil || f == nil {
		return err
	}
	defer w.leave(context.WithoutCancel(ctx), f)
	requests, err := w.requests(ctx, job.Args)
	if err != nil {
		return err
	}
	if !w.connect(ctx, f, requests) {
		return river.JobSnooze(pause) // another may have what is lacking here
	}
	w.mu.Lock()
	running := f.running
	w.mu.Unlock()
	if running.Err() != nil {
		return river.JobSnooze(pause)
	}
	of := &turn{worker: w, of: f, shard: job.Args, requests: requests}
	within, cancel := context.WithTimeoutCause(ctx, w.Turn, errTurn)
	defer cancel()
	within, halted := context.WithCancelCause(within)
	defer halted(nil)
	defer context.AfterFunc(running, func() { halted(errHalted) })()
	return of.take(ctx, within)
}

// denied reports whether a provider of some requests does not take the key of this worker,
// and leaves it to others then.
func (w *Worker) denied(f *filling, requests []model.Request) bool {
	for _, err := range f.live.GivenUp() {
		why := badKey(err)
		for _, r := range requests {
			if why != nil && r.Provider == why.Provider {
				w.refuse(model.Ref{Provider: r.Provider, Endpoint: r.Endpoint}, why)
				return true
			}
		}
	}
	return false
}

// badKey is the error that says that a key is not taken, nil for any other. A 403 is none:
// with it a model is refused that the account may not ask.
func badKey(err error) *model.Error {
	why, ok := errors.AsType[*model.Error](err)
	if !ok || why.Kind != model.Denied || why.Status == http.StatusForbidden {
		return nil
	}
	return why
}

// NextRetry has a shard that failed, as where the database was not there, tried again soon.
func (w *Worker) NextRetry(*river.Job[shardArgs]) time.Time { return time.Now().Add(pause) }

// errTurn ends a turn.
var errTurn = errors.New("the turn of the shard is over")

// requests are the calls of a shard that are neither answered nor have failed.
func (w *Worker) requests(ctx context.Context, of shardArgs) (requests []model.Request, err error) {
	var hash, canonical []byte
	err = w.queue.each(ctx, []any{&hash, &canonical}, func() error {
		var r model.Request
		if err := json.Unmarshal(canonical, &r); err != nil {
			return err
		}
		if h := r.Hash(); string(h[:]) != string(hash) {
			return fmt.Errorf("the call %x does not match its hash, or comes from a newer orbench", hash[:8])
		}
		requests = append(requests, r)
		return nil
	}, `SELECT hash, request FROM queued_calls WHERE fill = $1 AND shard = $2 AND NOT failed ORDER BY hash`, of.Fill, of.Shard)
	return requests, err
}

// connect has lanes for requests; it reports false where some are left to other workers.
func (w *Worker) connect(ctx context.Context, f *filling, requests []model.Request) bool {
	met := map[model.Ref]bool{}
	for _, r := range requests {
		at := model.Ref{Provider: r.Provider, Endpoint: r.Endpoint}
		if met[at] {
			continue
		}
		met[at] = true
		c, err := w.connection(ctx, at)
		if err != nil {
			w.refuse(at, err)
		}
		if w.refused(at) {
			return false
		}
		f.live.Lane(at, c.Model, fill.Limits{
			Concurrency: c.Concurrency, RequestsPerMinute: f.settings.RequestsPerMinute,
		})
	}
	return true
}

// connection is the way to an endpoint, with the digest of its key.
func (w *Worker) connection(ctx context.Context, at model.Ref) (Connection, error) {
	w.connecting.Lock()
	defer w.connecting.Unlock()
	if c, ok := w.connections.Load(at); ok {
		return c.(Connection), nil
	}
	c, err := w.Connect(at)
	if err == nil {
		c.Key, err = w.queue.digest(ctx, c.Key)
	}
	if err != nil {
		return Connection{}, err
	}
	w.connections.Store(at, c)
	return c, nil
}

// digest is that of the key that an endpoint is asked with.
func (w *Worker) digest(of model.Ref) string {
	c, _ := w.connections.Load(model.Ref{Provider: of.Provider, Endpoint: of.Endpoint})
	return c.(Connection).Key
}

// enter gives the fill that a shard is of, nil for one that is stopped.
func (w *Worker) enter(ctx context.Context, id int64) (*filling, error) {
	s, stopped, err := w.queue.settings(ctx, id)
	if err != nil || stopped {
		return nil, err
	}
	done, err := w.queue.stats(ctx, id)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.fills[id]
	if f == nil {
		config := fill.LiveConfig{
			Attempts: s.Attempts, Timeout: s.Timeout, Budget: s.Budget, Prices: s.Prices, Abort: w.Abort, With: w.bounds,
			Rate: func(at model.Ref, perMinute int) fill.Limiter { return w.queue.rate(at, w.digest(at), perMinute) },

			Account: fill.NewAccount(w.store, cmp.Or(s.Account, fmt.Sprint("fill ", id)), time.Now().UTC(), false),
		}
		f = &filling{live: fill.NewLive(w.store, config), settings: s}
		f.running, f.cut = context.WithCancelCause(context.Background())
		w.fills[id] = f
	}
	f.live.Bound(s.Budget)
	f.shards++
	for provider, words := range done.Limited {
		f.live.Limit(provider, words) // another worker was told
	}
	return f, nil
}

// leave ends a shard. Of a fill that has none here, the unspent budget is given back.
func (w *Worker) leave(ctx context.Context, f *filling) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.shards--; f.shards > 0 {
		return
	}
	if err := f.live.GiveBack(ctx); err != nil {
		w.Log.Warn("a budget could not be returned", "error", err.Error())
	}
}

// note deletes what is answered from the queue, and notes what has failed and why.
func (w *Worker) note(ctx context.Context, of shardArgs, f *filling, answered, failed [][]byte) error {
	var batch pgx.Batch
	batch.Queue(`DELETE FROM queued_calls WHERE hash = ANY ($1)`, answered)
	batch.Queue(`UPDATE queued_calls SET failed = true WHERE hash = ANY ($1) AND fill = $2`, failed, of.Fill)
	// They are those of all shards of the fill here, so that what is noted twice counts once.
	batch.Queue(`INSERT INTO fill_stats (fill, worker, stats) VALUES ($1, $2, $3)
		ON CONFLICT (fill, worker) DO UPDATE SET stats = excluded.stats`, of.Fill, w.id, f.live.Stats())
	for _, err := range f.live.GivenUp() {
		var why *fill.GivenUpError
		if !errors.As(err, &why) || badKey(why.Err) != nil {
			continue // another worker may have a key that is taken
		}
		gaveUp := map[string]givenUp{why.Provider + "/" + why.Model: {why.Provider, why.Model, why.Err.Error()}}
		batch.Queue(`UPDATE fills SET gave_up = gave_up || $2 WHERE id = $1`, of.Fill, gaveUp)
	}
	return w.queue.pool.Send(ctx, &batch)
}
