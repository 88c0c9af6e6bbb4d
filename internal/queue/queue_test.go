package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/postgres"
	"github.com/orbench/orbench/internal/store/storetest"
	"github.com/orbench/orbench/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(storetest.Tests{M: m}) }

// machine is a queue as one machine sees it.
func machine(t *testing.T, address string) (*Queue, *store.Store) {
	t.Helper()
	s, err := postgres.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	m := store.New(s)
	q, err := Open(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return q, m
}

// fleet is some workers, each on a machine of its own, that ask a model until the test ends.
func fleet(t *testing.T, address string, workers int, m model.Model) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range workers {
		q, memory := machine(t, address)
		w := NewWorker(q, memory, WorkerConfig{
			Connect: func(model.Ref) (Connection, error) { return Connection{Model: m, Concurrency: 8, Key: "secret"}, nil },
			Turn:    30 * time.Second, Shards: 4, Log: slog.New(slog.DiscardHandler),
		})
		all.Go(func() {
			if err := w.Run(ctx, false); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() {
		stop()
		all.Wait()
	})
}

func request(name string, n int) model.Request {
	return model.Request{Provider: "p", Model: name, Messages: []orbench.Message{{Role: orbench.User, Content: fmt.Sprintf("prompt %d \x00", n)}}, Params: model.Params{MaxTokens: 10}}
}

// requests are so many, each twice.
func requests(name string, n int) fill.Requests {
	return func(context.Context) iter.Seq2[model.Request, error] {
		return func(yield func(model.Request, error) bool) {
			for i := range 2 * n {
				if !yield(request(name, i/2), nil) {
					return
				}
			}
		}
	}
}

// counting answers all requests and counts them.
type counting struct {
	mu    sync.Mutex
	asked map[model.Hash]int
	all   atomic.Int64
	// after is how long an answer takes.
	after time.Duration
}

func (c *counting) Ask(_ context.Context, r model.Request) (model.Response, error) {
	c.mu.Lock()
	c.asked[r.Hash()]++
	c.mu.Unlock()
	c.all.Add(1)
	time.Sleep(c.after)
	if r.Model == "failing" {
		return model.Response{}, &model.Error{Kind: model.Invalid, Message: "no"}
	}
	return model.Response{Text: "answer", Finish: model.Stop, Usage: model.Usage{Input: 5, Output: 5}}, nil
}

func filler(t *testing.T, q *Queue, m *store.Store, s Settings) *Filler {
	t.Helper()
	s.Attempts, s.Timeout = 3, time.Minute
	f, err := NewFiller(t.Context(), q, m, s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What the server ends in favor of another transaction is done again, wherever it is spoken to.
func TestYields(t *testing.T) {
	t.Parallel()
	address := storetest.Database(t)
	q, m := machine(t, address)
	// A fifth of all statements that change something end so.
	_, err := q.pool.Exec(t.Context(), `DO $do$ DECLARE name text; BEGIN
		CREATE FUNCTION yields() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF random() < 0.2 THEN RAISE EXCEPTION 'another is in the way' USING ERRCODE = (ARRAY['40001', '40P01', '55P03'])[1 + floor(3 * random())]; END IF;
			RETURN NULL; END $$;
		FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename NOT LIKE 'river%' LOOP
			EXECUTE format('CREATE TRIGGER yields BEFORE INSERT OR UPDATE OR DELETE ON %I FOR EACH STATEMENT EXECUTE FUNCTION yields()', name);
		END LOOP; END $do$`)
	if err != nil {
		t.Fatal(err)
	}
	asked := &counting{asked: map[model.Hash]int{}}
	fleet(t, address, 2, asked)
	const rounds, calls = 3, 30
	for i := range rounds {
		for j := range 10 {
			prompts := func(yield func(orbench.Prompt, error) bool) {
				_ = yield(orbench.Prompt{ID: "p", Messages: []orbench.Message{{Role: orbench.User, Content: fmt.Sprint("prompt ", i, j)}}, Label: orbench.Safe}, nil)
			}
			about := fmt.Appendf(nil, `{"n":[%d,%d]}`, i, j)
			err := errors.Join(m.PutDataset(t.Context(), about, prompts), m.SaveRun(t.Context(), store.Run{Name: fmt.Sprint("run ", i, j), Config: about}))
			if err != nil {
				t.Error(err)
			}
			if d, err := m.Dataset(t.Context(), store.KeyOf(about)); err != nil || d.Prompts != 1 {
				t.Errorf("dataset %d: %+v, %v", j, d, err)
			}
		}
		f := filler(t, q, m, Settings{Run: "main", Account: "main", Budget: fill.Budget{Requests: 1000}, RequestsPerMinute: 100_000})
		if err := f.Fill(t.Context(), fill.Work{Fixed: requests(fmt.Sprint("m", i), calls)}); err != nil {
			t.Error(err)
		}
	}
	if n := asked.all.Load(); n != rounds*calls || len(asked.asked) != rounds*calls {
		t.Errorf("%d calls of %d requests, want %d", n, len(asked.asked), rounds*calls)
	}
}

// Each call is made once, whoever queues it, what depends on replies follows, and what
// fails is told and tried again by the next fill.
func TestFill(t *testing.T) {
	t.Parallel()
	address := storetest.Database(t)
	asked := &counting{asked: map[model.Hash]int{}}
	fleet(t, address, 2, asked)
	q, m := machine(t, address)
	const n = 700
	lacking := func(ctx context.Context, _ func(model.Ref) bool) iter.Seq2[model.Request, error] {
		return func(yield func(model.Request, error) bool) {
			var hashes []model.Hash
			for i := range n {
				hashes = append(hashes, request("a", i).Hash())
			}
			has, err := m.Has(ctx, hashes)
			for i, h := range hashes {
				if (err != nil || has[h]) && !yield(request("judge", i%5), err) {
					return
				}
			}
		}
	}
	var all sync.WaitGroup
	for range 2 {
		f := filler(t, q, m, Settings{})
		all.Go(func() {
			if err := f.Fill(t.Context(), fill.Work{Fixed: requests("a", n), Missing: lacking}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if rows, err := m.Count(t.Context()); err != nil || rows != n+5 || len(asked.asked) != rows || int(asked.all.Load()) != rows {
		t.Errorf("%d rows of %d calls, %v; %d different; want %d", rows, asked.all.Load(), err, len(asked.asked), n+5)
	}
	for fills := range 2 {
		f := filler(t, q, m, Settings{})
		if err := f.Fill(t.Context(), fill.Work{Fixed: requests("failing", 3)}); err != nil {
			t.Error(err)
		}
		if s := f.Stats(); s.Failed != 3 || asked.asked[request("failing", 0).Hash()] != fills+1 {
			t.Errorf("%+v, asked %d times; want 3 failures, asked %d times", s, asked.asked[request("failing", 0).Hash()], fills+1)
		}
	}
	f := filler(t, q, m, Settings{})
	response, ok, err := f.Ask(t.Context(), request("single", 1))
	if err != nil || !ok || response.Text != "answer" {
		t.Errorf("got %+v, %v, %v", response, ok, err)
	}
	if _, ok, err := f.Ask(t.Context(), request("failing", 9)); ok || err != nil {
		t.Errorf("a call that fails: %v, %v", ok, err)
	}
	if left, err := q.Waiting(t.Context()); err != nil || left != 0 {
		t.Errorf("%d calls wait, %v", left, err)
	}
}

// A budget holds over all workers, to the last request and cent, and what was taken of it
// and not spent is given back.
func TestSharedBudget(t *testing.T) {
	t.Parallel()
	address := storetest.Database(t)
	asked := &counting{asked: map[model.Hash]int{}}
	fleet(t, address, 3, asked)
	q, m := machine(t, address)
	prices := []price.Price{{Provider: "p", Model: "*", Input: 1e5, Output: 1e5, AsOf: "2026-01-01"}} // a dollar for ten tokens
	for name, c := range map[string]struct {
		budget      fill.Budget
		least, most int64
	}{
		"requests": {fill.Budget{Requests: 50}, 50, 50},
		"dollars":  {fill.Budget{USD: 60}, 30, 60},
		"tokens":   {fill.Budget{Tokens: 600}, 30, 60},
	} {
		before := asked.all.Load()
		f := filler(t, q, m, Settings{Budget: c.budget, Account: name, Prices: prices})
		err := f.Fill(t.Context(), fill.Work{Fixed: requests(name, 400)})
		var spent *fill.BudgetError
		made := asked.all.Load() - before
		if !errors.As(err, &spent) || made > c.most || made < c.least {
			t.Errorf("%s: %d calls, %v; want from %d to %d, and the budget to end it", name, made, err, c.least, c.most)
		} else if want := (fill.Budget{Requests: int(made), Tokens: 10 * int(made), USD: spent.Spent.USD}); spent.Spent != want || math.Abs(want.USD-float64(made)) > 1e-9 {
			t.Errorf("%s: %+v is said to be spent on %d calls", name, spent.Spent, made)
		}
	}
	f := filler(t, q, m, Settings{Budget: fill.Budget{Requests: 100, USD: 1000}, Account: "enough", Prices: prices})
	if err := f.Fill(t.Context(), fill.Work{Fixed: requests("enough", 40)}); err != nil {
		t.Error(err)
	}
	var taken fill.Budget
	for began := time.Now(); time.Since(began) < 10*time.Second && taken.Requests != 40; time.Sleep(20 * time.Millisecond) {
		shares, err := m.Shares(t.Context(), "enough")
		if err != nil {
			t.Fatal(err)
		}
		taken = fill.Taken(shares)
	}
	if taken.Requests != 40 || taken.USD < 39.99 || taken.USD > 40.01 {
		t.Errorf("%+v is taken, want what 40 calls cost", taken)
	}
}

// A budget that a later command gives bounds what an earlier one has queued without one.
func TestLaterBudget(t *testing.T) {
	t.Parallel()
	address := storetest.Database(t)
	asked := &counting{asked: map[model.Hash]int{}, after: 50 * time.Millisecond}
	fleet(t, address, 2, asked)
	q, m := machine(t, address)
	first := filler(t, q, m, Settings{Account: "main"})
	ended := make(chan error, 1)
	go func() { ended <- first.Fill(t.Context(), fill.Work{Fixed: requests("m", 4000)}) }()
	for asked.all.Load() < 100 {
		time.Sleep(10 * time.Millisecond)
	}
	before := int(asked.all.Load())
	filler(t, q, m, Settings{Account: "main", Budget: fill.Budget{Requests: 1000}})
	err := <-ended
	var spent *fill.BudgetError
	if !errors.As(err, &spent) || spent.Budget.Requests != 1000 {
		t.Errorf("got %v, want the later budget to end the earlier fill", err)
	}
	made := int(asked.all.Load())
	t.Logf("%d calls were made before the bound of 1000 was given, %d in all", before, made)
	if made > 1000 && made > before+500 {
		t.Errorf("%d calls were made, %d before the bound of 1000 was given", made, before)
	}
}

// A rate holds over all that share it: no more is used than its time allows.
func TestSharedRate(t *testing.T) {
	t.Parallel()
	address := storetest.Database(t)
	const perMinute, machines, each = 1200, 3, 20
	began := time.Now()
	var all sync.WaitGroup
	for range machines {
		q, _ := machine(t, address)
		r := q.rate(model.Ref{Provider: "p"}, "digest", perMinute)
		all.Go(func() {
			for range each {
				if err := r.Wait(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	// A second's worth may be used at once.
	const least = time.Duration(machines*each-perMinute/60) * time.Minute / perMinute
	if took := time.Since(began); took < least {
		t.Errorf("%d took %v, want %v at least", machines*each, took, least)
	}
}

// limited is a server that takes so many calls a second, counts those that it rejects, and
// does not say when it will take more.
type limited struct {
	perSecond int

	mu                sync.Mutex
	came              []time.Time
	first, last       time.Time
	answers, rejected int
}

func (l *limited) Ask(context.Context, model.Request) (model.Response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.last = now; l.first.IsZero() {
		l.first = now
	}
	for len(l.came) > 0 && now.Sub(l.came[0]) >= time.Second {
		l.came = l.came[1:]
	}
	if l.came = append(l.came, now); len(l.came) > l.perSecond {
		l.rejected++
		return model.Response{}, &model.Error{Kind: model.RateLimited}
	}
	l.answers++
	return model.Response{Text: "answer", Finish: model.Stop}, nil
}

// What one worker learns of a provider slows all that have its key: from a cold start three
// have few calls rejected. With ORBENCH_LONG they are not much slower than it either.
func TestWorkersLearnTogether(t *testing.T) {
	t.Parallel()
	address := storetest.Database(t)
	server := &limited{perSecond: 50}
	calls := 200
	if os.Getenv("ORBENCH_LONG") != "" {
		server.perSecond, calls = 20, 1200
	}
	fleet(t, address, 3, server)
	q, m := machine(t, address)
	if err := filler(t, q, m, Settings{}).Fill(t.Context(), fill.Work{Fixed: requests("a", calls)}); err != nil {
		t.Fatal(err)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	took := server.last.Sub(server.first)
	t.Logf("%d answers in %v, where %d a second are allowed, and %d rejects", server.answers, took, server.perSecond, server.rejected)
	if server.answers != calls {
		t.Errorf("%d answers, want %d", server.answers, calls)
	}
	if os.Getenv("ORBENCH_LONG") != "" && (10*server.rejected >= server.answers || took.Seconds() > 5./4*float64(calls)/float64(server.perSecond)) {
		t.Error("that is too many rejects, or too slow")
	}
	var name string
	if err := q.pool.QueryRow(t.Context(), `SELECT name FROM paces`).Scan(&name); err != nil || !strings.HasPrefix(name, "p  a ") || strings.Contains(name, "secret") {
		t.Errorf("what they learn is kept as %q, %v", name, err)
	}
}

// A key has one digest in all processes that share a store, and another in another store.
func TestDigest(t *testing.T) {
	t.Parallel()
	address := storetest.Database(t)
	seen := map[string]int{}
	for _, address := range []string{address, address, storetest.Database(t)} {
		q, _ := machine(t, address)
		for _, key := range []string{"one", "other"} {
			digest, err := q.digest(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			seen[digest]++
		}
		if digest, err := q.digest(t.Context(), ""); digest != "" || err != nil {
			t.Errorf("no key has the digest %q, %v", digest, err)
		}
	}
	if len(seen) != 4 {
		t.Errorf("digests %v, want two in each of two stores", seen)
	}
}

// A fill that is followed goes on when its connections break.
func TestFollowGoesOn(t *testing.T) {
	t.Parallel()
	address := storetest.Database(t)
	broken := make(chan struct{})
	var began sync.Once
	asked := make(chan struct{})
	fleet(t, address, 1, model.Func(func(context.Context, model.Request) (model.Response, error) {
		began.Do(func() { close(asked) })
		<-broken
		return model.Response{Text: "answer", Finish: model.Stop}, nil
	}))
	q, m := machine(t, address)
	f := filler(t, q, m, Settings{})
	filled := make(chan error)
	go func() { filled <- f.Fill(t.Context(), fill.Work{Fixed: requests("a", 20)}) }()
	<-asked
	breaker, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	// A pool replaces without a word what broke while it lay idle: one breaks in use.
	for began := time.Now(); !f.told.Load() && time.Since(began) < 30*time.Second; time.Sleep(10 * time.Millisecond) {
		if _, err := breaker.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`); err != nil {
			t.Fatal(err)
		}
	}
	if err := breaker.Close(t.Context()); err != nil {
		t.Error(err)
	}
	close(broken)
	if err := <-filled; err != nil {
		t.Error(err)
	}
	if s := f.Stats(); s.Answered != 20 || s.Failed != 0 || !f.told.Load() {
		t.Errorf("%+v, told of the break %t; want 20 answered", s, f.told.Load())
	}
}

// Who leaves a fill takes nothing from the queue but what failed.
func TestLeave(t *testing.T) {
	t.Parallel()
	q, m := machine(t, storetest.Database(t))
	f := filler(t, q, m, Settings{})
	ctx, leave := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() {
		_, _, err := f.Ask(ctx, request("a", 1))
		asked <- err
	}()
	for began := time.Now(); time.Since(began) < 30*time.Second; time.Sleep(10 * time.Millisecond) {
		if n, err := q.Waiting(t.Context()); n == 1 || err != nil {
			break
		}
	}
	leave()
	if err := <-asked; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := q.pool.Exec(t.Context(), `INSERT INTO queued_calls (hash, fill, shard, failed, request) VALUES ('x', $1, 0, true, '')`, f.id); err != nil {
		t.Fatal(err)
	}
	if errs := f.GivenUp(t.Context()); len(errs) > 0 {
		t.Error(errs)
	}
	var left int
	err := q.pool.QueryRow(t.Context(), `SELECT count(*) FROM queued_calls`).Scan(&left)
	if waiting, lost := q.Waiting(t.Context()); waiting != 1 || left != 1 || err != nil || lost != nil {
		t.Errorf("%d calls are left, %d of them wait, %v", left, waiting, errors.Join(err, lost))
	}
}

// What is left of a fill goes after 30 days, unless calls of it wait.
func TestPrune(t *testing.T) {
	t.Parallel()
	q, m := machine(t, storetest.Database(t))
	old, waits, young := filler(t, q, m, Settings{}), filler(t, q, m, Settings{}), filler(t, q, m, Settings{})
	for statement, args := range map[string][]any{
		`UPDATE fills SET began = now() - interval '31 days' WHERE id <> $1`:              {young.id},
		`INSERT INTO fill_stats SELECT id, 'w', '{}' FROM fills`:                          nil,
		`INSERT INTO queued_calls SELECT id::text::bytea, id, 1, id <> $1, '' FROM fills`: {waits.id},
		`INSERT INTO rates VALUES ('old', now() - interval '31 days'), ('new', now())`:    nil,
	} {
		if _, err := q.pool.Exec(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	filler(t, q, m, Settings{})
	for table, want := range map[string]int{"fills": 3, "fill_stats": 2, "queued_calls": 2, "rates": 1} {
		var n, gone int
		if err := q.pool.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil || n != want {
			t.Errorf("%d rows of %s, %v; want %d", n, table, err, want)
		}
		if table == "fills" {
			if err := q.pool.QueryRow(t.Context(), `SELECT count(*) FROM fills WHERE id = $1`, old.id).Scan(&gone); err != nil || gone != 0 {
				t.Error("the old fill is still there", err)
			}
		}
	}
}

func TestOpenAFile(t *testing.T) {
	t.Parallel()
	m := &store.Store{}
	if _, err := Open(t.Context(), m); !errors.Is(err, orbench.ErrInput) {
		t.Errorf("a store in a file: %v", err)
	}
}

// What workers tell is summed for whoever follows a fill, but for what they wait for: the
// last word of a worker that died would stand for good.
func TestStatsOfWorkers(t *testing.T) {
	t.Parallel()
	q, m := machine(t, storetest.Database(t))
	f := filler(t, q, m, Settings{})
	for worker, s := range map[string]fill.Stats{
		"a": {Requests: 5, Answered: 4, Retries: 1, Waiting: 3, Usage: model.Usage{Input: 7, Output: 2}, USD: 0.25, Unpriced: []string{"p/b", "p/c"}},
		"b": {Requests: 2, Answered: 2, Elsewhere: 1, Usage: model.Usage{Input: 1}, USD: 0.5, Unpriced: []string{"p/a", "p/b"}},
	} {
		text, err := json.Marshal(s)
		if err == nil {
			_, err = q.pool.Exec(t.Context(), `INSERT INTO fill_stats VALUES ($1, $2, $3)`, f.id, worker, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := fill.Stats{Requests: 7, Retries: 1, Usage: model.Usage{Input: 8, Output: 2}, USD: 0.75, Unpriced: []string{"p/a", "p/b", "p/c"}}
	if got := f.Stats(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A worker that comes to a fill of which another was told that the account is limited asks
// that provider nothing.
func TestLimitedAccount(t *testing.T) {
	t.Parallel()
	address := storetest.Database(t)
	q, m := machine(t, address)
	var calls atomic.Int64
	fleet(t, address, 2, model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		calls.Add(1)
		return model.Response{}, &model.Error{Kind: model.Limited, Provider: r.Provider, Status: 403, Message: "suspended"}
	}))
	f := filler(t, q, m, Settings{})
	err := f.Fill(t.Context(), fill.Work{Fixed: requests("limited", 5*shardCalls)})
	var gaveUp *fill.GivenUpError
	if !errors.As(err, &gaveUp) || f.Stats().Limited["p"] != "suspended" {
		t.Errorf("%v; %v", err, f.Stats().Limited)
	}
	first := calls.Load()
	if err := f.Fill(t.Context(), fill.Work{Fixed: requests("more", 10)}); !errors.As(err, &gaveUp) {
		t.Error(err)
	}
	if n := calls.Load(); first < 1 || first > 2*8 || n != first {
		t.Errorf("%d calls, and %d of a fill that is known to be limited; want at most those under way, and none", first, n-first)
	}
}

// TestProgress follows a fill, leaves it, and follows it again: what is shown is what the
// server counted five seconds ago at the earliest, and no more than it counts, within 5%. It
// goes by the clock: it runs before the tests that run at once, and with ORBENCH_LONG, where
// no race detector slows it.
func TestProgress(t *testing.T) {
	address := storetest.Database(t)
	var served atomic.Int64
	fleet(t, address, 2, model.Func(func(context.Context, model.Request) (model.Response, error) {
		time.Sleep(60 * time.Millisecond)
		served.Add(1)
		return model.Response{Text: "answer", Finish: model.Stop}, nil
	}))
	q, m := machine(t, address)
	const n = 3000
	// follow follows until so much is answered, and gives by how much it was off at most.
	follow := func(until int64) (off float64, late time.Duration) {
		f := filler(t, q, m, Settings{})
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		filled := make(chan error, 1)
		go func() { filled <- f.Fill(ctx, fill.Work{Fixed: requests("a", n)}) }()
		type moment struct {
			at     time.Time
			served int64
		}
		var past []moment
		began := time.Now()
		for {
			select {
			case err := <-filled:
				if err != nil {
					t.Error(err)
				}
				return off, late
			case <-time.After(200 * time.Millisecond):
			}
			past = append(past, moment{time.Now(), served.Load()})
			if served.Load() >= until {
				leave()
				<-filled
				return off, late
			}
			if time.Since(began) < 5*time.Second {
				continue
			}
			s := f.Stats()
			shown := int64(s.Present + s.Answered + s.Elsewhere)
			// Each prompt is requested twice, and those that were there are counted so.
			for i := len(past) - 1; i >= 0; i-- {
				if age := past[len(past)-1].at.Sub(past[i].at); past[i].served <= shown || i == 0 {
					late = max(late, age)
					break
				}
			}
			for time.Since(past[0].at) > 5*time.Second {
				past = past[1:]
			}
			off = max(off, float64(past[0].served-shown)/n, float64(shown-served.Load())/n)
		}
	}
	first, late := follow(n / 2)
	again, later := follow(n + 1)
	t.Logf("first time: off by %.1f%% of the calls at most from what was so 5 s before, and %v late; taken up again: by %.1f%%, and %v", 100*max(0, first), late, 100*max(0, again), later)
	if first > 0.05 || again > 0.05 {
		t.Errorf("off by %.3f and %.3f", first, again)
	}
}
