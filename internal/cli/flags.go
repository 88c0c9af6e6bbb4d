package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/model"
)

// callFlags say how calls are made.
type callFlags struct {
	baseURLs    []string
	providers   string
	prices      string
	concurrency int
	rpm, tpm    int
	timeout     time.Duration
	attempts    int
	maxCost     float64
	maxRequests int
	dryRun      bool
	quiet       bool
}

// defaultCallFlags are the flags when none is given.
func defaultCallFlags() callFlags {
	return callFlags{timeout: 2 * time.Minute, attempts: 10}
}

func (f *callFlags) register(c *cobra.Command) {
	*f = defaultCallFlags()
	flags := c.Flags()
	flags.StringArrayVar(&f.baseURLs, "base-url", nil, "address of an OpenAI-compatible `URL`, or PROVIDER=URL; repeatable")
	flags.StringVar(&f.providers, "providers", "", "YAML `FILE` of providers beside the built-in ones")
	flags.StringVar(&f.prices, "prices", "", "YAML `FILE` of prices beside the built-in ones")
	flags.IntVar(&f.concurrency, "concurrency", 0, "most calls at once for each provider (default: the provider's)")
	flags.IntVar(&f.rpm, "rpm", 0, "most requests per minute for each provider")
	flags.IntVar(&f.tpm, "tpm", 0, "most tokens per minute for each provider")
	flags.DurationVar(&f.timeout, "timeout", f.timeout, "time limit of one attempt")
	flags.IntVar(&f.attempts, "attempts", f.attempts, "attempts for each call before it counts as failed")
	flags.Float64Var(&f.maxCost, "max-cost", 0, "stop before more than this many US `dollars` are spent")
	flags.IntVar(&f.maxRequests, "max-requests", 0, "stop before more than this many requests are sent")
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the calls, tokens and cost; send and write nothing")
	flags.BoolVar(&f.quiet, "quiet", false, "no progress")
}

// check refuses values that make no sense.
func (f *callFlags) check() error {
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
	} {
		if v.bad {
			return inputError(v.flag, "the value is too small", "give a positive one, or leave the flag out")
		}
	}
	return nil
}

// clients makes an empty set of clients, with the user's table of providers and
// addresses. named lists the providers that an address without one may be for.
func (a *app) clients(f callFlags, named []string, addresses map[string]string) (*client.Set, error) {
	urls, err := client.ParseURLs(f.baseURLs, named)
	if err != nil {
		return nil, err
	}
	for name, url := range addresses {
		if _, given := urls[name]; !given {
			urls[name] = url
		}
	}
	providers, err := loadProviders(f.providers)
	if err != nil {
		return nil, err
	}
	set, err := client.NewSet(providers, urls, a.env.Getenv)
	if err != nil {
		return nil, fmt.Errorf("--base-url: %w", err)
	}
	return set, nil
}

// loadProviders reads the provider table, with the user's file if there is one.
func loadProviders(file string) (provider.Table, error) {
	return withFile(provider.Default(), provider.Table.With, file, "--providers")
}

// loadPrices reads the price table, with the user's file if there is one.
func loadPrices(file string) (price.Table, error) {
	return withFile(price.Default(), price.Table.With, file, "--prices")
}

// withFile extends a table by a file, if one is named.
func withFile[T any](table T, with func(T, io.Reader, string) (T, error), path, flag string) (T, error) {
	if path == "" {
		return table, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return table, inputError(flag+" "+path, "cannot read the file: "+err.Error(), "correct the path")
	}
	defer f.Close()
	return with(table, f, path)
}

// config is that of fill.Live.
func (f *callFlags) config(prices price.Table, abort <-chan struct{}) fill.Config {
	return fill.Config{
		Attempts: f.attempts, Timeout: f.timeout, Prices: prices, Abort: abort,
		Budget: fill.Budget{Requests: f.maxRequests, USD: f.maxCost},
	}
}

// limits are the bounds of a client's lane.
func (f *callFlags) limits(c client.Client) fill.Limits {
	n := c.Concurrency
	if f.concurrency > 0 {
		n = f.concurrency
	}
	return fill.Limits{Concurrency: n, RequestsPerMinute: f.rpm, TokensPerMinute: f.tpm}
}

// live asks models at once, with the bounds of the flags.
func (f *callFlags) live(memory *memo.Memo, config fill.Config, clients *client.Set, models []model.Ref) *fill.Live {
	live := fill.NewLive(memory, config)
	for _, m := range models {
		c := clients.Client(m.Provider, m.Endpoint)
		live.Lane(m, c.Model, f.limits(c))
	}
	return live
}

// usualUnjudged is the share of unjudged answers above which there is no rate.
const usualUnjudged = 0.1

// outFlags say where results go.
type outFlags struct {
	format       string
	out          string
	mostUnjudged float64
}

func (f *outFlags) register(c *cobra.Command) {
	formatFlag(c, &f.format, formats)
	c.Flags().StringVar(&f.out, "out", "", "also write page, plots, figures and answers to this new `DIR`")
	c.Flags().Float64Var(&f.mostUnjudged, "most-unjudged", usualUnjudged, "give no rate where more than this `SHARE` of the answers is unjudged")
}

// check refuses an unknown format, and a folder that a report would overwrite.
func (f *outFlags) check() error {
	if err := checkFormat(f.format, formats); err != nil {
		return err
	}
	if !(f.mostUnjudged > 0 && f.mostUnjudged <= 1) {
		return inputError("--most-unjudged", "the share is not above 0 and at most 1", "0.1 is the default, 1 gives every rate")
	}
	if f.out == "" {
		return nil
	}
	folder, err := report.Create(f.out)
	if err != nil {
		return err
	}
	return folder.Discard()
}

// completeFlag offers the values of a flag to the shell.
func completeFlag(c *cobra.Command, flag string, values []string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag does not exist: a fault of the caller
	}
}

// cacheDir is the folder of pulled datasets.
func (a *app) cacheDir() string {
	if dir := a.env.Getenv("ORBENCH_CACHE"); dir != "" {
		return dir
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(base, "orbench")
}
