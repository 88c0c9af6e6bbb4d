package data

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/generator"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/contrast"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/model/sim"
	"github.com/orbench/orbench/moderate"
	"github.com/orbench/orbench/policy"
)

// contrastFlags are the flags of contrast.
type contrastFlags struct {
	axes, languages   []string
	generator, policy string
	moderators        []string
	rule              moderate.Rule
	each, limit       int
	maxTokens         int
	columns           dataset.Options
	out               string
	command.Printed
	command.Asking
}

func (a app) contrastCommand() *cobra.Command {
	var f contrastFlags
	c := &cobra.Command{
		Use:   "contrast DATASET --out DIR",
		Short: "Make wordings of prompts that differ in one thing",
		Long: `Make a contrast set. For every prompt of a dataset, a model writes several wordings of
the same intent that differ along one axis:

  degree         safe, borderline and toxic
  authorization  by somebody who has the right to do it, and by somebody who has not
  group          about anybody, about a group that is seldom treated unfairly, and
                 about one that often is
  fiction        about the real world, and within a story
  language       in each of --languages

Wordings are checked by the rules of "orbench build" that apply. If a wording breaks a
rule, the model is asked once more. Duplicates are dropped, and moderators vote on the
label of the rest. The set is a dataset that keeps its pairs: "orbench eval" reports how a
target treats each pair.

Each reply is stored before it counts; after an interruption, run the same command again.
"orbench report NAME" shows the counts again, without the folder.

Exit codes: 0 done, 1 finished with failures, 2 bad usage or input, 3 stopped by a
budget, 130 interrupted.`,
		Example: `  orbench contrast starter --limit 20 --generator sim/generator --moderator sim/moderator-a,sim/moderator-b,sim/moderator-c --out contrast
  orbench contrast xstest --axis degree,authorization --generator openai/gpt-4o --moderator anthropic/claude-sonnet-4-5 --dry-run
  orbench contrast mine.csv --axis language --languages fr,sw --generator openai/gpt-4o --moderator openai/gpt-4o-mini --out languages`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.contrast(c.Context(), args[0], f) },
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.axes, "axis", settings.Names(generator.Axes[:4]), "`AXIS` to vary; repeatable or comma separated")
	flags.StringSliceVar(&f.languages, "languages", nil, "`LANGUAGE`s of the axis language, by code or name; comma separated")
	flags.StringVar(&f.generator, "generator", "", "`PROVIDER/MODEL` that writes the wordings")
	flags.StringSliceVar(&f.moderators, "moderator", nil, "`PROVIDER/MODEL` or guard:FORMAT@PROVIDER/MODEL that votes; repeatable or comma separated")
	flags.StringVar(&f.policy, "policy", policy.Default, "`POLICY` to vote by, a name or a YAML file")
	command.RuleFlag(c, &f.rule)
	flags.IntVar(&f.each, "each", 1, "`N` wordings of each prompt for each value")
	command.DrawFlags(c, &f.limit, &f.columns)
	command.AddSettings(c, command.SampleSeed(&f.columns))
	flags.IntVar(&f.maxTokens, "max-tokens", 1000, "most output tokens of a reply")
	command.ColumnFlags(c, &f.columns)
	flags.StringVar(&f.out, "out", "", "new `DIR` for the set")
	f.Printed.Register(c, command.Formats)
	a.RegisterAsking(c, &f.Asking)
	f.Calls.RegisterBatch(c)
	f.Calls.RegisterWorkers(c)
	return c
}

// contrast makes a contrast set.
func (a app) contrast(ctx context.Context, ref string, f contrastFlags) error {
	r, clients, err := a.prepareContrast(ctx, ref, f)
	if err != nil {
		return err
	}
	s, err := r.Study(f.Name, study.DatasetOf(ref, f.columns, r.Dataset), f.languages)
	if err != nil {
		return err
	}
	return a.Run(ctx, command.Running{
		Asking: f.Asking, Study: s, Job: r.Job(), Clients: clients, Printed: f.Printed,
		Show: func(ctx context.Context, m store.Reader, filled command.Filled) ([]string, error) {
			if filled.Halted() {
				view, err := r.View(ctx, m)
				if err != nil {
					return nil, err
				}
				return []string{"the set is written to " + f.out + " once the command has come to its end"}, a.Show(f.Printed, view)
			}
			result, err := a.writeContrast(ctx, r, m, f)
			if err != nil || result.Missing() == 0 {
				return nil, err
			}
			return []string{fmt.Sprintf("%d replies are missing from the set; once they are there, the same command replaces %s", result.Missing(), f.out)}, nil
		},
	})
}

// prepareContrast checks everything that a user can get wrong, before anything is
// asked or written.
func (a app) prepareContrast(ctx context.Context, ref string, f contrastFlags) (*contrast.Run, *client.Set, error) {
	fail := func(err error) (*contrast.Run, *client.Set, error) { return nil, nil, err }
	switch {
	case f.generator == "":
		return fail(command.InputError("--generator", "no generator is named", "name a model, such as sim/generator"))
	case f.each < 1 || f.maxTokens < 1:
		return fail(command.InputError("--each, --max-tokens", "the value is too small", "give a positive one"))
	case f.out == "" && !f.Calls.DryRun:
		return fail(command.InputError("--out", "no folder is named for the set", "name a new one, such as --out contrast"))
	}
	r := &contrast.Run{Limit: f.limit, Each: f.each, Rule: f.rule, Name: f.generator}
	for _, name := range f.axes {
		axis, err := generator.ParseAxis(name)
		switch {
		case err != nil:
			return fail(err)
		case axis == generator.Language && len(f.languages) == 0:
			return fail(command.InputError("--languages", "no language is named", "name some, such as --languages fr,sw"))
		case slices.ContainsFunc(r.Wordings, func(w generator.Wording) bool { return w.Axis == axis }):
			return fail(command.InputError("--axis", name+" is there twice", "name each once"))
		}
		r.Wordings = append(r.Wordings, axis.Wordings(f.languages)...)
	}
	if len(f.languages) > 0 && !slices.Contains(f.axes, string(generator.Language)) {
		return fail(command.InputError("--languages", "languages are given without their axis", "add --axis language"))
	}
	err := errors.Join(f.Calls.Check(), command.CheckDraw(f.limit, f.columns))
	if err != nil {
		return fail(err)
	}
	if r.Policy, err = policy.Open(f.policy); err != nil {
		return fail(err)
	}
	clients, err := a.Clients(f.Calls, experiment.Providers(append([]string{f.generator}, f.moderators...)), nil)
	if err != nil {
		return fail(err)
	}
	if r.Generator, err = clients.Model(f.generator, ""); err != nil {
		return fail(err)
	}
	// Simulated generators are asked as models are that know no schema, as in a build.
	r.Params = generator.Params{MaxTokens: f.maxTokens, Structured: r.Generator.Provider != sim.Provider && clients.Structured(r.Generator.Provider)}
	if r.Moderators, err = command.Moderators(clients, f.moderators, f.maxTokens); err != nil {
		return fail(err)
	}
	f.columns.Cache = a.CacheDir()
	if r.Dataset, err = dataset.Open(ctx, ref, f.columns); err != nil {
		return fail(err)
	}
	if f.out != "" {
		if err := folder.Vacant(f.out, r.Subject()); err != nil {
			return fail(err)
		}
	}
	a.SayDraw(f.limit, r.Dataset)
	return r, clients, nil
}

// writeContrast derives the set, writes its folder and shows its counts.
func (a app) writeContrast(ctx context.Context, r *contrast.Run, memory store.Reader, f contrastFlags) (*contrast.Result, error) {
	result, err := r.Write(ctx, memory, f.out)
	if err != nil {
		return nil, err
	}
	if err := a.Show(f.Printed, result); err != nil {
		return nil, err
	}
	path := filepath.Join(f.out, contrast.CSVFile)
	a.Infof("wrote %d prompts to %s; orbench eval --target MODEL --dataset %s reports by pair", result.Prompts, path, untrusted.Shell(path))
	return result, nil
}
