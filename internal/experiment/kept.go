package experiment

import (
	"cmp"
	"slices"
	"strings"

	"github.com/orbench/orbench/internal/dataset"
)

// Kept is a checked experiment as a run keeps it, to go on from any folder.
func (c *Experiment) Kept() Experiment {
	kept := *c
	kept.Targets, kept.Datasets = slices.Clone(c.Targets), slices.Clone(c.Datasets)
	for i, t := range c.Targets {
		if name := t.Called(); name != t.Target {
			kept.Targets[i].Name = name
		}
		if path, ok := t.Replay(); ok {
			kept.Targets[i].Target, kept.Targets[i].Name = dataset.ReplayPrefix+dataset.Absolute(path), t.Called()
		}
	}
	for i, d := range c.Datasets {
		kept.Datasets[i].Dataset = dataset.Absolute(d.Dataset)
	}
	return kept
}

// lists are what a kept experiment has several of.
var lists = []string{"targets", "datasets", "judges"}

// Continue is Load for an experiment that a run keeps: the targets, datasets and judges that are
// said are added to its own, and other settings take the place of its own.
func Continue(kept Experiment, said ...Said) (*File, error) {
	f, more := &File{Experiment: kept}, Experiment{}
	listed := func(s Said) bool {
		of, _, _ := strings.Cut(s.Path, "[")
		return slices.Contains(lists, of) && slices.ContainsFunc(said, func(s Said) bool { return s.Path == of })
	}
	said = slices.Clone(said)
	slices.SortStableFunc(said, func(a, b Said) int { return strings.Count(a.Path, "[") - strings.Count(b.Path, "[") })
	for _, s := range said {
		if listed(s) {
			if err := more.set(s); err != nil {
				return nil, err
			}
		}
	}
	for i, d := range more.Datasets {
		if file, label, ok := cutLabel(d.Dataset); ok {
			more.Datasets[i].Dataset, more.Datasets[i].Label = file, cmp.Or(d.Label, label)
		}
	}
	f.Targets = added(f.Targets, more.Targets, Target.Called)
	f.Datasets = added(f.Datasets, more.Datasets, func(d Dataset) string { return dataset.Absolute(d.Dataset) })
	f.Judges = added(f.Judges, more.Judges, func(j string) string { return j })
	return f, f.take(slices.DeleteFunc(said, listed))
}

// added is a list with those of another that it lacks by their names.
func added[T any](list, more []T, name func(T) string) []T {
	list = slices.Clip(list)
	for _, one := range more {
		if !slices.ContainsFunc(list, func(o T) bool { return name(o) == name(one) }) {
			list = append(list, one)
		}
	}
	return list
}
