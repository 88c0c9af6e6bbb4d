package measurement

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/interchange"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/paper/view"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
)

// paperFlags put stored runs beside the published study.
type paperFlags struct {
	// study shows it, and as is the published model that a run is compared with.
	study bool
	as    string
}

func (f *paperFlags) register(c *cobra.Command) {
	c.Flags().BoolVar(&f.study, "paper", false, "show the figures published with OR-Bench, beside the named runs")
	c.Flags().StringVar(&f.as, "as", "", "compare the run with the published row of this `MODEL`")
	names := make([]string, 0, 32)
	for _, m := range paper.Models() {
		names = append(names, m.Name)
	}
	command.CompleteFlag(c, "as", names)
}

// paper prints the published study with stored runs beside it, or the comparison of one with
// a published row.
func (a app) paper(ctx context.Context, store string, names []string, out command.Output, f paperFlags) error {
	if err := out.RefuseAnswers("the published study"); err != nil {
		return err
	}
	switch {
	case f.as != "" && (len(names) != 1 || f.study):
		return command.InputError("--as", "one run is compared with a published row", "name one, and leave --paper out")
	case f.as != "" && out.Dir != "":
		return command.InputError("--out", "there are no pages of a comparison with a published row", "leave it out, or print another --format")
	case f.as != "":
		// A wrong name is told before a long run is derived.
		if err := view.CheckModel(f.as); err != nil {
			return err
		}
	default:
		if err := out.CheckPlaces(folder.Subject{}, interchange.Study{}); err != nil {
			return err
		}
	}
	var own score.Result
	var err error
	if len(names) > 0 {
		if own, err = a.storedResult(ctx, store, names); err != nil {
			return err
		}
	}
	if f.as != "" {
		check, err := view.CheckRun(own, f.as)
		if err != nil {
			return err
		}
		return a.ShowOutput(out, folder.Subject{}, false, check)
	}
	study := view.Study{Study: paper.NewStudy(), Own: own}
	if err := a.ShowOutput(out, folder.Subject{}, false, study); err != nil || out.Dir == "" {
		return err
	}
	if err := study.Write(out.Dir); err != nil {
		return err
	}
	a.Infof("wrote %s", filepath.Join(out.Dir, view.PageFile))
	return nil
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
	result, err = run.Aggregated(ctx, memory, runs, walked, kept.Figures)
	end()
	if err == nil {
		result.Provenance.Program = a.Version
	}
	return result, err
}
