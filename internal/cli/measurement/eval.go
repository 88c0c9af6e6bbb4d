package measurement

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
)

// evalFlags are the flags of eval that are no settings of the experiment.
type evalFlags struct {
	config, shard, reuse string
	fresh                bool
	command.Asking
	out command.Output
	// usual is true where the usual judge is named, and not just meant.
	usual bool
}

func (a app) evalCommand() *cobra.Command {
	var f evalFlags
	c := &cobra.Command{
		Use:   "eval --target PROVIDER/MODEL --dataset NAME|FILE",
		Short: "Ask models the prompts of datasets and report what they refuse",
		Long: `Ask one or more models every prompt of one or more datasets, judge which answers are
refusals, and report over-refusal and toxic refusal.

Every answer is kept in the store (--store) before it counts. After an interruption, or with
one more target, dataset or judge, the same command pays only for what is missing (--dry-run
says which changed setting makes calls be asked again). "orbench eval --name RUN" asks what
a kept run lacks. Other changes of its settings need --replace; with no --target and no
--dataset, that too takes what is not typed from the kept run.

What a server that runs weights answered, such as Ollama or vLLM, belongs to the --name
that asked, since other weights may be behind its address the next day. Another name
asks again; --reuse RUN counts the answers of RUN, and --fresh asks again under one name.

Targets are PROVIDER/MODEL, sim/NAME (simulated; see "orbench sim --help"),
guard:FORMAT@PROVIDER/MODEL (a guard: what does it flag?) or replay:FILE (recorded answers,
such as another tool's log; without --dataset its own prompts). Datasets are names (see
"orbench dataset list") or files of CSV, JSON Lines or Parquet. For judges see "orbench
judge --help".

Defenses, framings, dialogs and repeated answers make variants, measured beside the plain
target: --set variants.defenses=icl,self-reminder, variants.framings=authority,
variants.turns=pushback, 'variants.temperatures[*].samples=5'. Defenses are icl[:K],
self-reminder, smoothllm[:KIND], response-check[:MODEL], input-guard:MODEL,
output-guard:MODEL, or a ladder such as icl+response-check.

Besides more --concurrency on this machine, there are three ways to spread a run:
  --batch              the provider makes the calls within a day, at half the price
  --set workers=true   machines that share a PostgreSQL store ("orbench worker --help")
  --set shard=2/4      machines that share nothing: each asks its part of the prompts;
                       "orbench store merge" makes one run of the parts

--until 2pp asks in random order, balanced over categories, and stops each label of each
dataset once all rates have half-widths of 2 percentage points or less by Wilson's interval,
which holds at the end. To watch or gate on the rates before, say --until 2pp,sequence; it
needs about three times as many prompts.

--config FILE reads all of this, and more kinds of variants, from an experiment in YAML;
"orbench config init experiment" prints one. Flags and --set override the file.

Exit codes: 0 done, 1 finished with failures, 2 bad usage or input, 3 stopped by
a budget, 130 interrupted.`,
		Example: `  orbench eval --target openai/gpt-4o-mini --dataset starter
  orbench eval --target ollama/llama3.2,anthropic/claude-haiku-4-5 --dataset xstest --judge lexical,llm:openai/gpt-4o
  orbench eval --target openai/gpt-4o-mini --dataset xstest --set variants.defenses=icl,self-reminder
  orbench eval --target replay:answers.csv --label safe --name task --out pages
  orbench eval --config experiment.yaml --dry-run
  orbench eval --target ollama/llama3.2 --dataset xstest --name main --set shard=2/4 --store part2.db
  orbench eval --target openai/my-model --base-url http://127.0.0.1:8080/v1 --dataset prompts.csv --label safe --out reports/mine`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			x, err := a.experiment(c, f)
			if err != nil {
				return err
			}
			f.usual = c.Flags().Changed("judge") && c.Flag("judge").Value.String() == c.Flag("judge").DefValue
			for _, t := range x.Targets {
				path, recorded := t.Replay()
				if recorded && !f.Calls.Local {
					if err := a.LocalIfPeople(c, &f.Calls, path, dataset.Options{}); err != nil {
						return err
					}
				}
			}
			return a.eval(c.Context(), x, f)
		},
	}
	c.Flags().StringVar(&f.config, "config", "", "YAML `FILE` of an experiment: targets, datasets, judges and variants")
	settingFlags(c)
	c.Flags().BoolVar(&f.fresh, "fresh", false, "ask the targets again; answers of before stay in the store, but the run counts them no more")
	c.Flags().StringVar(&f.reuse, "reuse", "", "count the answers of `RUN` that your own servers gave, under the --name of this run")
	command.AddSettings(c, command.Setting{Name: "shard", Into: &f.shard, Usage: "ask only this part of the prompts, such as 2/4; \"orbench store merge\" makes one run of all parts"})
	c.Flags().BoolVar(&f.Replace, "replace", false, "replace the run of that name if its settings differ")
	a.StoreFlag(c, &f.Store)
	f.Calls.Register(c)
	f.Calls.RegisterLocal(c)
	f.Calls.RegisterBatch(c)
	f.Calls.RegisterWorkers(c)
	f.out.Register(c)
	return c
}

// experiment is what a command says. Without targets or datasets it is what the kept run of its
// name is made of, with what the command says added.
func (a app) experiment(c *cobra.Command, f evalFlags) (*experiment.File, error) {
	var kept *experiment.Experiment
	all := said(c)
	says := func(path string) bool {
		return slices.ContainsFunc(all, func(s experiment.Said) bool { return s.Path == path })
	}
	if name := c.Flag("name").Value.String(); name != "" && f.config == "" && !(says("targets") && says("datasets")) && !(f.Replace && (says("targets") || says("datasets"))) {
		err := a.Peek(c.Context(), f.Store, func(memory store.Reader) (err error) {
			kept, err = run.KeptExperiment(c.Context(), memory, name)
			switch own := says("targets") || says("datasets"); {
			case own || err != nil || kept != nil:
			case memory == nil:
				return a.NoStore(f.Store)
			default:
				_, err = run.Find(c.Context(), memory, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if kept != nil {
		return experiment.Continue(*kept, all...)
	}
	return experiment.Load(f.config, all...)
}

// eval measures the targets on the datasets.
func (a app) eval(ctx context.Context, x *experiment.File, f evalFlags) error {
	if err := cmp.Or(f.out.Check(), f.Calls.Check()); err != nil {
		return err
	}
	m, err := a.newMeasurement(ctx, x, f)
	if err != nil {
		return run.Placed(x, err)
	}
	return a.measure(ctx, m)
}

// newMeasurement makes the run of an experiment, and says what is to be known of it.
func (a app) newMeasurement(ctx context.Context, x *experiment.File, f evalFlags) (measurement, error) {
	shard, err := checkShard(f, x)
	if err != nil {
		return measurement{}, err
	}
	clients, err := a.Clients(f.Calls, x.Providers(), x.BaseURLs)
	if err != nil {
		return measurement{}, err
	}
	r, err := run.New(ctx, &x.Experiment, clients, a.CacheDir())
	if err != nil {
		return measurement{}, err
	}
	switch {
	case f.reuse != "" && x.Name == "":
		return measurement{}, command.InputError("--reuse", "the answers are to stand under another name", "give it with --name")
	case f.reuse != "" && f.reuse == x.Name:
		return measurement{}, command.InputError("--reuse", "run "+f.reuse+" counts its own answers without it", "leave it out, or name another run")
	case f.reuse != "" && f.fresh:
		return measurement{}, command.InputError("--reuse, --fresh", "answers are either counted or asked again", "leave one of them out")
	}
	if f.fresh {
		if i := slices.IndexFunc(r.Targets, func(t evaluate.Target) bool { return clients.Silent(t.Ref()) }); i >= 0 {
			return measurement{}, command.InputError("--fresh", "the server of "+r.Targets[i].Name+" does not answer", "start it; until then the run counts the answers that it has")
		}
	}
	mark := run.Marking{Fresh: f.fresh, Reuse: f.reuse, Replace: f.Replace, Now: time.Now(), Runs: clients.RunsWeights}
	if err := a.Peek(ctx, f.Store, func(memory store.Reader) error { return r.Mark(ctx, memory, mark) }); err != nil {
		return measurement{}, err
	}
	if f.fresh && !a.Quiet {
		a.Infof("all targets are asked again; the same command without --fresh goes on from there")
	}
	r.Shard = shard
	if f.usual && r.Guards() {
		a.Infof("--judge lexical: a guard's reply is not an answer, so the judge flag reads it instead")
	}
	a.Infos(r.Notes)
	for _, set := range r.Datasets {
		a.Infos(set.Notes())
		if set.LabelAssumed {
			a.Infof("warning: %s: no column holds labels, so all %d prompts count as safe; --dataset FILE=LABEL says what they are", set.Name, set.Count)
		}
	}
	a.SayDraw(r.Limit, r.Datasets...)
	return measurement{Run: r, clients: clients, asking: f.Asking, out: f.out}, nil
}

// checkShard reads the shard and refuses what goes with no shard.
func checkShard(f evalFlags, x *experiment.File) (evaluate.Shard, error) {
	s, err := evaluate.ParseShard(f.shard)
	if err != nil || f.shard == "" {
		return s, err
	}
	const hint = "merge the stores of all shards, then: orbench report RUN"
	switch {
	case x.Name == "":
		return s, command.InputError("--set shard", "the shards need a common name to become one run", "give all of them the same --name")
	case f.fresh:
		return s, command.InputError("--set shard, --fresh", "each shard would ask at a time of its own, and they would not be one run", "give all of them another --name, which asks again")
	case x.Until != "":
		return s, command.InputError("--set shard, --until", "a shard does not see the other shards' answers, so it cannot know when to stop", "give one of them; eval --until makes fewer calls by itself")
	case f.out.Dir != "":
		return s, command.InputError("--out", "a shard makes no report", hint)
	}
	if !slices.Contains(command.TwoFormats, f.out.Format) {
		return s, command.InputError("--format", "a shard has no figures to print as "+f.out.Format, "use table or json")
	}
	return s, nil
}
