package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/progress"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/queue"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/telemetry"
	"github.com/orbench/orbench/model"
)

// Calls are the flags that say how calls are made. The zero value makes no
// attempt: start from DefaultCalls.
type Calls struct {
	baseURLs    []string
	allowHosts  []string
	providers   string
	prices      string
	concurrency int
	rpm, tpm    int
	timeout     time.Duration
	attempts    int
	maxCost     float64
	maxRequests int
	// maxTotalTokens bounds all calls together; max-tokens, of other flags, one answer.
	maxTotalTokens int
	askBatched     bool
	// ByWorkers: have the calls made by workers.
	ByWorkers bool
	// byBatch: have the calls made by batch, and wait for them where wait is true.
	byBatch, wait bool
	// DryRun: print what would be sent, and send and write nothing.
	DryRun bool
	// Quiet: show no progress.
	Quiet bool
}

// DefaultCalls are the flags when none is given.
func DefaultCalls() Calls {
	return Calls{timeout: 2 * time.Minute, attempts: 10}
}

// Register gives a command the flags, with their defaults.
func (f *Calls) Register(c *cobra.Command) {
	*f = DefaultCalls()
	f.RegisterServers(c)
	flags := c.Flags()
	flags.IntVar(&f.concurrency, "concurrency", 0, "most calls at once for each provider (default: the provider's)")
	flags.IntVar(&f.rpm, "rpm", 0, "most requests per minute for each provider")
	flags.IntVar(&f.tpm, "tpm", 0, "most tokens per minute for each provider")
	flags.DurationVar(&f.timeout, "timeout", f.timeout, "time limit of one attempt")
	flags.IntVar(&f.attempts, "attempts", f.attempts, "attempts for each call before it counts as failed")
	flags.Float64Var(&f.maxCost, "max-cost", 0, "stop before more than this many US `dollars` are spent, on a run by all of its commands")
	flags.IntVar(&f.maxTotalTokens, "max-total-tokens", 0, "stop before more than this many tokens are used, input and output of all calls together, on a run by all of its commands")
	flags.IntVar(&f.maxRequests, "max-requests", 0, "stop before more than this many requests are sent, on a run by all of its commands")
	flags.BoolVar(&f.askBatched, "ask-batched", false, "make calls too that are out in a batch, which may be paid for twice")
	flags.BoolVar(&f.DryRun, "dry-run", false, "print the calls, tokens and cost; send and write nothing")
	flags.BoolVar(&f.Quiet, "quiet", false, "no progress")
}

// RegisterServers gives a command those of the flags that say whom it asks and what that
// costs.
func (f *Calls) RegisterServers(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&f.baseURLs, "base-url", nil, "address of an OpenAI-compatible `URL`, or PROVIDER=URL; repeatable")
	flags.StringArrayVar(&f.allowHosts, "allow-host", nil, "let `HOST` have a key, although only a file names it; repeatable")
	flags.StringVar(&f.providers, "providers", "", "YAML `FILE` of providers beside the built-in ones")
	flags.StringVar(&f.prices, "prices", "", "YAML `FILE` of prices beside the built-in ones")
}

// RegisterWorkers gives a command the flag that has workers make its calls.
func (f *Calls) RegisterWorkers(c *cobra.Command) {
	c.Flags().BoolVar(&f.ByWorkers, "workers", false, "have the calls made by orbench worker, on any number of machines; the store must be a database")
}

// RegisterWorker gives a command the flags of who makes calls for others.
func (f *Calls) RegisterWorker(c *cobra.Command) {
	*f = DefaultCalls()
	flags := c.Flags()
	flags.StringArrayVar(&f.allowHosts, "allow-host", nil, "let `HOST` have a key, although only the store names it; repeatable")
	flags.StringVar(&f.providers, "providers", "", "YAML `FILE` of providers beside the built-in ones")
	flags.IntVar(&f.concurrency, "concurrency", 0, "most calls at once for each provider (default: the provider's)")
	flags.BoolVar(&f.Quiet, "quiet", false, "no progress")
}

// Concurrency is the most calls at once to a client.
func (f *Calls) Concurrency(c client.Client) int { return cmp.Or(f.concurrency, c.Concurrency) }

// Check refuses values that make no sense.
func (f *Calls) Check() error {
	if f.wait && !f.byBatch {
		return InputError("--wait", "no batch is waited for", "say --batch too, or leave it out")
	}
	if math.IsNaN(f.maxCost) || math.IsInf(f.maxCost, 0) {
		return InputError("--max-cost", fmt.Sprintf("%v is no number of dollars", f.maxCost), "give one such as 5, or leave the flag out")
	}
	for _, v := range []struct {
		flag string
		bad  bool
	}{
		{"--concurrency", f.concurrency < 0},
		{"--rpm", f.rpm < 0},
		{"--tpm", f.tpm < 0},
		{"--timeout", f.timeout <= 0},
		{"--attempts", f.attempts < 1},
		{"--max-cost", f.maxCost < 0},
		{"--max-requests", f.maxRequests < 0},
		{"--max-total-tokens", f.maxTotalTokens < 0},
	} {
		if v.bad {
			return InputError(v.flag, "the value is too small", "give a positive one, or leave the flag out")
		}
	}
	return nil
}

// Bounded reports whether the flags bound what the command may spend.
func (f *Calls) Bounded() bool { return f.maxCost > 0 || f.maxRequests > 0 || f.maxTotalTokens > 0 }

// Clients makes an empty set of clients, with the user's table of providers and
// addresses, and those that a file names. named lists the providers that an address
// without one may be for.
func (e *Env) Clients(f Calls, named []string, addresses map[string]string) (*client.Set, error) {
	c := client.Config{Named: addresses, Getenv: e.Getenv, Unasked: f.DryRun, Connected: e.sayRecipient}
	var err error
	if c.Given, err = client.ParseURLs(f.baseURLs, named); err != nil {
		return nil, err
	}
	if c.Providers, err = LoadProviders(f.providers); err != nil {
		return nil, err
	}
	if c.Allowed, err = allowedHosts(f.allowHosts); err != nil {
		return nil, err
	}
	set, err := client.NewSet(c)
	if err != nil {
		return nil, fmt.Errorf("--base-url: %w", err)
	}
	return set, nil
}

// LoadProviders reads the provider table, with the user's file if there is one.
func LoadProviders(file string) (provider.Table, error) {
	return withFile(provider.Default(), provider.Table.With, file, "--providers")
}

// Prices reads the price table, with the user's file if there is one.
func (f *Calls) Prices() (price.Table, error) {
	return withFile(price.Default(), price.Table.With, f.prices, "--prices")
}

// withFile extends a table by a file, if one is named.
func withFile[T any](table T, with func(T, io.Reader, string) (T, error), path, flag string) (T, error) {
	if path == "" {
		return table, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return table, InputError(flag+" "+path, "cannot read the file: "+err.Error(), "correct the path")
	}
	defer f.Close()
	return with(table, f, path)
}

// Budget is what the flags bound.
func (f *Calls) Budget() fill.Budget {
	return fill.Budget{Requests: f.maxRequests, Tokens: f.maxTotalTokens, USD: f.maxCost}
}

// Config is that of fill.Live.
func (f *Calls) Config(prices price.Table, abort <-chan struct{}) fill.Config {
	return fill.Config{
		Attempts: f.attempts, Timeout: f.timeout, Prices: prices, Abort: abort, AskBatched: f.askBatched,
		Budget: f.Budget(),
	}
}

// Limits are the bounds of the lanes of some clients. Where they would make more calls at
// once than the process may have files open, each makes its share of what it may.
func (e *Env) Limits(f Calls, clients *client.Set) func(client.Client) fill.Limits {
	wanted := func(c client.Client) int { return cmp.Or(f.concurrency, c.Concurrency) }
	all := 0
	for _, c := range clients.All() {
		all += wanted(c)
	}
	files := openFiles()
	most := max(1, files-spareFiles)
	if most < all && !f.Quiet {
		e.Sayf("%d calls at once, and not %d: ulimit -n lets a process have %d files open", most, all, files)
	}
	return func(c client.Client) fill.Limits {
		n := wanted(c)
		if most < all {
			n = max(1, n*most/all)
		}
		return fill.Limits{Concurrency: n, RequestsPerMinute: f.rpm, TokensPerMinute: f.tpm}
	}
}

// spareFiles are left for the store, datasets, reports and connections that are made as
// others become free.
const spareFiles = 40

// PlannedPrompts is about how many prompts an estimate before a start is drawn from.
const PlannedPrompts = 300

// SayExpected says what plans are expected to take at the prices, with more behind it.
func (e *Env) SayExpected(ctx context.Context, memory store.Reader, plans []job.Plan, prices price.Table, more string) error {
	if err := job.Expect(ctx, memory, plans); err != nil {
		return err
	}
	e.Sayf("%s%s", job.ExpectedLine(plans, prices.Price), more)
	return nil
}

// Filling is work that calls are made for.
type Filling struct {
	Work fill.Work
	// Next gives the work in place of Work where what is asked depends on answers: a round
	// whenever the one before is filled, until there is no more. It is nil for work of one
	// round.
	Next func(context.Context) (w fill.Work, more bool, err error)
	// Models are those that may be asked.
	Models []model.Ref
	// Calls is about how many calls it takes when nothing is remembered.
	Calls int
	// Targets are those whose refusals are counted as their answers come, none for work
	// that measures nobody.
	Targets []evaluate.Target
	// Tell makes the work tell the labels of prompts, nil where it does not.
	Tell func(func(text string, label orbench.Label))
	// Role says what a request is for, such as "judge", empty where that is not known; nil
	// knows it of none.
	Role func(model.Request) string
	// Failed keeps what failed attempts may have cost, nil for work of which no run is
	// kept. It is called while there are more and more, at most once a second, and at the
	// end.
	Failed func(fill.Stats) error
	// ByBatch is true for work whose own command tells of its batches.
	ByBatch bool
	// Spent is what earlier commands have spent of the run's budget, nothing where a budget
	// is of this command.
	Spent fill.Budget
}

// Fill makes the missing calls at once, with the bounds of the flags, and shows how it
// goes. The error is that of fill.Live.
func (e *Env) Fill(ctx context.Context, f Calls, memory *store.Store, clients *client.Set, prices price.Table, w Filling) (fill.Stats, error) {
	// What is left of a budget of which nothing is left is no bound to workers; here it is one.
	if f.ByWorkers && !f.Budget().Exhausted(w.Spent) {
		return e.fillByWorkers(ctx, f, memory, prices, w)
	}
	config := f.Config(prices, e.Abort)
	config.Spent = w.Spent
	var shown *progress.Fill
	var live *fill.Live
	if !f.Quiet {
		shown = progress.NewFill(e.Stderr, w.Calls, func() fill.Stats { return live.Stats() })
		config.Observe = shown.Observer(w.Targets)
		if w.Tell != nil {
			w.Tell(shown.Label)
		}
	}
	live = fill.NewLive(memory, config)
	limits := e.Limits(f, clients)
	ctx, told := e.Told(ctx)
	for _, m := range w.Models {
		c := clients.Client(m.Provider, m.Endpoint)
		live.Lane(m, told.Model(c.Model, telemetry.Server{Ref: m, Endpoint: c.Endpoint, Role: w.Role}), limits(c))
	}
	var over atomic.Bool
	told.Watch(func() telemetry.Counts {
		s := live.Stats()
		c := telemetry.Counts{Stats: s, Load: live.Load()}
		if !over.Load() {
			c.Open = max(0, w.Calls-s.Present-s.Answered-s.Failed)
		}
		return c
	})
	if shown != nil {
		go shown.Run()
		defer shown.Close()
	}
	defer context.AfterFunc(ctx, func() {
		if shown != nil {
			shown.Leave()
		}
		e.Sayf("finishing the calls under way; interrupt again to abandon them")
	})()
	kept := keepFailed(live, w.Failed)
	err := fillRounds(ctx, live, w)
	over.Store(true)
	err = errors.Join(err, kept())
	stats := live.Stats()
	e.NoteSent(stats)
	if stats.Charged > 0 && !f.Quiet {
		e.Sayf("calls made now: %s that may have been charged", progress.Spent(stats))
	}
	if stats.Batched > 0 && !w.ByBatch {
		e.Sayf("%d calls wait for a batch that is out, and are not paid for again: orbench batch status says how far it is; --ask-batched asks them now", stats.Batched)
	}
	return stats, err
}

// Workers gives the way to have calls made by workers, until end is called. Of the budget of
// the flags so much is spent.
func (e *Env) Workers(ctx context.Context, f Calls, memory *store.Store, prices price.Table, spent fill.Budget) (filler *queue.Filler, end func(), err error) {
	q, err := queue.Open(ctx, memory)
	if err != nil {
		return nil, nil, err
	}
	config := f.Config(prices, nil)
	filler, err = queue.NewFiller(ctx, q, memory, queue.Settings{
		Attempts: config.Attempts, Timeout: config.Timeout, RequestsPerMinute: f.rpm, TokensPerMinute: f.tpm,
		AskBatched: config.AskBatched, Budget: config.Budget.Left(spent), Prices: prices.All(),
	})
	if err != nil {
		q.Close()
		return nil, nil, err
	}
	return filler, q.Close, nil
}

// fillByWorkers is Fill by workers, which go on when the context ends.
func (e *Env) fillByWorkers(ctx context.Context, f Calls, memory *store.Store, prices price.Table, w Filling) (stats fill.Stats, err error) {
	filler, end, err := e.Workers(ctx, f, memory, prices, w.Spent)
	if err != nil {
		return stats, err
	}
	defer end()
	if !f.Quiet {
		shown := progress.NewFill(e.Stderr, w.Calls, filler.Stats)
		go shown.Run()
		defer shown.Close()
		defer context.AfterFunc(ctx, shown.Leave)()
	}
	ctx, _ = e.Told(ctx)
	err = fillRounds(ctx, filler, w)
	var stopped *fill.BudgetError
	if errors.As(err, &stopped) {
		*stopped = stopped.After(f.Budget(), w.Spent)
	}
	if ctx.Err() != nil {
		e.Sayf("workers go on with what is queued")
	}
	stats = filler.Stats()
	e.NoteSent(stats)
	if stats.Unanswered() > 0 && w.Failed != nil {
		err = errors.Join(err, w.Failed(stats))
	}
	return stats, err
}

// fillRounds fills round after round.
func fillRounds(ctx context.Context, by fill.Filler, f Filling) error {
	if f.Next == nil {
		return by.Fill(ctx, f.Work)
	}
	for {
		w, more, err := f.Next(ctx)
		if err != nil || !more {
			return err
		}
		if err := by.Fill(ctx, w); err != nil {
			return err
		}
	}
}

// keepFailed has keep, nil for nobody, called as Filling.Failed says, until the function
// that it returns is called for the end.
func keepFailed(live *fill.Live, keep func(fill.Stats) error) (end func() error) {
	kept := 0
	look := func() error {
		s := live.Stats()
		if keep == nil || s.Charged+s.Unanswered() == kept {
			return nil
		}
		kept = s.Charged + s.Unanswered()
		return keep(s)
	}
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				// What cannot be kept now is tried again, and told at the end.
				if look() != nil {
					kept = 0
				}
			case <-stop:
				stopped <- look()
				return
			}
		}
	}()
	return func() error {
		close(stop)
		return <-stopped
	}
}

// CheckPrices refuses a limit on costs that cannot be kept.
func (f *Calls) CheckPrices(models []model.Ref, prices price.Table) error {
	if f.maxCost == 0 {
		return nil
	}
	for _, ref := range models {
		if _, ok := prices.Price(ref.Provider, ref.Model); !ok {
			return InputError("--max-cost", fmt.Sprintf("the price of %s is unknown", ref),
				"give it in a file with --prices, or leave --max-cost out")
		}
	}
	return nil
}
