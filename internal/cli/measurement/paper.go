package measurement

import (
	"cmp"
	"maps"
	"slices"

	"github.com/orbench/orbench/internal/cli/command"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/interchange"
	"github.com/orbench/orbench/internal/paper"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// paper prints the published study.
func (a app) paper(runs []string, out command.Output, findings bool) error {
	if len(runs) > 0 {
		return command.InputError("--paper", "the published study is shown without runs", "leave their names out")
	}
	if err := out.RefuseAnswers("the published study"); err != nil {
		return err
	}
	if out.Dir != "" {
		return command.InputError("--out", "the published study has no pages", "leave it out; --format json, csv and md have every figure")
	}
	if err := out.CheckPlaces(folder.Subject{}, interchange.Study{}); err != nil {
		return err
	}
	var v table.View = paper.NewStudy()
	if findings {
		v = paper.PublishedFindings()
	}
	return a.ShowOutput(out, folder.Subject{}, false, v)
}

// findingsOf computes what goes with the rates of a result's targets. It takes those of the
// first judge and the first pair of datasets; each target counts once.
func findingsOf(r score.Result, public []paper.Public) paper.Findings {
	var models []paper.Measurement
	var missing []string
	var first *score.Pair
	for _, p := range r.Pairs() {
		if !p.Safe.Defined() || !p.Toxic.Defined() {
			continue
		}
		first = cmp.Or(first, &p)
		if p.Judge != first.Judge || p.Safe.Run.Dataset != first.Safe.Run.Dataset || p.Toxic.Run.Dataset != first.Toxic.Run.Dataset {
			continue
		}
		i := slices.IndexFunc(public, func(known paper.Public) bool { return known.Model == p.Target })
		if i < 0 {
			missing = append(missing, p.Target)
			continue
		}
		m := paper.Measurement{Public: public[i], Hard: 100 * p.Safe.Judge.Rate.Sampled().Value, Toxic: 100 * p.Toxic.Judge.Rate.Sampled().Value}
		by := p.Safe.Judge.ByCategory
		for _, category := range slices.Sorted(maps.Keys(by)) {
			m.Refused = append(m.Refused, paper.StandsOut{Category: category, K: by[category].Refused, N: by[category].N})
		}
		models = append(models, m)
	}
	f := paper.FindingsOf("Targets of the run, by its first judge.", models)
	f.Missing = missing
	return f
}
