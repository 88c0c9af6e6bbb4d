package measurement

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/kinds"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/report"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/untrusted"
)

func (a app) reportCommand() *cobra.Command {
	var store string
	var list, methods, findings, published, reread bool
	var models, overTime string
	var accepted []string
	var f figures
	var out command.Output
	c := &cobra.Command{
		Use:   "report [RUN...]",
		Short: "List stored studies, and show them again as tables, pages and plots",
		Long: `Show the figures of stored studies again, by default of the newest run. Nothing is asked.
Several runs are shown side by side, after the settings in which they differ. Studies of
other kinds, such as those of "orbench moderate", are shown one at a time.

--target, --dataset and --judge cut what is shown, --table NAME shows one table alone, and
--format latex is the first table, for a paper. --out DIR has all.

--paper recomputes the figures published with OR-Bench for 32 models, and names the
contradictions within the publication.

--findings shows what goes with the rates of several models: trade-off, date, size,
access, family and category, each with an interval and a verdict. It needs to know the
models: --models FILE, or --paper for the published ones.

--over-time shows the runs of one model as nights: rates, the change from the mean of a
baseline of 30 nights, and an alarm. A model that does not change raises one in at most 5%
of years of 365 nights. With --out it writes a page.

Exit codes: 0 done, 1 no readable answer of a target, 2 bad usage or input, 4 an alarm.`,
		Example: `  orbench report --list
  orbench report
  orbench report run-1a2b3c4d --out reports/mine --format md
  orbench report run-1a2b3c4d --table rates --dataset starter --format latex
  orbench report run-1a2b3c4d --plot tradeoff-column --out tradeoff.pdf
  orbench report run-1a2b3c4d --methods
  orbench report --paper
  orbench report --paper --findings`,
		RunE: func(c *cobra.Command, names []string) error {
			var err error
			switch {
			case list:
				err = command.Only(c, "--list", "list", "store")
			case overTime != "":
				err = command.Only(c, "--over-time", "over-time", "store", "format", "full", "out")
			case published:
				err = command.Only(c, "--paper", "paper", "findings", "format", "full", "out")
			case methods, findings:
				mode := "--findings"
				if methods {
					mode = "--methods"
				}
				err = command.Only(c, mode, "methods", "findings", "models", "store", "target", "dataset", "judge", "accept-model", "reread", "format", "full", "out", "redact")
			}
			switch {
			case err != nil:
				return err
			case list:
				return a.listStudies(c.Context(), store)
			case overTime != "" && len(names) > 0:
				return command.InputError("--over-time", "it shows all runs of a model", "leave names of runs out")
			case overTime != "":
				return a.overTime(c.Context(), store, overTime, out)
			case published:
				return a.paper(names, out, findings)
			case findings && models == "":
				return command.InputError("--findings", "nothing is known of the models", "name a file of them with --models, or use --paper")
			case findings && methods || !findings && models != "":
				return command.InputError("--models", "it is for --findings alone", "give one of --findings and --methods")
			case f.table != "" && out.Plot != "":
				return command.InputError("--table", "a plot is drawn in place of tables", "give one of --table and --plot")
			}
			var show func(report.View) table.View
			if findings {
				public, err := paper.OpenPublic(models)
				if err != nil {
					return err
				}
				show = func(v report.View) table.View { return findingsOf(v.Result, public) }
			}
			if methods {
				show = func(v report.View) table.View { return report.Methods(v) }
			}
			f.out, f.show, f.beside = out, show, len(f.choice.Judges) > 1
			return a.report(c.Context(), store, names, f, accepted, reread)
		},
	}
	c.Flags().StringSliceVar(&f.choice.Targets, "target", nil, "show this `TARGET` alone, with its variants; repeatable")
	c.Flags().StringSliceVar(&f.choice.Datasets, "dataset", nil, "show this `DATASET` alone; repeatable")
	c.Flags().StringSliceVar(&f.choice.Judges, "judge", nil, "show the rates by this `JUDGE`; several stand side by side in a cell of the first table")
	c.Flags().StringVar(&f.table, "table", "", "show the table `NAME` alone, such as rates, counts, categories or differences")
	c.Flags().StringVar(&out.Plot, "plot", "", "write the plot `NAME` as SVG, such as tradeoff, tradeoff-column or radar, or as --out FILE.svg, .pdf or .png")
	c.Flags().BoolVar(&list, "list", false, "list the studies of the store")
	flags := c.Flags()
	flags.BoolVar(&methods, "methods", false, "print the tables of a system card, how its figures were made, and BibTeX")
	flags.BoolVar(&findings, "findings", false, "show what goes with the rates: the models' date, size, access and family, and single categories")
	flags.StringVar(&models, "models", "", "CSV `FILE` of the models for --findings: model, family, size_b, date, access, source")
	flags.StringVar(&overTime, "over-time", "", "show all runs of the target `MODEL` as nights; exit with 4 if the last one raises an alarm")
	flags.BoolVar(&published, "paper", false, "show the figures published with OR-Bench")
	flags.StringArrayVar(&accepted, "accept-model", nil, "count answers under this model `NAME` as the asked model's, if the report says that orbench cannot decide; repeatable")
	flags.BoolVar(&reread, "reread", false, "read the replies as orbench reads them now, not as when the run was made, from now on")
	a.StoreFlag(c, &store)
	out.Register(c)
	flags.BoolVar(&out.Redact, "redact", false, "leave the texts of prompts and answers out of what --out writes")
	return c
}

// report derives stored runs and shows them.
func (a app) report(ctx context.Context, store string, names []string, f figures, accepted []string, reread bool) (err error) {
	out := f.out
	if err := out.Check(); err != nil {
		return err
	}
	if out.Redact && out.Dir == "" && len(out.Places) == 0 {
		return command.InputError("--redact", "what is printed has no texts", "name a folder with --out, or leave it out")
	}
	open := a.OpenReading
	if reread {
		open = a.OpenExisting
	}
	memory, err := open(ctx, store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	if len(names) == 0 {
		names = []string{""}
	}
	var runs []*run.Run
	if len(names) == 1 {
		s, err := a.OpenStudy(ctx, memory, store, names[0])
		if err != nil {
			return err
		}
		if s.Run == nil && f.show != nil {
			return command.InputError("--methods", fmt.Sprintf("it describes runs, and %s is one of orbench %s", s.Name, s.Kind), "leave it out, or name a run")
		}
		if s.Run == nil {
			return a.showStudy(ctx, memory, s, out)
		}
		runs = []*run.Run{s.Run}
	} else if runs, err = a.OpenRuns(ctx, memory, store, names); err != nil {
		return err
	}
	for _, r := range runs {
		r.Accepted = slices.Concat(r.Accepted, accepted)
		if reread {
			if err := errors.Join(r.Reread(), saveAgain(ctx, memory, r.Study)); err != nil {
				return err
			}
		}
	}
	f.runs, f.kept, f.cost = runs, a.OpenIndex(ctx, store, memory), score.Cost{USD: new(float64)}
	defer f.kept.Close()
	result, err := a.derive(ctx, memory, f)
	answered := func(r score.RunResult) bool { return r.Answered+r.Blocked > 0 }
	if err == nil && !slices.ContainsFunc(result.Runs, answered) {
		a.Infof("no answer is stored; to ask, and to see why calls fail: orbench eval --name %s", untrusted.Shell(runs[0].Name))
	}
	if lines := nothingJudged(result); err == nil && len(lines) > 0 {
		a.Infos(lines)
		return command.ErrFailures
	}
	return err
}

// showStudy shows the figures of a study that is no run.
func (a app) showStudy(ctx context.Context, memory store.Reader, s *kinds.Opened, out command.Output) error {
	if out.Dir != "" {
		return command.InputError("--out", fmt.Sprintf("orbench %s has no pages to write", s.Kind), "leave it out, or name a format, as NAME=PATH")
	}
	of := folder.NewSubject("figures of "+s.Name, string(s.Config))
	if err := out.RefuseAnswers("orbench " + string(s.Kind)); err != nil {
		return err
	}
	view, err := s.View(ctx, memory)
	if err != nil {
		return err
	}
	return a.ShowOutput(out, of, false, view)
}

// listStudies prints the studies of a store.
func (a app) listStudies(ctx context.Context, at string) (err error) {
	memory, err := a.OpenReading(ctx, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	studies, err := study.List(ctx, memory)
	if err != nil {
		return fmt.Errorf("%s: %w", address.Shown(at), err)
	}
	list := table.Section{Header: []string{"name", "last started", "asked", "about", "by"}, Left: 5, WrapNames: true}
	gone := map[string][]string{}
	for _, s := range studies {
		if last := s.Kind.Gone(); last != "" {
			gone[last] = append(gone[last], s.Name)
		}
		asked, of, err := kinds.Summary(s)
		if err != nil {
			return fmt.Errorf("%s: %w", address.Shown(at), err)
		}
		list.Rows = append(list.Rows, []string{s.Name, s.Saved.Format(time.DateTime), strings.Join(asked, ", "), strings.Join(of, ", "), "orbench " + string(s.Kind)})
	}
	for _, last := range slices.Sorted(maps.Keys(gone)) {
		list.Note = strings.TrimSpace(list.Note + " No longer shown: " + strings.Join(gone[last], ", ") + ". Show them with " + last + ".")
	}
	var d table.Document
	d.Add(list)
	return d.Text(a.Stdout, a.Screen(false))
}

// saveAgain keeps new settings of a study that the store has.
func saveAgain(ctx context.Context, memory *store.Store, s *study.Study) error {
	kept, err := s.Stored()
	if err != nil {
		return err
	}
	return memory.SaveRun(ctx, kept)
}
