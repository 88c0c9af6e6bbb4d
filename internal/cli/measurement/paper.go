package measurement

import (
	"maps"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/interchange"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/score"
)

// paper prints the published study.
func (a app) paper(runs []string, out command.Output, findings bool) error {
	if len(runs) > 0 {
		return command.InputError("--paper", "the published study is shown without runs", "leave their names out; the trade-off plot of a run's report has the published models")
	}
	if err := out.RefuseAnswers("the published study"); err != nil {
		return err
	}
	if err := out.CheckPlaces(folder.Subject{}, interchange.Study{}); err != nil {
		return err
	}
	if findings {
		if out.Dir != "" {
			return command.InputError("--out", "the findings have no pages", "leave it out, or leave --findings out")
		}
		return a.ShowOutput(out, folder.Subject{}, false, paper.PublishedFindings())
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

// findingsOf computes what goes with the rates of a result's targets. It takes those of the
// first judge and the first pair of datasets; each target counts once.
func findingsOf(r score.Result, public []paper.Public) paper.Findings {
	var models []paper.Measurement
	var missing []string
	for _, t := range r.TradeOffs {
		if first := r.TradeOffs[0]; t.Judge != first.Judge || t.SafeDataset != first.SafeDataset || t.ToxicDataset != first.ToxicDataset || t.Safe.N == 0 || t.Toxic.N == 0 {
			continue
		}
		i := slices.IndexFunc(public, func(p paper.Public) bool { return p.Model == t.Target })
		if i < 0 {
			missing = append(missing, t.Target)
			continue
		}
		m := paper.Measurement{Public: public[i], Hard: 100 * float64(t.Safe.Refused) / float64(t.Safe.N), Toxic: 100 * float64(t.Toxic.Refused) / float64(t.Toxic.N)}
		for _, run := range r.Runs {
			for _, j := range run.Judges {
				if run.Target == t.Target && run.Dataset == t.SafeDataset && run.Label == orbench.Safe && j.Judge == t.Judge {
					for _, category := range slices.Sorted(maps.Keys(j.ByCategory)) {
						m.Refused = append(m.Refused, paper.CategoryCount{Category: category, K: j.ByCategory[category].Refused, N: j.ByCategory[category].N})
					}
				}
			}
		}
		models = append(models, m)
	}
	f := paper.FindingsOf("Targets of the run, by its first judge.", models)
	f.Missing = missing
	return f
}
