package measurement

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/interchange"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/trigger"
	"github.com/orbench/orbench/model"
)

// triggersFlags are the flags of triggers.
type triggersFlags struct {
	eval evalFlags
	// experiment is what the flags say of a run that is made; nil where a stored one is named.
	experiment *experiment.File
	// judges are named in place of those of a stored run; nil for its own.
	judges         []string
	judgeMaxTokens int
	labels         []string
	study          trigger.Study
}

func (a app) triggersCommand() *cobra.Command {
	var f triggersFlags
	c := &cobra.Command{
		Use:   "triggers [RUN] | --target PROVIDER/MODEL --dataset NAME|FILE",
		Short: "Find the words that turn answers into refusals",
		Long: `Find which words of prompts turn an answer into a refusal. The search takes half of the
prompts that a target refuses. It deletes content words in ever smaller groups, until it
finds the smallest set without which the target answers. Each set is then tested on the
other half in three ways: it is deleted, beside as many other words; it is replaced by
harmless words; and it is put into prompts that were answered. Only these tests give the
rates and their intervals, because a word that was found by one flipped verdict flips
fewer the next time.

Each prompt takes at most --calls further calls to each target, and a verdict on each
answer. With the name of a stored run, its targets, datasets and first judge are used, and
its answers need no call. A wording that is asked several times counts as refused if more
than half of its verdicts say so. Every answer is stored: after a stop, run the same
command again. "orbench report NAME" shows the result again. Each answer decides what is
asked next, so a search cannot go by batch.

Exit codes: 0 done, 1 finished with failures, 2 bad usage or input, 3 stopped by a
budget, 130 interrupted.`,
		Example: `  orbench triggers --target openai/gpt-4o-mini --dataset or-bench-hard-1k --dry-run
  orbench triggers run-1a2b3c4d --calls 16
  orbench triggers run-1a2b3c4d --labels safe,toxic --judge llm:openai/gpt-4o --out triggers`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			beside := said(c)
			if len(args) == 0 {
				var err error
				for _, s := range beside {
					if strings.HasPrefix(s.From, "--set ") && !s.Plain() {
						return command.InputError(s.From, "triggers are searched only in answers to plain prompts", "leave it out")
					}
				}
				if f.experiment, err = experiment.Load("", beside...); err != nil {
					return err
				}
				f.experiment.JudgeMaxTokens = f.judgeMaxTokens
				return a.triggers(c.Context(), "", f)
			}
			if len(command.Said(c)) > 0 {
				return command.InputError(command.Said(c)[0].From, "the run says this", "leave it out, or name --target and --dataset instead of a run")
			}
			for _, s := range experiment.Settings() {
				if flag := c.Flag(s.Flag); flag != nil && flag.Changed && !s.Judges {
					return command.InputError("--"+s.Flag, "the run says this", "leave it out, or name --target and --dataset instead of a run")
				}
			}
			if c.Flags().Changed("judge") {
				f.judges = []string{c.Flag("judge").Value.String()}
			}
			return a.triggers(c.Context(), args[0], f)
		},
	}
	flags := c.Flags()
	e := &f.eval
	settingFlags(c, true)
	flags.String("judge", "lexical", "`JUDGE` of the answers")
	flags.StringSliceVar(&f.labels, "labels", []string{string(orbench.Safe)}, "`LABELS` of the prompts")
	flags.IntVar(&f.study.Calls, "calls", trigger.DefaultCalls, "most calls to a target for wordings of one prompt, `N`")
	f.study.Words, f.study.Into, f.study.Seed, f.judgeMaxTokens = trigger.DefaultWords, trigger.DefaultInto, 1, 1000
	command.AddSettings(
		c,
		command.Setting{Name: "most", Into: &f.study.Words, Usage: fmt.Sprintf("test this many of the words, or sets of up to three, found most often (default %d)", trigger.DefaultWords)},
		command.Setting{Name: "into", Into: &f.study.Into, Usage: fmt.Sprintf("put each word into at most this many answered prompts (default %d)", trigger.DefaultInto)},
		command.Setting{Name: "split_seed", Into: &f.study.Seed, Usage: "seed that splits the refused prompts and draws words (default 1)"},
		judgeTokens(&f.judgeMaxTokens),
	)
	flags.StringVar(&e.out.Dir, "out", "", "also write the figures and what was found in each prompt to this `DIR`, which is new or holds those of the same study")
	e.out.Printed.Register(c, command.Formats)
	a.RegisterAsking(c, &e.Asking)
	e.Calls.RegisterWorkers(c)
	return c
}

// triggers looks for trigger words.
func (a app) triggers(ctx context.Context, name string, f triggersFlags) (failed error) {
	if err := a.checkTriggers(&f); err != nil {
		return err
	}
	var memory *store.Store
	defer func() {
		if memory != nil {
			failed = errors.Join(failed, memory.Close())
		}
	}()
	if name != "" {
		var err error
		if memory, err = a.OpenExisting(ctx, f.eval.Store); err != nil {
			return err
		}
	}
	r, clients, err := a.openTriggers(ctx, memory, name, f)
	if err != nil {
		return err
	}
	s := f.study
	s.Of(r)
	for _, t := range s.Targets {
		if s.Calls < t.Times() {
			return command.InputError("--calls", fmt.Sprintf("%d calls are too few for %d samples of one wording", s.Calls, t.Times()), "allow more, or ask each wording fewer times")
		}
	}
	kept, err := s.Kept(f.eval.Name, r)
	if err != nil {
		return err
	}
	j := s.Job()
	plans, err := j.Plan(ctx, nil, job.AtMost)
	if err != nil {
		return err
	}
	j.Calls = trigger.Most(plans)
	return a.Run(ctx, command.Running{
		Asking: f.eval.Asking, Study: kept, Job: j, Clients: clients, Memory: memory, Printed: f.eval.out.Printed,
		Check: func() error { return f.eval.out.CheckPlaces(s.Subject(), interchange.Study{}) },
		Foretell: func([]job.Plan) []string {
			return []string{fmt.Sprintf("Wordings: at most %d for each prompt of each target, and none for answered prompts beyond %d of a dataset; remembered ones are counted too.", s.Calls, s.Into)}
		},
		Show: func(ctx context.Context, m store.Reader, _ command.Filled) ([]string, error) {
			return nil, a.showTriggers(ctx, f, s, m)
		},
	})
}

// checkTriggers checks the settings of the study.
func (a app) checkTriggers(f *triggersFlags) error {
	if err := f.eval.Calls.Check(); err != nil {
		return err
	}
	if f.study.Calls < 1 || f.study.Words < 1 || f.study.Into < 0 || f.judgeMaxTokens < 0 {
		return command.InputError("--calls, --set most, into, judge_max_tokens", "the value is too small", "give a positive one")
	}
	for _, name := range f.labels {
		label, ok := orbench.ParseLabel(name)
		if !ok {
			return command.InputError("--labels", fmt.Sprintf("there is no label %q", name), "use safe, toxic, controversial or undecided")
		}
		f.study.Labels = append(f.study.Labels, label)
	}
	return nil
}

// openTriggers opens the run of that name in a store, with clients to ask its targets
// again, or, without a name, makes one of the flags.
func (a app) openTriggers(ctx context.Context, memory store.Reader, name string, f triggersFlags) (*run.Run, *client.Set, error) {
	if name == "" {
		x := f.experiment
		clients, err := a.Clients(f.eval.Calls, x.Providers(), nil)
		if err != nil {
			return nil, nil, err
		}
		r, err := run.New(ctx, &x.Experiment, clients, a.CacheDir())
		if err != nil {
			return nil, nil, run.Placed(x, err)
		}
		a.SayDraw(r.Limit, r.Datasets...)
		return r, clients, nil
	}
	r, err := a.OpenRun(ctx, memory, f.eval.Store, name)
	if err != nil {
		return nil, nil, err
	}
	r.Recorded = false
	named := slices.Clone(f.judges)
	for _, ref := range r.Models() {
		named = append(named, ref.String())
	}
	clients, err := a.Clients(f.eval.Calls, experiment.Providers(named), nil)
	if err != nil {
		return nil, nil, err
	}
	for _, ref := range r.Models() {
		if ref.Provider == model.Replay {
			return nil, nil, command.InputError(name, "its answers were recorded, so its target cannot be asked other wordings", "name a run of a model that can be asked")
		}
		if _, err := clients.Model(ref.String(), ref.Endpoint); err != nil {
			return nil, nil, err
		}
	}
	if len(f.judges) > 0 {
		judges, err := clients.Judges(f.judges, f.judgeMaxTokens)
		if err == nil {
			err = r.SetJudges(judges, f.judgeMaxTokens, clients, false)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return r, clients, nil
}

// showTriggers derives what was found and shows it.
func (a app) showTriggers(ctx context.Context, f triggersFlags, s trigger.Study, memory store.Reader) error {
	dir := f.eval.out.Dir
	if dir == "" {
		result, err := s.Derive(ctx, memory, nil)
		if err != nil {
			return err
		}
		return a.Show(f.eval.out.Printed, result)
	}
	out, err := folder.Create(dir, s.Subject())
	if err != nil {
		return err
	}
	defer out.Discard()
	var result trigger.Result
	if _, err := out.Write("prompts.csv", func(w io.Writer) (err error) {
		add, flush := trigger.SearchedWriter(w)
		if result, err = s.Derive(ctx, memory, add); err != nil {
			return err
		}
		return flush()
	}); err != nil {
		return err
	}
	for _, format := range []table.Format{table.AsJSON, table.AsCSV, table.AsMarkdown} {
		if _, err := out.Write("triggers."+format.Name, format.Of(result)); err != nil {
			return err
		}
	}
	if err := out.Finish(); err != nil {
		return err
	}
	if err := a.Show(f.eval.out.Printed, result); err != nil {
		return err
	}
	a.Infof("wrote %s", filepath.Join(dir, "triggers.md"))
	return nil
}
