package measurement

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/drift"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/study"
)

// overTime shows the runs of a model as nights.
func (a app) overTime(ctx context.Context, at, model string, out command.Output) (err error) {
	if err := errors.Join(out.Check(), out.RefuseAnswers("nights")); err != nil {
		return err
	}
	memory, err := a.OpenReading(ctx, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	studies, err := study.List(ctx, memory, study.Eval)
	if err != nil {
		return err
	}
	kept := a.OpenIndex(ctx, at, memory)
	defer kept.Close()
	nights := drift.Report{Model: model}
	for _, s := range studies {
		r, err := a.OpenRun(ctx, memory, at, s.Name)
		if err != nil {
			return err
		}
		result, err := run.Derive(ctx, memory, []*run.Run{r}, evaluate.Sinks{}, kept.Figures)
		if err != nil {
			return err
		}
		for _, of := range result.Runs {
			if of.Target != model || of.Label != orbench.Safe && of.Label != orbench.Toxic {
				continue
			}
			nights.Simulated = nights.Simulated || result.Simulated
			for _, j := range of.Judges {
				if j.Judged > 0 && !j.Withheld {
					nights.Add(drift.Series{Dataset: of.Dataset, Label: of.Label, Judge: j.Judge}, fmt.Sprint(of.DatasetSHA256, of.Limit, of.Reading), drift.Night{Name: s.Name, Date: s.Saved, Refused: j.Refused, N: j.Judged})
				}
			}
		}
	}
	if len(nights.Series) == 0 {
		return command.InputError("--over-time", "no run has a rate of the target "+model, "orbench report --list shows the targets of runs")
	}
	alarm := nights.Watch()
	if err := a.ShowOutput(out, folder.Subject{}, false, nights); err != nil {
		return err
	}
	if out.Dir != "" {
		if err := nights.Write(out.Dir); err != nil {
			return err
		}
		a.Infof("wrote %s", filepath.Join(out.Dir, drift.PageFile))
	}
	if alarm {
		return command.ErrGate
	}
	return nil
}
