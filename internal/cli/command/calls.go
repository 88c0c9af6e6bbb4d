package command

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/model"
)

// Calls are the flags and settings that say how calls are made. The zero value makes no
// attempt: start from DefaultCalls.
type Calls struct {
	baseURLs []string
	// tables are files of providers and of prices.
	tables      []string
	concurrency int
	rpm         int
	timeout     time.Duration
	attempts    int
	maxCost     float64
	maxRequests int
	// ByWorkers: have the calls made by workers.
	ByWorkers bool
	// batch is how the calls go by batch, empty for not at all; see RegisterBatch.
	batch string
	// Local: connect to this machine alone, to servers that --base-url names and to the store.
	Local bool
	// DryRun: print what would be sent, and send and write nothing.
	DryRun bool
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
	flags.IntVar(&f.concurrency, "concurrency", 0, concurrencyUsage)
	flags.Float64Var(&f.maxCost, "max-cost", 0, "stop before all commands of a run together spend more than this many US `dollars`")
	flags.BoolVar(&f.DryRun, "dry-run", false, "print the calls, tokens and cost; send and write nothing")
	AddSettings(
		c,
		Setting{Name: "rpm", Into: &f.rpm, Usage: "most requests per minute for each provider"},
		Setting{Name: "timeout", Into: &f.timeout, Usage: "time limit of one attempt, such as 10m (default 2m)"},
		Setting{Name: "attempts", Into: &f.attempts, Usage: "attempts for each call before it counts as failed (default 10)"},
		Setting{Name: "max_requests", Into: &f.maxRequests, Usage: "stop before all commands of a run together send more than this many requests"},
	)
}

// concurrencyUsage is said of --concurrency.
const concurrencyUsage = "most calls at once for each provider (default: the provider's)"

// RegisterServers gives a command those of the flags that say whom it asks and what that
// costs.
func (f *Calls) RegisterServers(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.baseURLs, "base-url", nil, "`URL` of an OpenAI-compatible server, or PROVIDER=URL; repeatable")
	AddSettings(c, f.tableSetting())
}

// tableSetting says what is known of providers beside what is built in.
func (f *Calls) tableSetting() Setting {
	return Setting{Name: "providers", Into: &f.tables, Usage: "YAML files of providers, or of prices, beside the built-in ones; comma separated"}
}

// RegisterLocal gives a command the flag that keeps its connections to this machine.
func (f *Calls) RegisterLocal(c *cobra.Command) {
	c.Flags().BoolVar(&f.Local, "local", false, "connect only to this machine, the servers of --base-url and the store (default: true if recorded answers say who asked)")
}

// RegisterWorkers gives a command the setting that has workers make its calls.
func (f *Calls) RegisterWorkers(c *cobra.Command) {
	AddSettings(c, Setting{Name: "workers", Into: &f.ByWorkers, Usage: "true: let orbench worker make the calls, on any number of machines; the store must be a database"})
}

// RegisterWorker gives a command the flags of who makes calls for others.
func (f *Calls) RegisterWorker(c *cobra.Command) {
	*f = DefaultCalls()
	c.Flags().IntVar(&f.concurrency, "concurrency", 0, concurrencyUsage)
	AddSettings(c, f.tableSetting())
}

// Deferred reports whether the calls are left to workers or batches.
func (f *Calls) Deferred() bool { return f.ByWorkers || f.batch != "" }

// Concurrency is the most calls at once to a client.
func (f *Calls) Concurrency(c client.Client) int { return cmp.Or(f.concurrency, c.Concurrency) }

// Check refuses values that make no sense.
func (f *Calls) Check() error {
	if f.batch != "" && f.ByWorkers {
		return InputError("--batch", "calls can be made in only one way", "leave it out, or leave out --set workers")
	}
	if math.IsNaN(f.maxCost) || math.IsInf(f.maxCost, 0) {
		return InputError("--max-cost", fmt.Sprintf("%v is not an amount in dollars", f.maxCost), "give one such as 5, or leave the flag out")
	}
	for _, v := range []struct {
		flag string
		bad  bool
	}{
		{"--concurrency", f.concurrency < 0},
		{"--set rpm", f.rpm < 0},
		{"--set timeout", f.timeout <= 0},
		{"--set attempts", f.attempts < 1},
		{"--max-cost", f.maxCost < 0},
		{"--set max_requests", f.maxRequests < 0},
	} {
		if v.bad {
			return InputError(v.flag, "the value is too small", "give a positive one, or leave it out")
		}
	}
	return nil
}

// Bounded reports whether the flags bound what the command may spend.
func (f *Calls) Bounded() bool { return f.Budget() != (fill.Budget{}) }

// Clients makes an empty set of clients, with the user's table of providers and
// addresses, and those that a file names. named lists the providers that an address
// without one may be for.
func (e *Env) Clients(f Calls, named []string, addresses map[string]string) (*client.Set, error) {
	c := client.Options{Named: addresses, Getenv: e.Getenv, Unasked: f.DryRun, Connected: e.sayRecipient}
	c.Versioned = func(given, used string) {
		e.Infof("--base-url %s is not the root of an API, so %s was used; give that one", given, used)
	}
	var err error
	if c.Given, err = client.ParseURLs(f.baseURLs, named); err != nil {
		return nil, err
	}
	if c.Providers, err = f.LoadProviders(); err != nil {
		return nil, err
	}
	if c.Allowed, err = provider.AllowedHosts(provider.AllowedPath()); err != nil {
		return nil, err
	}
	if f.Local {
		if f.ByWorkers {
			return nil, InputError("--set workers", "workers make calls from any machine, but this command is local", "leave it out, or say --local=false")
		}
		e.stayLocal(c.Given)
	}
	set, err := client.NewSet(c)
	if err != nil {
		return nil, fmt.Errorf("--base-url: %w", err)
	}
	return set, nil
}

// LoadProviders reads the provider table, with the user's files of them.
func (f *Calls) LoadProviders() (provider.Table, error) {
	return withFiles(provider.Default(), provider.Table.With, f.tables, false)
}

// Prices reads the price table, with the user's files of them. It refuses a limit on the
// costs of models that cannot be kept.
func (f *Calls) Prices(models []model.Ref) (price.Table, error) {
	prices, err := withFiles(price.Default(), price.Table.With, f.tables, true)
	if err != nil || f.maxCost == 0 {
		return prices, err
	}
	for _, ref := range models {
		if _, ok := prices.Price(ref.Provider, ref.Model); !ok {
			return prices, InputError("--max-cost", fmt.Sprintf("the price of %s is unknown", ref),
				"give it in a file with --set providers=FILE, or leave --max-cost out")
		}
	}
	return prices, nil
}

// ofProviders is in files of providers, which have a dialect each; prices have none.
var ofProviders = regexp.MustCompile(`(?m)(?:^[\s-]*|[{,]\s*)"?dialect"?\s*:`)

// withFiles extends a table by those files that are of prices, or by those of providers.
func withFiles[T any](table T, with func(T, io.Reader, string) (T, error), paths []string, prices bool) (T, error) {
	for _, path := range paths {
		text, err := settings.ReadFile(path, "correct the path")
		if err != nil {
			return table, err
		}
		if ofProviders.Match(text) == prices {
			continue
		}
		if table, err = with(table, bytes.NewReader(text), path); err != nil {
			return table, err
		}
	}
	return table, nil
}

// Budget is what the flags bound.
func (f *Calls) Budget() fill.Budget {
	return fill.Budget{Requests: f.maxRequests, USD: f.maxCost}
}

// Config is that of fill.Live.
func (f *Calls) Config(prices price.Table, abort <-chan struct{}) fill.LiveConfig {
	return fill.LiveConfig{
		Attempts: f.attempts, Timeout: f.timeout, Prices: prices, Abort: abort, Budget: f.Budget(),
	}
}

// Limits are the bounds of the lane of a client.
func (f *Calls) Limits(c client.Client) fill.Limits {
	return fill.Limits{Concurrency: f.Concurrency(c), RequestsPerMinute: f.rpm}
}
