package run

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/folder"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/table"
)

// Differences lists the settings in which runs that stand together differ.
func Differences(runs []*Run) []provenance.Difference {
	return provenance.Differences(table.RowsOf(runs, func(r *Run) provenance.Run { return provenance.Run{Name: r.Name, Settings: r.Settings()} }))
}

// Subject is what a report of runs is of.
func Subject(runs ...*Run) folder.Subject {
	var names []string
	var configs []EvalConfig
	for _, r := range runs {
		names, configs = append(names, r.Name), append(configs, r.Config.asked())
	}
	return folder.NewSubject("report of "+strings.Join(names, ", "), configs)
}

// Together renames targets so that no two have the same name and the runs can be shown side
// by side. If several runs have a target, and ask it with different settings or on the same
// dataset, its name and those of its variants get the name of the run. A target that runs
// ask with the same settings on different datasets keeps one name, and is paired. The runs
// themselves are left as they are.
func Together(runs []*Run) []*Run {
	named := slices.Clone(runs)
	for i, r := range runs {
		one := *r
		one.Targets = slices.Clone(r.Targets)
		for k, t := range r.Targets {
			if r.confused(cmp.Or(t.Base, t.Name), runs) {
				one.Targets[k] = t.InRun(label(r.Name))
			}
		}
		named[i] = &one
	}
	return named
}

// confused reports whether a target of the run, with its variants, could be taken for
// that of another run.
func (r *Run) confused(target string, runs []*Run) bool {
	mine := r.family(target)
	for _, other := range runs {
		theirs := other.family(target)
		if other == r || len(theirs) == 0 {
			continue
		}
		if slices.ContainsFunc(r.Datasets, func(d *dataset.Dataset) bool {
			return slices.ContainsFunc(other.Datasets, func(o *dataset.Dataset) bool { return o.Name == d.Name })
		}) {
			return true
		}
		for name, t := range mine {
			if o, ok := theirs[name]; ok && !reflect.DeepEqual(t, o) {
				return true
			}
		}
	}
	return false
}

// family is a target and its variants by their names, each as far as it is compared.
func (r *Run) family(target string) map[string]evaluate.Target {
	all := map[string]evaluate.Target{}
	for _, t := range r.Targets {
		if cmp.Or(t.Base, t.Name) == target {
			// Guarded names the defense.
			t.Defense = nil
			all[t.Name] = t
		}
	}
	return all
}

// label is the part of the run's name that a target's name gets: all of it, or both ends of
// a long one.
func label(run string) string {
	const most, head, tail = 28, 10, 17
	if letters := []rune(run); len(letters) > most {
		run = string(letters[:head]) + "…" + string(letters[len(letters)-tail:])
	}
	if strings.HasPrefix(run, "run") {
		return run
	}
	return "run " + run
}
