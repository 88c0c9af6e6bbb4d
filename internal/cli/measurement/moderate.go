package measurement

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/internal/moderation"
	"github.com/orbench/orbench/internal/policy"
	"github.com/orbench/orbench/internal/sheet"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
)

// explanationTokens is how many tokens a moderator's explanation has at most.
const explanationTokens = 1000

// moderateFlags are the flags of moderate.
type moderateFlags struct {
	policies, moderators []string
	rule                 moderate.Rule
	limit                int
	columns              dataset.Options
	file                 string
	command.Printed
	command.Asking
}

func (a app) moderateCommand() *cobra.Command {
	var f moderateFlags
	c := &cobra.Command{
		Use:   "moderate DATASET",
		Short: "Let moderators label prompts, under one policy or several",
		Long: `Ask moderators to vote on the prompts of a dataset, under one or more policies. The
labels are shown, with those that change from the first policy to each other one, or from
the dataset's own to those of the only policy, and Cohen's kappa.

Policies are names (see "orbench policy list") or YAML files. Moderators are models. They
get the questions of "orbench build", so votes that a build paid for are reused. Votes are
kept in the store by their --name before they count: the same command goes on after an
interruption, and "orbench report NAME" shows them again.

--batch submits what is missing and collects what has come. Give the same command again
until all votes are there, or wait with --batch=wait. Moderators whose provider has no batch
service are asked at once.

--out writes every prompt with its labels and votes, and whether its label changes. The
file is a dataset and keeps the original labels, if there are any, and the other columns of
its first row.`,
		Example: `  orbench moderate starter --policy paper,security --moderator sim/moderator-a,sim/moderator-b,sim/moderator-c
  orbench moderate or-bench-80k --policy paper,mine.yaml --moderator openai/gpt-4o-mini --limit 500 --dry-run
  orbench moderate mine.csv --policy medical --moderator anthropic/claude-sonnet-4-5 --out moderated.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.moderate(c.Context(), args[0], f) },
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.policies, "policy", []string{policy.Default}, "`POLICY` to vote by, a name or a YAML file; repeatable or comma separated")
	flags.StringSliceVar(&f.moderators, "moderator", nil, "`PROVIDER/MODEL` or guard:FORMAT@PROVIDER/MODEL that votes; repeatable or comma separated")
	rules := []string{string(moderate.Majority), string(moderate.Unanimous)} // no flag gives weights
	command.ChoiceFlag(c, (*string)(&f.rule), "rule", rules, "there is no rule", "`RULE` by which votes decide: majority or unanimous")
	command.DrawFlags(c, &f.limit, &f.columns)
	command.NameFlags(c, &f.columns)
	flags.StringVar(&f.file, "out", "", "write every prompt with its labels and votes to this new .csv or .jsonl `FILE`")
	f.Printed.Register(c, command.Formats)
	a.RegisterAsking(c, &f.Asking)
	f.Calls.RegisterBatch(c)
	f.Calls.RegisterWorkers(c)
	return c
}

// prepareModeration checks everything that a user can get wrong, before anything is
// asked or written.
func (a app) prepareModeration(ctx context.Context, ref string, f moderateFlags) (*moderation.Run, *client.Set, error) {
	if err := errors.Join(f.Calls.Check(), command.CheckDraw(f.limit, f.columns), fileEnding("--out", f.file, ".csv", ".jsonl")); err != nil {
		return nil, nil, err
	}
	r := &moderation.Run{Limit: f.limit, Rule: f.rule}
	for _, name := range f.policies {
		p, err := policy.Open(name)
		if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(r.Policies, func(other policy.Policy) bool { return other.Name == p.Name }) {
			return nil, nil, command.InputError("--policy", fmt.Sprintf("two policies are called %q", p.Name), "name each once, and files differently")
		}
		r.Policies = append(r.Policies, p)
	}
	clients, err := a.Clients(f.Calls, experiment.Providers(f.moderators), nil)
	if err != nil {
		return nil, nil, err
	}
	if r.Moderators, err = command.Moderators(clients, f.moderators, explanationTokens); err != nil {
		return nil, nil, err
	}
	f.columns.Cache, f.columns.AssumeSafe = a.CacheDir(), true
	if r.Dataset, err = dataset.Open(ctx, ref, f.columns); err != nil {
		return nil, nil, err
	}
	a.Infos(r.Dataset.Notes())
	a.SayDraw(f.limit, r.Dataset)
	if f.file != "" {
		err = folder.VacantFile(f.file, r.Subject("labels"))
	}
	return r, clients, err
}

// moderate puts a dataset to the vote and shows what came of it.
func (a app) moderate(ctx context.Context, ref string, f moderateFlags) error {
	r, clients, err := a.prepareModeration(ctx, ref, f)
	if err != nil {
		return err
	}
	s, err := r.Study(f.Name, study.DatasetOf(ref, f.columns, r.Dataset))
	if err != nil {
		return err
	}
	return a.Run(ctx, command.Running{
		Asking: f.Asking, Study: s, Job: r.Job(), Clients: clients, Printed: f.Printed,
		Show: func(ctx context.Context, m store.Reader, filled command.Filled) (missing, unjudged []string, err error) {
			err = a.showModeration(ctx, r, m, f, filled.Unfinished())
			if err == nil && filled.Unfinished() && f.file != "" {
				a.Infof("%s holds what there is so far; the same command writes it again", f.file)
			}
			return nil, nil, err
		},
	})
}

// showModeration derives the labels, shows them and writes the file, from which some votes
// may be missing.
func (a app) showModeration(ctx context.Context, r *moderation.Run, memory store.Reader, f moderateFlags, unfinished bool) error {
	var rows [][]string
	result, err := r.Derive(ctx, memory, func(row moderation.PromptVotes) error {
		if f.file != "" && row.Missing == 0 {
			rows = append(rows, row.Cells())
		}
		return nil
	})
	if err != nil {
		return err
	}
	if f.file == "" {
		return a.Show(f.Printed, result)
	}
	columns, ofFile, err := r.Dataset.Own(r.Columns())
	if err != nil {
		return err
	}
	for i, cells := range rows {
		if own := ofFile[orbench.PromptID(cells[0])]; own != nil {
			cells[0] = cmp.Or(own[0], cells[0])
			rows[i] = append(cells, own[1:]...)
		}
	}
	file, err := folder.CreateFile(f.file, r.Subject("labels"))
	if err != nil {
		return err
	}
	if err := sheet.Write(file, strings.EqualFold(filepath.Ext(f.file), ".jsonl"), append(r.Columns(), columns...), rows); err != nil {
		return errors.Join(err, file.Discard())
	}
	if err := file.Finish(unfinished); err != nil {
		return err
	}
	a.Infof("wrote %d prompts to %s", len(rows), f.file)
	return a.Show(f.Printed, result)
}
