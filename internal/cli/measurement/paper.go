package measurement

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/paper/view"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
)

// paperFlags are those of orbench paper.
type paperFlags struct {
	out   command.Output
	store string
	runs  []string
	check string
	as    string
}

func (a app) paperCommand() *cobra.Command {
	var f paperFlags
	c := &cobra.Command{
		Use:   "paper",
		Short: "Compute the published study again, and put your runs beside it",
		Long: `Print and plot the figures that were published with OR-Bench: the trade-off of
32 models with its correlations and curve, refusal by category, the 80K set
against the hard one, family averages, temperature, opening words against GPT-4,
toxic prompts against AdvBench, moderators against people; and where the
publication does not agree with itself. The figures are embedded: nothing is
asked or downloaded.

With --run, stored runs join the tables and plots. With --check, a stored run is
compared with the published row of the model that --as names, by category and
with intervals; the published rates are of an older version of the prompts for
most models and always by another judge, which the output says.`,
		Example: `  orbench paper
  orbench paper --format json
  orbench paper --out reports/paper --run mine
  orbench paper --check mine --as Llama-3-8b`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.paper(c.Context(), f) },
	}
	flags := c.Flags()
	f.out.Register(c)
	flags.Lookup("out").Usage = "also write page, plots (SVG, PNG, PDF) and figures to this new `DIR`"
	flags.StringArrayVar(&f.runs, "run", nil, "put the stored run `NAME` beside the published models; repeatable")
	flags.StringVar(&f.check, "check", "", "compare the stored run `NAME` with a published row; needs --as")
	flags.StringVar(&f.as, "as", "", "published `MODEL` to compare with")
	names := make([]string, 0, 32)
	for _, m := range paper.Models() {
		names = append(names, m.Name)
	}
	command.CompleteFlag(c, "as", names)
	a.StoreFlag(c, &f.store)
	return c
}

// paper prints the study, or the comparison of a run with it.
func (a app) paper(ctx context.Context, f paperFlags) error {
	switch {
	case f.check != "" && f.as == "":
		return command.InputError("--check", "no published model is named", "add --as MODEL; orbench paper --full lists the models")
	case f.as != "" && f.check == "":
		return command.InputError("--as", "no run is named", "add --check RUN")
	case f.check != "" && (len(f.runs) > 0 || f.out.Dir != ""):
		return command.InputError("--check", "it prints a comparison and goes with neither --run nor --out", "leave them out")
	case f.check != "":
		return a.checkPaper(ctx, f)
	}
	if err := errors.Join(f.out.Check(), f.out.CheckDir(folder.Subject{})); err != nil {
		return err
	}
	study := view.Study{Study: paper.NewStudy()}
	if len(f.runs) > 0 {
		own, err := a.storedResult(ctx, f.store, f.runs)
		if err != nil {
			return err
		}
		study.Own = own
	}
	if err := a.Show(f.out.Printed, study); err != nil {
		return err
	}
	if f.out.Dir == "" {
		return nil
	}
	if err := study.Write(f.out.Dir); err != nil {
		return err
	}
	a.Infof("wrote %s", filepath.Join(f.out.Dir, view.PageFile))
	return nil
}

// checkPaper compares a stored run with a published row.
func (a app) checkPaper(ctx context.Context, f paperFlags) error {
	// A wrong name is told before a long run is derived.
	if err := view.CheckModel(f.as); err != nil {
		return err
	}
	own, err := a.storedResult(ctx, f.store, []string{f.check})
	if err != nil {
		return err
	}
	check, err := view.CheckRun(own, f.as)
	if err != nil {
		return err
	}
	return a.Show(f.out.Printed, check)
}

// storedResult derives the figures of stored runs again. Nothing is asked.
func (a app) storedResult(ctx context.Context, store string, names []string) (result score.Result, err error) {
	memory, err := a.OpenReading(ctx, store)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	runs, err := a.OpenRuns(ctx, memory, store, names)
	if err != nil {
		return result, err
	}
	kept := a.OpenIndex(ctx, store, memory)
	defer kept.Close()
	walked, end := a.Walking(runs...)
	result, err = run.Aggregated(ctx, memory, runs, tracked(kept.Figures, walked))
	end()
	if err == nil {
		result.Provenance.Program = a.Version
	}
	return result, err
}
