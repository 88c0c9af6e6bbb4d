package experiment

import (
	"cmp"
	_ "embed"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/settings"
)

// Template is a commented experiment.yaml that measures simulated models.
//
//go:embed experiment.yaml
var Template string

// File is an experiment: what a file says, and what is said beside it.
type File struct {
	Experiment
	// Path stands for the file in errors, and is empty where all is said beside it.
	Path string
	text []byte
	said []Said
}

// usage says what to do about an unknown setting.
const usage = `"orbench config init experiment" prints a file with every setting`

// Load reads an experiment: a file, unless path is empty, and what is said in place of
// its settings. It reads the files with system prompts that are named, too.
// Relative paths in the file are taken from its own folder. A fault is an
// *orbench.InputError that names the line, or who said it.
func Load(path string, said ...Said) (*File, error) {
	if path == "" {
		f := &File{Experiment: Default()}
		return f, f.take(said)
	}
	text, err := settings.ReadFile(path, `write one with "orbench config init experiment"`)
	if err != nil {
		return nil, err
	}
	return Parse(path, text, said...)
}

// Parse is Load for the text of a file.
func Parse(path string, text []byte, said ...Said) (*File, error) {
	f := &File{Experiment: Default(), Path: path, text: text}
	if err := f.decode(text); err != nil {
		return nil, err
	}
	return f, f.take(said)
}

// decode reads the text of the file, and has its paths start in its folder.
func (f *File) decode(text []byte) error {
	if err := settings.Decode(f.Path, text, &f.Experiment, usage); err != nil {
		return err
	}
	for i, t := range f.Targets {
		if path, ok := t.Replay(); ok {
			resolved := dataset.ReplayPrefix + f.Resolve(path)
			f.Targets[i].Target, f.Targets[i].resolved, f.Targets[i].written = resolved, resolved, t.Target
		}
	}
	for i, d := range f.Datasets {
		if path, ok := strings.CutPrefix(d.Dataset, dataset.ReplayPrefix); ok {
			f.Datasets[i].Dataset = dataset.ReplayPrefix + f.Resolve(path)
		} else if !dataset.IsName(d.Dataset) && strings.ContainsAny(d.Dataset, `./\`) {
			f.Datasets[i].Dataset = f.Resolve(d.Dataset)
		}
	}
	resolve := func(s *System) {
		if s != nil && s.File != "" {
			s.File, s.written = f.Resolve(s.File), s.File
		}
	}
	for i := range f.Variants.SystemPrompts {
		resolve(&f.Variants.SystemPrompts[i])
	}
	for _, single := range f.Variants.Also {
		resolve(single.System)
	}
	return nil
}

// take replaces settings of the file with those given beside it, whole lists before single
// entries, and checks them all.
func (f *File) take(said []Said) error {
	said = slices.Clone(said)
	slices.SortStableFunc(said, func(a, b Said) int { return strings.Count(a.Path, "[") - strings.Count(b.Path, "[") })
	for _, s := range said {
		if strings.Contains(s.Path, "[") {
			f.addOwnPrompts()
		}
		if err := f.set(s); err != nil {
			return err
		}
		f.said = append(f.said, s)
	}
	f.addOwnPrompts()
	// A limit and a sample exclude each other, so one replaces the other.
	switch limit, draw := f.says("limit"), f.says("sample"); {
	case limit && !draw:
		f.Sample = 0
	case draw && !limit:
		f.Limit = 0
	}
	if fault := f.Check(); fault != nil {
		e := &orbench.InputError{Problem: fault.Problem, Hint: fault.Hint}
		e.File, e.Line = f.Place(fault.Path)
		return e
	}
	return nil
}

// addOwnPrompts has an experiment without datasets ask the prompts of its recorded answers, if
// all its targets are such.
func (f *File) addOwnPrompts() {
	asksModel := func(t Target) bool { _, ok := t.Replay(); return !ok }
	if len(f.Datasets) > 0 || slices.ContainsFunc(f.Targets, asksModel) {
		return
	}
	for _, t := range f.Targets {
		f.Datasets = append(f.Datasets, Dataset{Dataset: t.Target})
	}
}

// says reports whether a setting is given beside the file.
func (f *File) says(path string) bool {
	return slices.ContainsFunc(f.said, func(s Said) bool { return covers(s.Path, path) })
}

// Place says where the setting at a YAML path stands: in a line of the file, or beside it,
// where line is 0.
func (f *File) Place(path string) (where string, line int) {
	at := strings.TrimPrefix(path, "$.")
	var below []string
	for _, s := range f.said {
		if covers(s.Path, at) {
			where = s.From
		} else if covers(at, s.Path) && !slices.Contains(below, s.From) {
			below = append(below, s.From)
		}
	}
	if where != "" {
		return where, 0
	}
	if f.Path != "" {
		return f.Path, settings.Line(f.text, path)
	}
	for _, s := range Settings() {
		if covers(s.Path, at) {
			return s.from(), 0
		}
	}
	return strings.Join(below, ", "), 0
}

// Call is what a setting, such as label-column, is called where it stands: by its flag, or
// by its key in the file; empty for what is no setting of an experiment.
func (f *File) Call(setting string) string {
	called := ""
	for _, s := range Settings() {
		if s.Flag != setting {
			continue
		}
		if slices.ContainsFunc(f.said, func(said Said) bool { return said.From == s.from() }) {
			return s.from()
		}
		called = cmp.Or(called, s.from())
	}
	if f.Path == "" || called == "" {
		return called
	}
	return strings.ReplaceAll(setting, "-", "_")
}

// Resolve makes a path that is relative to the file's folder one that is relative
// to the working directory.
func (f *File) Resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(f.Path), path)
}

// Schema is the JSON Schema of experiment.yaml, for editors that check as one
// types.
//
//go:embed schema.json
var Schema []byte

// UnmarshalYAML reads a target, or an object of its settings.
func (t *Target) UnmarshalYAML(unmarshal func(any) error) error {
	type object Target
	return settings.Either(unmarshal, &t.Target, (*object)(t))
}

// UnmarshalYAML reads a dataset, or an object of its settings.
func (d *Dataset) UnmarshalYAML(unmarshal func(any) error) error {
	type object Dataset
	return settings.Either(unmarshal, &d.Dataset, (*object)(d))
}

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
	if kept.UntilInterval != "" {
		kept.Until, kept.UntilInterval = kept.Until+","+kept.UntilInterval, ""
	}
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
