package report

import (
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/table"
)

// Choice says which figures of a result are shown; an empty list leaves out none. A target is
// chosen with its variants.
type Choice struct{ Targets, Datasets, Judges []string }

// Of returns the part of a result that is chosen, with the judges in the order of the choice.
// A name that the result does not have is an *orbench.InputError.
func (c Choice) Of(r score.Result) (score.Result, error) {
	var targets, datasets table.Names
	for _, run := range r.Runs {
		targets.Add(run.Target)
		if run.Base != "" {
			targets.Add(run.Base)
		}
		datasets.Add(run.Dataset)
	}
	for _, of := range []struct {
		flag        string
		chosen, has []string
	}{{"target", c.Targets, targets}, {"dataset", c.Datasets, datasets}, {"judge", c.Judges, r.Judges()}} {
		for _, name := range of.chosen {
			if !slices.Contains(of.has, name) {
				return r, &orbench.InputError{Setting: of.flag, Problem: "the report has no " + of.flag + " " + name, Hint: "it has " + strings.Join(of.has, ", ")}
			}
		}
	}
	bases := map[string]string{}
	var runs []score.RunResult
	for _, run := range r.Runs {
		bases[run.Target] = run.Base
		if chosen(c.Targets, run.Target, run.Base) && chosen(c.Datasets, run.Dataset) {
			if c.Judges != nil {
				of := run
				run.Judges = nil
				for _, name := range c.Judges {
					if j := of.By(name); j != nil {
						run.Judges = append(run.Judges, *j)
					}
				}
				run.Agreement = slices.DeleteFunc(slices.Clone(run.Agreement), func(a score.Agreement) bool { return !chosen(c.Judges, a.A) || !chosen(c.Judges, a.B) })
			}
			runs = append(runs, run)
		}
	}
	r.Runs = runs
	// What is of no single target, such as a correlation, is of all of them.
	r.Figures = slices.DeleteFunc(slices.Clone(r.Figures), func(f figure.Figure) bool {
		return !chosen(c.Targets, f.Target, bases[f.Target]) || f.Other != "" && bases[f.Other] == "" && !chosen(c.Targets, f.Other) ||
			!chosen(c.Datasets, f.Dataset) || f.OtherDataset != "" && !chosen(c.Datasets, f.OtherDataset) || f.Judge != "" && !chosen(c.Judges, f.Judge)
	})
	return r, nil
}

// chosen reports whether a list has one of some names, or is empty.
func chosen(list []string, names ...string) bool {
	return len(list) == 0 || slices.ContainsFunc(names, func(name string) bool { return slices.Contains(list, name) })
}
