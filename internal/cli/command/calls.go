package command

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provider"
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
	// byBatch: have the calls made by batch, and wait for them where wait is true; batchFiles
	// is the folder of files that they go by, empty for none.
	byBatch, wait bool
	batchFiles    string
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
	if f.batchFiles != "" && (f.byBatch || f.ByWorkers) {
		return InputError("--batch-files", "calls can be made in only one way", "leave it out, or leave out --batch and --workers")
	}
	if math.IsNaN(f.maxCost) || math.IsInf(f.maxCost, 0) {
		return InputError("--max-cost", fmt.Sprintf("%v is not an amount in dollars", f.maxCost), "give one such as 5, or leave the flag out")
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
	c := client.Options{Named: addresses, Getenv: e.Getenv, Unasked: f.DryRun, Connected: e.sayRecipient}
	var err error
	if c.Given, err = client.ParseURLs(f.baseURLs, named); err != nil {
		return nil, err
	}
	if c.Providers, err = f.LoadProviders(); err != nil {
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
func (f *Calls) LoadProviders() (provider.Table, error) {
	return withFile(provider.Default(), provider.Table.With, f.providers, "--providers")
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
func (f *Calls) Config(prices price.Table, abort <-chan struct{}) fill.LiveConfig {
	return fill.LiveConfig{
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
		e.Infof("%d calls at once, and not %d: ulimit -n lets a process have %d files open", most, all, files)
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
