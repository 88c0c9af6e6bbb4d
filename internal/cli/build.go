package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/construct"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/policy"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/model"
)

// buildFlags are the flags of build.
type buildFlags struct {
	config, out, store string
	policy, name       string
	refresh            string
	targets            []string
	searchCalls        int
	samples            int
	printed            command.Printed
	calls              command.Calls
}

func (a app) buildCommand() *cobra.Command {
	var f buildFlags
	c := &cobra.Command{
		Use:   "build --config FILE --out DIR",
		Short: "Build a benchmark: toxic seeds, safe rewrites, votes, three sets",
		Long: `Build an over-refusal benchmark from a configuration. Models write toxic seeds and
rewrite them into safe prompts that sound alarming. Moderators vote on every prompt, and
one that was voted toxic gets a second chance. The votes decide which of the three sets a
prompt joins: full, hard or toxic. Every row keeps its lineage.

Each reply is stored (--store) before it counts. The same command goes on after an
interruption, pays only for what is missing, and ends with the same bytes.

--refresh copies the benchmark in DIR and adds new prompts, without near duplicates of its
own. --target searches for prompts that a model refuses, or one of several models. Each
generation changes and combines prompts that were refused, until the calls of
--search-calls are used up. Prompts that all targets answer are dropped.

"orbench config init" prints a commented configuration to start from. A build cannot go
by batch, because each round depends on the replies to the round before.

Exit codes: 0 done, 1 finished with failures, 2 bad usage or input, 3 stopped by a
budget, 130 interrupted.`,
		Example: `  orbench config init > build.yaml
  orbench build --config build.yaml --dry-run
  orbench build --config build.yaml --out my-benchmark
  orbench build --config build.yaml --refresh my-benchmark --target openai/gpt-4o --out my-benchmark-2`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.build(c.Context(), f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.config, "config", "", "YAML `FILE` of the configuration; see \"orbench config\"")
	flags.StringVar(&f.out, "out", "", "new `DIR` for the benchmark")
	flags.StringVar(&f.name, "name", "", "`NAME` of the benchmark, in place of the configuration's")
	flags.StringVar(&f.policy, "policy", "", "`POLICY` in place of the configuration's: a name (see \"orbench policy list\") or a YAML file")
	flags.StringVar(&f.refresh, "refresh", "", "start from a copy of the benchmark in `DIR`")
	flags.StringSliceVar(&f.targets, "target", nil, "search for what `PROVIDER/MODEL` refuses; repeatable")
	flags.IntVar(&f.searchCalls, "search-calls", 1000, "`N` calls at most for a search, apart from those for its first prompts")
	f.printed.Register(c, command.Formats)
	a.StoreFlag(c, &f.store)
	f.calls.Register(c)
	f.calls.RegisterWorkers(c)
	f.samples = 1
	command.AddSettings(c, command.Setting{Name: "target_samples", Into: &f.samples, Usage: "answers of each target to a prompt of a search, from 1 to 20; several are drawn at temperature 1 (default 1)"})
	return c
}

// build builds a benchmark.
func (a app) build(ctx context.Context, f buildFlags) error {
	b, clients, prices, err := a.prepareBuild(ctx, f)
	if err != nil {
		return err
	}
	if f.calls.DryRun {
		if err := construct.PrintPlan(a.Stdout, f.printed.Format, a.Screen(f.printed.Full), b.Plan(), prices, clients.Recipients()); err != nil || f.printed.Format == "json" {
			return err
		}
		plans, err := a.Plans(ctx, f.store, func(context.Context, store.Reader) ([]job.Plan, error) { return expectable(b.Plan()), nil })
		if err != nil {
			return err
		}
		var d table.Document
		d.Add(table.Line(job.ExpectedLine(plans, prices.Price) + fromNothing))
		return d.Text(a.Stdout, a.Screen(f.printed.Full))
	}
	a.LimitMemory(buildMemory)
	memory, err := a.OpenStore(ctx, f.store, f.calls.ByWorkers)
	if err != nil {
		return err
	}
	err = a.buildWith(ctx, f, b, clients, memory, prices)
	return errors.Join(err, memory.Close())
}

// fromNothing is what the estimate of a build is of.
const fromNothing = " (of a build without stored replies)"

// expectable are the plans of a build, of which it can be said what they are expected to
// take.
func expectable(plans []construct.Plan) []job.Plan {
	return table.RowsOf(plans, func(p construct.Plan) job.Plan {
		return job.Plan{
			Provider: p.Provider, Model: p.Model, Calls: p.Calls, InputTokens: p.InputTokens, MaxOutputTokens: p.MaxOutputTokens, Typical: p.OutputTokens,
		}
	})
}

// prepareBuild checks everything that a user can get wrong, before anything is
// asked or written.
func (a app) prepareBuild(ctx context.Context, f buildFlags) (b *construct.Builder, clients *client.Set, prices price.Table, err error) {
	switch {
	case f.config == "":
		return nil, nil, prices, command.InputError("--config", "no configuration is named", `write one with "orbench config init > build.yaml"`)
	case f.out == "" && !f.calls.DryRun:
		return nil, nil, prices, command.InputError("--out", "no folder is named for the benchmark", "name a new one, such as --out my-benchmark")
	case f.searchCalls < 1:
		return nil, nil, prices, command.InputError("--search-calls", "the value is too small", "give a positive one")
	case f.samples < 1 || f.samples > 20:
		return nil, nil, prices, command.InputError("--set target_samples", "a number that is not from 1 to 20", "1 is the default")
	}
	if err := f.calls.Check(); err != nil {
		return nil, nil, prices, err
	}
	config, err := construct.Load(f.config)
	if err != nil {
		return nil, nil, prices, err
	}
	if f.policy != "" {
		named, err := policy.Open(f.policy)
		if err != nil {
			return nil, nil, prices, err
		}
		config.Policy = benchmark.PolicyOf(named.Definitions())
	}
	if f.name != "" {
		if !settings.IsName(f.name) {
			return nil, nil, prices, command.InputError("--name", fmt.Sprintf("%q cannot be the name of a benchmark", f.name), "use letters, digits, dots, hyphens and underscores")
		}
		config.Name = f.name
	}
	b = &construct.Builder{}
	if f.refresh != "" {
		if b.Base, err = benchmark.Open(f.refresh); err != nil {
			return nil, nil, prices, err
		}
		if err := construct.CheckBase(&config, b.Base); err != nil {
			return nil, nil, prices, err
		}
		config.Version = construct.NextVersion(b.Base.Manifest.Version, config.Version)
	}
	b.Config = config
	if err := b.OpenSeeds(ctx, f.config, a.CacheDir()); err != nil {
		return nil, nil, prices, err
	}
	if len(f.targets) > 0 {
		slices.Sort(f.targets)
		b.Search = &construct.Search{Targets: slices.Compact(f.targets), Samples: f.samples, Calls: f.searchCalls}
	}
	clients, err = a.Clients(f.calls, experiment.Providers(append(b.Models(), config.Hard.Judge)), nil)
	if err != nil {
		return nil, nil, prices, err
	}
	if err := b.Connect(clients, f.config); err != nil {
		return nil, nil, prices, err
	}
	if f.out != "" {
		if err := folder.Vacant(f.out, b.Subject()); err != nil {
			return nil, nil, prices, err
		}
	}
	var asked []model.Ref
	for _, p := range b.Plan() {
		if p.Provider != score.SimProvider {
			asked = append(asked, model.Ref{Provider: p.Provider, Model: p.Model})
		}
	}
	prices, err = f.calls.Prices(asked)
	return b, clients, prices, err
}

// buildMemory is the memory from which a build collects garbage more often, so that one of 900,000
// replies takes less than 600 MB in all.
const buildMemory = 505 << 20

// queuedWidth is how many prompts are worked on at once where workers make the calls.
const queuedWidth = 2048

// buildWith builds with an open store, and writes and shows the benchmark.
func (a app) buildWith(ctx context.Context, f buildFlags, b *construct.Builder, clients *client.Set, memory *store.Store, prices price.Table) (err error) {
	if f.calls.Bounded() && !a.Quiet {
		if err := a.SayExpected(ctx, memory, expectable(b.Plan()), prices, fromNothing); err != nil {
			return err
		}
	}
	kept, err := a.keepBuild(ctx, b, memory, prices)
	if err != nil {
		return err
	}
	config := f.calls.Config(prices, a.Abort)
	if config.Account, err = a.Account(ctx, memory, kept, b.Job(), prices, f.calls); err != nil {
		return err
	}
	live := fill.NewLive(memory, config)
	width := a.Lanes(live, f.calls, clients)
	// Each prompt waits for one call at least, and some wait for their turn.
	b.Width = 2 * max(width, 16)
	b.Ask = live.Ask
	stats, givenUp := live.Stats, live.GivenUp
	if f.calls.ByWorkers {
		filler, err := a.Workers(ctx, kept.Name, f.calls, memory, prices, config.Account)
		if err != nil {
			return err
		}
		// They are many, and take shards.
		b.Ask, b.Width, stats = filler.Ask, max(b.Width, queuedWidth), filler.Stats
		givenUp = func() []error { return filler.GivenUp(context.WithoutCancel(ctx)) }
	}
	var shown *command.BuildProgress
	if !a.Quiet {
		shown = a.NewBuildProgress(stats)
		b.Observe = shown.Observe
		go shown.Run()
	}
	made, err := b.Build(ctx)
	a.NoteSent(stats())
	err = errors.Join(err, live.GiveBack(context.WithoutCancel(ctx)), a.Paid(ctx, memory, kept, stats()))
	if shown != nil {
		shown.Close()
	}
	if err != nil {
		if (command.Filled{Stopped: err}).Halted() {
			err = errors.Join(err, a.showStopped(context.WithoutCancel(ctx), f, b, memory))
		}
		if errors.Is(err, command.ErrInterrupted) {
			a.Infof("stopped; every reply so far is kept in %s, and the same command goes on from there:\n  %s", address.Shown(f.store), a.CommandLine())
		}
		return err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	if lost := made.Funnel.Lost(); lost != "" {
		return fmt.Errorf("the count of %s does not add up; this is a fault of orbench", lost)
	}
	if lack := made.Lack(); lack != "" {
		err = a.Show(f.printed, made)
		a.Infof("nothing was written, because %s", lack)
		return errors.Join(err, a.sayFailed(clients, made, givenUp(), stats(), "the same command tries them again"))
	}
	if err := made.Examine(ctx, memory); err != nil {
		return err
	}
	if err := made.Write(f.out, a.Tool, prices); err != nil {
		return err
	}
	if err := a.Show(f.printed, made); err != nil {
		return err
	}
	return a.finishBuild(f, clients, made, givenUp(), stats())
}

// keepBuild keeps a build by the name of its benchmark, or where a study of another kind has
// that, by one of its settings. What was built by other settings of the same name gives way,
// which is said.
func (a app) keepBuild(ctx context.Context, b *construct.Builder, memory *store.Store, prices price.Table) (*study.Study, error) {
	name := b.Config.Name
	old, err := study.Find(ctx, memory, name)
	if err == nil && old.Kind != study.Build {
		name, old = "", nil
	}
	s, err := b.Study(name)
	if err != nil {
		return nil, err
	}
	if old != nil && s.Redefines != nil {
		if differ := s.Redefines(ctx, old); len(differ) > 0 {
			a.Infof("%s in the store was built otherwise (%s): this build takes its place there. The folder and the replies of the old one stay.", name, strings.Join(differ, ", "))
		}
	}
	_, err = a.Keep(ctx, memory, s, prices.Of(b.Job().Refs()))
	return s, err
}

// showStopped shows how far a build came that was stopped, of which nothing is written.
func (a app) showStopped(ctx context.Context, f buildFlags, b *construct.Builder, memory store.Reader) (err error) {
	made, err := b.Remembered(ctx, memory)
	if err != nil || made == nil {
		return err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	a.Infof("nothing was written; the figures show how far the build came, and count missing calls as failed")
	return a.Show(f.printed, made)
}

// finishBuild says what is missing from a benchmark and how to go on.
func (a app) finishBuild(f buildFlags, clients *client.Set, made *construct.Benchmark, givenUp []error, s fill.Stats) error {
	for _, c := range made.Exhausted {
		a.Infof("%s: only %d of %d distinct seeds; the generators gave almost no new ones (seeds.min_yield)", c.Category, c.Kept, c.Wanted)
	}
	if !a.Quiet {
		a.Infof("wrote %s; %s now, %s from the store; %s", filepath.Join(f.out, benchmark.CardFile), table.Counted(s.Requests, "call", "calls"), table.Counted(s.Present, "reply", "replies"), command.Spent(s))
	}
	if made.Funnel.FailedCalls == 0 {
		return nil
	}
	return a.sayFailed(clients, made, givenUp, s, "the same command tries them again, and replaces "+f.out)
}

// sayFailed says which calls failed, and how to go on: what a benchmark lacks is not the
// generator's fault while calls are missing. It gives ErrFailures.
func (a app) sayFailed(clients *client.Set, made *construct.Benchmark, givenUp []error, s fill.Stats, next string) error {
	if made.Funnel.FailedCalls == 0 {
		a.Infof("look at the habits and stages above, and use another generator or more seeds")
		return command.ErrFailures
	}
	said := table.RowsOf(givenUp, a.ErrorText)
	a.Infos(said)
	if len(s.Limited) > 0 {
		a.SayLimited(clients, s.Limited, strings.Join(said, ""))
	} else {
		a.Infof("%d calls failed, so their prompts are missing from the benchmark; %s:\n  %s", made.Funnel.FailedCalls, next, a.CommandLine())
	}
	return command.ErrFailures
}
