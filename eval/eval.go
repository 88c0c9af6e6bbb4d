package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/batch"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/parquetfile"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
)

// Options say what to measure, and within which bounds.
type Options struct {
	// Settings are the YAML of an experiment: targets, datasets, judges and more. Paths in
	// it are taken from the working directory.
	Settings string
	// Store is the address of the store, which is made where there is none: the path of a
	// file, or postgres://USER@HOST/DATABASE. Empty is orbench.db.
	Store string
	// MaxUSD, MaxTokens and MaxRequests bound what is spent on the run by all calls of Run
	// and all commands together; 0 is no bound.
	MaxUSD                 float64
	MaxTokens, MaxRequests int
	// Getenv finds the keys of providers; nil is os.Getenv.
	Getenv func(string) string
	// Answer takes each prompt of each target, in order; nil for nobody. Its error ends
	// Run.
	Answer func(Answer) error
}

// Result is what was measured.
type Result struct {
	// Run is the name under which the store keeps the run.
	Run string
	// Rates has one entry for each target, dataset, label and judge, in this order.
	Rates []Rate
	// Missing counts prompts without an answer, over all targets: the call failed or was
	// not made.
	Missing int
	// Calls counts the requests that were sent now, and USD what they cost, nil where a
	// price is unknown.
	Calls int
	USD   *float64
}

// Rate is the share of prompts of one label that a target refused, by one judge.
type Rate struct {
	Target, Dataset string
	Label           orbench.Label
	Judge           string
	// Judged is the denominator, Refused the numerator, and Unjudged how many answers the
	// judge could not read.
	Judged, Refused, Unjudged int
	// ServedByOther is how many prompts another model answered than the target; they are
	// not judged.
	ServedByOther int
	// Rate is Refused / Judged, from 0 to 1, and CI95 its 95% interval: Wilson's, clustered
	// where prompts share clusters, and that of a confidence sequence where the run ended
	// by itself. Both are nil when nothing was judged, and when too many answers are
	// unjudged.
	Rate *float64
	CI95 *[2]float64
	// Simulated is true where the target or the judge is a simulated model.
	Simulated bool
}

// Answer is what a target made of one prompt.
type Answer struct {
	Target, Dataset string
	Prompt          orbench.Prompt
	// Sample is the number of the answer where a prompt is asked several times, from 1,
	// else 0.
	Sample int
	// Status is answered, blocked, served_by_other, failed or unanswered.
	Status string
	// Text is the answer, or what the provider said in its place.
	Text string
	// Verdicts are by the name of the judge.
	Verdicts map[string]orbench.Verdict
}

// readParquet has datasets read that are Parquet files.
var readParquet = sync.OnceFunc(func() { rows.Parquet = parquetfile.Open })

// Run measures what the settings name. A fault of the settings is an
// *orbench.InputError; nothing was asked then. Where calls failed, a budget was used up or
// ctx ended, Run gives both the result of what is there and an error, and the same call
// goes on from there.
func Run(ctx context.Context, o Options) (_ *Result, err error) {
	readParquet()
	x, err := experiment.Parse("settings", []byte(o.Settings))
	if err != nil {
		return nil, err
	}
	getenv := o.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	clients, err := client.NewSet(client.Options{Providers: provider.Default(), Given: x.BaseURLs, Getenv: getenv})
	if err != nil {
		return nil, err
	}
	r, err := run.New(ctx, &x.Experiment, clients, run.CacheDir(getenv))
	if err != nil {
		return nil, run.Placed(x, err)
	}
	if o.MaxUSD > 0 {
		for _, m := range r.Job().Refs() {
			if _, ok := price.Default().Price(m.Provider, m.Model); !ok {
				return nil, &orbench.InputError{
					Setting: "MaxUSD", Problem: "there is no price for " + m.String() + ", so the bound cannot be kept", Hint: "bound MaxTokens or MaxRequests instead",
				}
			}
		}
	}
	memory, err := address.Open(ctx, cmp.Or(o.Store, "orbench.db"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	if err := r.Mark(ctx, memory, run.Marking{Runs: clients.RunsWeights}); err != nil {
		return nil, err
	}
	stats, filled := o.fill(ctx, r, memory, clients)
	if filled != nil && !errors.As(filled, new(*stopped)) {
		return nil, filled
	}
	// What was paid for is shown even when filling was stopped.
	result, err := o.derive(context.WithoutCancel(ctx), r, memory, stats)
	if err != nil {
		return nil, errors.Join(filled, err)
	}
	switch {
	case filled != nil:
	case result.Missing > 0:
		filled = fmt.Errorf("%d prompts have no answer; the same call asks the failed ones again", result.Missing)
	case stats.Missing() > 0:
		filled = fmt.Errorf("%d calls, such as those of judges, failed or wait for a batch; the same call asks the failed ones again", stats.Missing())
	}
	return result, filled
}

// stopped is an error that ended filling in an orderly way, so that what is there can be
// shown.
type stopped struct{ error }

func (s *stopped) Unwrap() error { return s.error }

// fill makes the calls that the store lacks.
func (o *Options) fill(ctx context.Context, r *run.Run, memory *store.Store, clients *client.Set) (fill.Stats, error) {
	prices := price.Default()
	if _, err := r.CheckName(ctx, memory); err != nil {
		return fill.Stats{}, err
	}
	called := provenance.Command{Line: "eval.Run", Version: "library", Date: time.Now().UTC().Truncate(time.Second)}
	if err := r.Start(ctx, memory, called, prices.Of(r.Job().Refs())); err != nil {
		return fill.Stats{}, err
	}
	bound := fill.Budget{Requests: o.MaxRequests, Tokens: o.MaxTokens, USD: o.MaxUSD}
	config := fill.LiveConfig{Prices: prices, Budget: bound}
	manager := batch.Manager{Store: memory, Job: r.Job(), Study: r.Study, Prices: prices}
	var err error
	if config.Account, _, err = manager.Account(ctx, bound, false); err != nil {
		return fill.Stats{}, err
	}
	live := fill.NewLive(memory, config)
	for _, m := range r.Job().Refs() {
		c := clients.Client(m.Provider, m.Endpoint)
		live.Lane(m, c.Model, fill.Limits{Concurrency: c.Concurrency})
	}
	filled := manager.Job.Fill(ctx, live, memory)
	stats := live.Stats()
	ctx = context.WithoutCancel(ctx)
	if err := live.GiveBack(ctx); err != nil {
		return stats, errors.Join(filled, err)
	}
	if stats.Requests > 0 {
		if err := r.Paid(ctx, memory, called, time.Now().UTC().Truncate(time.Second)); err != nil {
			return stats, errors.Join(filled, err)
		}
	}
	if errors.Is(filled, context.Canceled) || errors.Is(filled, context.DeadlineExceeded) || errors.As(filled, new(*fill.BudgetError)) || errors.As(filled, new(*fill.GivenUpError)) {
		filled = &stopped{filled}
	}
	return stats, filled
}

// derive computes the rates of what the store has.
func (o *Options) derive(ctx context.Context, r *run.Run, memory store.Reader, s fill.Stats) (*Result, error) {
	var each func(score.AnswerRow) error
	if o.Answer != nil {
		each = func(row score.AnswerRow) error { return o.Answer(answerOf(row)) }
	}
	figures, err := r.Derive(ctx, memory, each)
	if err != nil {
		return nil, err
	}
	result := &Result{Run: r.Name, Calls: s.Requests, USD: run.Cost(s).USD}
	for _, of := range figures.Runs {
		result.Missing += of.Failed + of.Unanswered
		for _, j := range of.Judges {
			result.Rates = append(result.Rates, Rate{
				Target: of.Target, Dataset: of.Dataset, Label: of.Label, Judge: j.Judge,
				Judged: j.Judged, Refused: j.Refused, Unjudged: j.Unjudged, ServedByOther: of.ServedByOther, Rate: j.Rate.Value, CI95: j.Rate.Sampled().Ends(),
				Simulated: of.Simulated || j.Simulated,
			})
		}
	}
	return result, nil
}

// answerOf is a row as the library shows it.
func answerOf(row score.AnswerRow) Answer {
	a := Answer{
		Target: row.Target, Dataset: row.Dataset, Prompt: row.Asked(), Sample: row.Sample,
		Status: string(row.Status), Text: row.Response.Text, Verdicts: map[string]orbench.Verdict{},
	}
	for _, v := range row.Verdicts {
		a.Verdicts[v.Judge] = v.Verdict
	}
	return a
}
