package cli

import (
	"context"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/model"
	"github.com/spf13/cobra"
)

// evalFlags are the flags of eval.
type evalFlags struct {
	targets, datasets, judges []string
	prompt, category, label   string
	cluster                   string
	defaultLabel              string
	responseColumn            string
	limit                     int
	system, temperature       string
	maxTokens, judgeMaxTokens int
	seed                      int64
	seeded                    bool
	defenses, framings        []string
	samples                   int
	name, store               string
	calls                     callFlags
	out                       outFlags
}

func (a *app) evalCommand() *cobra.Command {
	var f evalFlags
	c := &cobra.Command{
		Use:   "eval --target PROVIDER/MODEL --dataset NAME|FILE",
		Short: "Ask models the prompts of datasets and report what they refuse",
		Long: `Ask one or more models every prompt of one or more datasets, judge which
answers are refusals, and report over-refusal and toxic refusal.

Every answer is kept in the store (--store) before it counts. Run the same
command again, after an interruption or with one more target, dataset or judge,
and only what is missing is paid for.

Targets are PROVIDER/MODEL, sim/NAME (simulated; see "orbench sim --help") or
replay:FILE (recorded answers). Datasets are names (see "orbench dataset list")
or paths of CSV, JSON Lines or Parquet files. Judges are lexical (embedded,
free), paper-keywords, llm:PROVIDER/MODEL, guard:FORMAT@PROVIDER/MODEL and
panel:RULE(JUDGE,...).

--defense, --framing and --samples measure variants of every target beside it.
Defences are icl[:K], self-reminder, smoothllm[:KIND], response-check[:MODEL],
input-guard:MODEL and output-guard:MODEL, or a ladder such as
icl+response-check; the system prompt "helpful-and-safe" has a name too.

Exit codes: 0 done, 1 finished with failures, 2 bad usage or input, 3 stopped by
a budget, 130 interrupted.`,
		Example: `  orbench eval --target openai/gpt-4o-mini --dataset starter
  orbench eval --target ollama/llama3.2,anthropic/claude-haiku-4-5 --dataset xstest --judge lexical,llm:openai/gpt-4o
  orbench eval --target openai/gpt-4o-mini --dataset xstest --defense self-reminder,icl+response-check
  orbench eval --target openai/my-model --base-url http://127.0.0.1:8080/v1 --dataset prompts.csv --label safe --out reports/mine`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f.seeded = c.Flags().Changed("seed")
			return a.eval(c.Context(), f)
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.targets, "target", nil, "`PROVIDER/MODEL` to measure; repeatable or comma separated")
	flags.StringArrayVar(&f.datasets, "dataset", nil, "dataset `NAME or FILE`; repeatable or comma separated")
	flags.StringArrayVar(&f.judges, "judge", []string{"lexical"}, "`JUDGE` of the answers; repeatable or comma separated")
	flags.StringVar(&f.prompt, "prompt-column", "", "`COLUMN` of the prompts in a file (default: by its usual names)")
	flags.StringVar(&f.category, "category-column", "", "`COLUMN` of the categories in a file")
	flags.StringVar(&f.label, "label-column", "", "`COLUMN` of the labels in a file")
	flags.StringVar(&f.cluster, "cluster-column", "", "`COLUMN` of a file whose equal values tell prompts that are not independent, such as their seed")
	flags.StringVar(&f.defaultLabel, "label", "", "`LABEL` of a file without a label column: safe (the default), toxic, controversial or undecided")
	flags.StringVar(&f.responseColumn, "response-column", "", "`COLUMN` of the answers in a replay file")
	flags.IntVar(&f.limit, "limit", 0, "only the first `N` prompts of each dataset")
	flags.StringVar(&f.system, "system", "", "system prompt: `TEXT, @FILE` or the name helpful-and-safe (default: none)")
	flags.StringVar(&f.temperature, "temperature", "0", "`T` from 0 to 2, or \"default\" for the provider's own")
	flags.IntVar(&f.maxTokens, "max-tokens", 1000, "most output tokens of an answer; 0 for the provider's own limit")
	flags.IntVar(&f.judgeMaxTokens, "judge-max-tokens", 1000, "most output tokens of a judge's explanation")
	flags.Int64Var(&f.seed, "seed", 0, "`SEED` to send with each request, where the provider takes one")
	flags.StringArrayVar(&f.defenses, "defense", nil, "measure each target behind this `DEFENSE` too; repeatable or comma separated")
	flags.StringSliceVar(&f.framings, "framing", nil, "measure each target with prompts put in this `FRAMING` too: authority or purpose")
	flags.IntVar(&f.samples, "samples", 1, "measure `N` answers of each target to every prompt; wants a temperature above 0")
	flags.StringVar(&f.name, "name", "", "`NAME` of the run in the store (default: made from its settings)")
	a.storeFlag(c, &f.store)
	f.calls.register(c)
	f.out.register(c)
	return c
}

// eval measures the targets on the datasets.
func (a *app) eval(ctx context.Context, f evalFlags) error {
	if err := f.out.check(); err != nil {
		return err
	}
	if err := f.calls.check(); err != nil {
		return err
	}
	if f.limit < 0 || f.maxTokens < 0 || f.judgeMaxTokens < 0 {
		return inputError("--limit, --max-tokens, --judge-max-tokens", "a negative number", "give a positive one")
	}
	targets, refs := splitList(f.targets), splitList(f.datasets)
	if len(targets) == 0 {
		return inputError("--target", "no target is named", "name one, such as --target openai/gpt-4o-mini or --target sim/balanced")
	}
	if len(refs) == 0 {
		return inputError("--dataset", "no dataset is named", `name one, such as --dataset starter; "orbench dataset list" lists them`)
	}
	named := namedProviders(slices.Concat(targets, f.defenses))
	if len(named) == 0 {
		named = namedProviders(f.judges)
	}
	urls, err := f.calls.urls(named)
	if err != nil {
		return err
	}
	w, err := a.newWiring(f.calls.providers, urls)
	if err != nil {
		return err
	}
	m := measurement{wiring: w, calls: f.calls, out: f.out, store: f.store, name: f.name}
	m.run.Limit, m.config.Limit = f.limit, f.limit
	checks, err := m.addTargets(ctx, targets, f)
	if err != nil {
		return err
	}
	for _, t := range m.run.Targets {
		if r, ok := w.clients[evaluate.LaneKey{Provider: t.Provider, Endpoint: t.Endpoint}].model.(*replay); ok {
			a.sayConflicts(r)
		}
	}
	if m.run.Judges, err = w.judges(f.judges, f.judgeMaxTokens); err != nil {
		return err
	}
	m.config.Judges = w.judgeConfigs(m.run.Judges, f.judgeMaxTokens)
	for _, ref := range refs {
		if err := m.addDataset(ctx, a, ref, f); err != nil {
			return err
		}
	}
	for _, check := range checks {
		for _, set := range m.run.Datasets {
			if err := check(set, f.limit); err != nil {
				return err
			}
		}
	}
	return a.measure(ctx, m)
}

// addTargets makes the targets with the parameters that the flags set. It
// returns the checks of datasets that replayed files ask for.
func (m *measurement) addTargets(ctx context.Context, specs []string, f evalFlags) (checks []func(*dataset.Dataset, int) error, err error) {
	params := model.Params{MaxTokens: f.maxTokens}
	if params.Temperature, err = parseTemperature(f.temperature); err != nil {
		return nil, err
	}
	if f.seeded {
		params.Seed = &f.seed
	}
	system, err := systemPrompt(f.system)
	if err != nil {
		return nil, err
	}
	variants, err := m.variants(f)
	if err != nil {
		return nil, err
	}
	for _, spec := range specs {
		t, unknown, err := m.wiring.target(ctx, spec, dataset.RecordingOptions{Prompt: f.prompt, Response: f.responseColumn})
		if err != nil {
			return nil, err
		}
		t.System, t.Params = system, params
		if t.Simulated() && t.Params.Seed == nil {
			seed := int64(simSeed)
			t.Params.Seed = &seed
		}
		if slices.ContainsFunc(m.run.Targets, func(o evaluate.Target) bool { return o.Name == t.Name }) {
			continue
		}
		for _, change := range variants {
			m.run.Targets = append(m.run.Targets, change(t))
		}
		if unknown != nil {
			checks = append(checks, unknown)
		}
	}
	m.config.Targets = m.run.Targets
	// A defence that names no model asks the target's, and finds it again by this.
	for _, t := range m.run.Targets {
		for _, d := range m.config.Defenses {
			if d.Spec == t.Guarded {
				d.Structured[t.Provider] = m.wiring.clients[evaluate.LaneKey{Provider: t.Provider, Endpoint: t.Endpoint}].structured
			}
		}
	}
	return checks, nil
}

// addDataset reads a dataset and says what a user should know of it.
func (m *measurement) addDataset(ctx context.Context, a *app, ref string, f evalFlags) error {
	c := datasetConfig{
		Ref: absolute(ref), Prompt: f.prompt, Category: f.category, Label: f.label, Default: orbench.Label(f.defaultLabel), Cluster: f.cluster,
	}
	// The path as the user wrote it stands in errors.
	opened := c
	opened.Ref = ref
	set, err := opened.open(ctx, a.cacheDir())
	if err != nil {
		return err
	}
	for _, other := range m.run.Datasets {
		if other.SHA256 == set.SHA256 {
			return nil
		}
		if other.Name == set.Name {
			return inputError(ref, "another dataset of this run has the same name", "rename one of the files")
		}
	}
	c.SHA256 = set.SHA256
	m.config.Datasets = append(m.config.Datasets, c)
	m.run.Datasets = append(m.run.Datasets, set)
	a.sayDuplicates(set)
	return nil
}

// sayDuplicates tells of rows that count once.
func (a *app) sayDuplicates(set *dataset.Dataset) {
	if set.Duplicates == 0 {
		return
	}
	a.sayf("%s: %d of %d rows repeat the text of an earlier row and do not count again", set.Name, set.Duplicates, set.Count+set.Duplicates)
	if set.Conflicts > 0 {
		a.sayf("%s: %d of them have another label than the row that counts", set.Name, set.Conflicts)
	}
}
