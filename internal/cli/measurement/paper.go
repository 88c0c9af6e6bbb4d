package measurement

import (
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/interchange"
	"github.com/orbench/orbench/internal/paper"
)

// paper prints the published study.
func (a app) paper(runs []string, out command.Output) error {
	if len(runs) > 0 {
		return command.InputError("--paper", "the published study is shown without runs", "leave their names out; the trade-off plot of a run's report has the published models")
	}
	if err := out.RefuseAnswers("the published study"); err != nil {
		return err
	}
	if err := out.CheckPlaces(folder.Subject{}, interchange.Study{}); err != nil {
		return err
	}
	study := paper.NewStudy()
	if err := a.ShowOutput(out, folder.Subject{}, false, study); err != nil || out.Dir == "" {
		return err
	}
	if err := study.Write(out.Dir); err != nil {
		return err
	}
	a.Infof("wrote %s", out.Dir)
	return nil
}
