package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/conversation"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/defense"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/reply"
	"github.com/orbench/orbench/internal/rows"
	"github.com/orbench/orbench/internal/settings"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// SettingError is what is wrong with a setting of an experiment.
type SettingError struct {
	// Path is the setting's YAML path, such as $.targets[0].
	Path string
	Err  error
}

// Error is the error's own text, without the path.
func (e *SettingError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *SettingError) Unwrap() error { return e.Err }

// Placed puts the place of a setting to an error of New about it that names none: a line
// of the file, or a flag.
func Placed(x *experiment.File, err error) error {
	var setting *SettingError
	var input *orbench.InputError
	if !errors.As(err, &setting) || !errors.As(err, &input) {
		return err
	}
	at, named := *input, input.File != "" && !strings.HasPrefix(input.File, "-")
	if where, line := x.Place(setting.Path); input.Line == 0 {
		if line == 0 && (named || input.Setting == "base-url") {
			return err
		}
		if named {
			at.Problem = input.File + ": " + input.Problem
		}
		at.File, at.Line = where, line
	}
	return settings.RenameError(&at, x.Call)
}

func wrong(err error, path string, args ...any) error {
	return &SettingError{fmt.Sprintf(path, args...), err}
}

// opening is a run that is being made of an experiment.
type opening struct {
	*Run
	x       *experiment.Experiment
	clients *client.Set
	cache   string
	// recordings are the files of recorded answers among the targets, and replays those of
	// their models.
	recordings map[string]*dataset.Recording
	replays    []*dataset.Replay
}

// New opens what an experiment names: targets in their variants, datasets and
// judges, with the clients that they need. Pulled datasets are found in the folder
// cache. Everything that a user can get wrong is found here, before anything is
// asked or written; a fault of a setting is a *SettingError.
func New(ctx context.Context, x *experiment.Experiment, clients *client.Set, cache string) (*Run, error) {
	o := opening{Run: &Run{Study: &study.Study{}, cache: cache}, x: x, clients: clients, cache: cache, recordings: map[string]*dataset.Recording{}}
	o.Limit, o.Config.Limit, o.Config.Mark = x.Limit, x.Limit, x.Name
	o.Config.Reading, o.Config.Blocks = reply.Present, x.Blocks
	o.Reading = o.Config.reading()
	for _, step := range []func(context.Context) error{o.addTargets, o.addJudges, o.addDatasets, o.addUntil} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	o.keepExperiment()
	for _, m := range o.replays {
		o.Notes = append(o.Notes, m.Repeats())
		for _, set := range o.Datasets {
			if o.wrote(m, set) {
				continue // its models may have been asked different prompts, which is said once
			}
			gap, err := m.Gap(set, x.Limit)
			if err != nil {
				return nil, err
			}
			o.Notes = append(o.Notes, gap)
		}
	}
	for _, set := range o.Datasets {
		if len(o.replays) > 0 {
			set.Attach(o.replays)
		}
	}
	o.Notes = slices.DeleteFunc(o.Notes, func(note string) bool { return note == "" })
	var err error
	if o.Study, err = study.New(study.Eval, x.Name, o.Config, o.Config.asked()); err != nil {
		return nil, err
	}
	o.Keep, o.Adopt, o.Redefines, o.Leaves = o.keep, o.adopt, o.redefines, o.leaves
	return o.Run, nil
}

// wrote reports whether prompts are those of the file that has a model's recorded answers.
func (o *opening) wrote(m *dataset.Replay, set *dataset.Dataset) bool {
	for _, r := range o.recordings {
		if r.Prompts == set && slices.Contains(r.Replays, m) {
			return true
		}
	}
	return false
}

// keepExperiment has the run keep what it is made of, with the addresses of all who are asked.
func (o *opening) keepExperiment() {
	kept := o.x.Kept()
	kept.BaseURLs = map[string]string{}
	at := func(provider, address string) {
		if address != "" && provider != model.Replay {
			kept.BaseURLs[provider] = address
		}
	}
	for _, s := range slices.Concat(o.Config.Judges, o.Config.Defenses) {
		for provider, address := range s.Endpoints {
			at(provider, address)
		}
	}
	for i, t := range o.x.Targets {
		made := slices.IndexFunc(o.Targets, func(made evaluate.Target) bool { return made.Name == t.Called() })
		switch {
		case made < 0:
		case t.BaseURL != "":
			kept.Targets[i].BaseURL = o.Targets[made].Endpoint
		default:
			at(o.Targets[made].Provider, o.Targets[made].Endpoint)
		}
	}
	o.Config.Experiment = &kept
}

// CacheDir is the folder of pulled datasets by the environment, empty where there is none.
func CacheDir(getenv func(string) string) string {
	if dir := getenv("ORBENCH_CACHE"); dir != "" {
		return dir
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(base, "orbench")
}

// addTargets makes the targets, each in every variant.
func (o *opening) addTargets(ctx context.Context) error {
	defenses, err := o.defenses()
	if err != nil {
		return err
	}
	variants := o.x.Expand()
	for i, named := range o.x.Targets {
		targets, err := o.targets(ctx, named)
		if err != nil {
			return wrong(err, "$.targets[%d]", i)
		}
		for _, t := range targets {
			if slices.ContainsFunc(o.Targets, func(o evaluate.Target) bool { return o.Name == t.Name }) {
				return wrong(&orbench.InputError{Problem: fmt.Sprintf("two targets are called %q", t.Name), Hint: "give one of them another name"}, "$.targets[%d]", i)
			}
			for k, variant := range variants {
				if n := variant.Temperature.Samples; t.Provider == model.Replay && n > 1 && n != t.Times() {
					return wrong(&orbench.InputError{
						Problem: fmt.Sprintf("the rows of a prompt are its samples: %s has up to %d, and samples is %d", t.Name, t.Times(), n),
						Hint:    "leave `samples` out, or measure it in an experiment of its own",
					}, "$.targets[%d]", i)
				}
				o.Targets = append(o.Targets, variantOf(t, variant, defenses[k], variant.Labels(variants[0])))
			}
		}
	}
	o.Config.Targets = o.Targets
	// A defense that names no model asks the target's, and finds it again by this.
	for _, t := range o.Targets {
		for _, d := range o.Config.Defenses {
			if d.Name == t.Guarded {
				d.Structured[t.Provider] = o.clients.Client(t.Provider, t.Endpoint).Structured
			}
		}
	}
	return nil
}

// defenses makes the defense of each variant, nil for none.
func (o *opening) defenses() (defenses []*defense.Defense, err error) {
	for _, variant := range o.x.Expand() {
		d, err := o.clients.Defense(string(variant.Defense), o.x.JudgeMaxTokens)
		if err != nil {
			return nil, wrong(err, "%s", o.pathOf(variant.Defense))
		}
		if d.Name() == experiment.None {
			d = nil
		} else if !slices.ContainsFunc(o.Config.Defenses, func(s Spec) bool { return s.Name == d.Name() }) {
			o.Config.Defenses = append(o.Config.Defenses, specOf(d.Name(), o.x.JudgeMaxTokens, d.Models(), o.clients))
		}
		defenses = append(defenses, d)
	}
	return defenses, nil
}

// pathOf is where a defense stands in the experiment.
func (o *opening) pathOf(spec experiment.Defense) string {
	if i := slices.Index(o.x.Variants.Defenses, spec); i >= 0 {
		return fmt.Sprintf("$.variants.defenses[%d]", i)
	}
	i := slices.IndexFunc(o.x.Variants.Also, func(c experiment.Combination) bool { return c.Defense != nil && *c.Defense == spec })
	return fmt.Sprintf("$.variants.also[%d].defense", max(i, 0))
}

// targets makes the plain targets that an experiment names. A file with the recorded
// answers of several models gives several targets.
func (o *opening) targets(ctx context.Context, named experiment.Target) ([]evaluate.Target, error) {
	if path, ok := named.Replay(); ok {
		recording, err := o.recording(ctx, path)
		if err != nil {
			return nil, err
		}
		replays := recording.Replays
		var all []evaluate.Target
		for _, m := range replays {
			t := o.target(named, m.Ref(), nil)
			if m.Samples > 1 {
				t.Samples = m.Samples
			}
			switch {
			case m.Model != "" && named.Name == "":
				t.Name = m.Model
			case m.Model != "" && len(replays) > 1:
				t.Name += "#" + m.Model
			}
			all = append(all, t)
		}
		o.replays, o.Notes = append(o.replays, replays...), append(o.Notes, recording.Notes...)
		return all, nil
	}
	var ref model.Ref
	var err error
	var g *guard.Guard
	if spec, ok := named.Guard(); ok {
		ref, g, err = o.clients.Guard(spec, named.BaseURL)
	} else {
		ref, err = o.clients.Model(named.Target, named.BaseURL)
	}
	return []evaluate.Target{o.target(named, ref, g)}, err
}

// recording opens a file of recorded answers, with the columns of the dataset that it is, if
// it is one of the datasets.
func (o *opening) recording(ctx context.Context, path string) (*dataset.Recording, error) {
	c := study.Dataset{Options: dataset.Options{AssumeSafe: true}}
	for _, d := range o.x.Datasets {
		if d.Dataset == dataset.ReplayPrefix+path {
			c = o.datasetOf(d)
		}
	}
	columns := judge.Columns(o.x.Judges)
	names := slices.Sorted(maps.Keys(columns))
	c.Said = strings.Join(names, "\n")
	recording, err := dataset.OpenRecording(ctx, path, c.Options)
	if err != nil {
		return nil, err
	}
	for _, column := range names {
		of := recording.Said[column]
		for _, v := range annotation.Strangers(columns[column], of) {
			return nil, &orbench.InputError{
				Setting: "judge", Problem: fmt.Sprintf("no row has %s in the column %s", v, column),
				Hint: "it holds " + rows.List(slices.Sorted(maps.Keys(of))) + "; name those that mean a refusal",
			}
		}
	}
	o.recordings[dataset.ReplayPrefix+path] = recording
	return recording, nil
}

// target makes a plain target, which is a guard where g is not nil.
func (o *opening) target(named experiment.Target, ref model.Ref, g *guard.Guard) evaluate.Target {
	t := evaluate.Target{
		Name: named.Called(), Provider: ref.Provider, Endpoint: ref.Endpoint, Model: ref.Model,
		Params: model.Params{MaxTokens: o.x.MaxTokens, Seed: o.x.Seed}, Guard: g,
	}
	if g != nil {
		t.Params = g.Params()
		t.Params.Seed = o.x.Seed
	}
	if named.MaxTokens != nil {
		t.Params.MaxTokens = *named.MaxTokens
	}
	if named.Seed != nil {
		t.Params.Seed = named.Seed
	}
	if t.Simulated() && t.Params.Seed == nil {
		t.Params.Seed = new(int64(client.SimSeed))
	}
	return t
}

// variantOf is a target asked in a way. Its name has a label in brackets for
// everything in which it differs from the plain target, which is its Base.
func variantOf(t evaluate.Target, variant experiment.Variant, d *defense.Defense, labels []string) evaluate.Target {
	t.System, t.Params.Temperature = variant.System.Text, variant.Temperature.Value
	if t.Guard != nil && t.Guard.Format == guard.Classifier {
		// It is sent the text and nothing else.
		t.Params = model.Params{}
	}
	if framing := defense.Framing(variant.Framing); framing.Prefix+framing.Suffix != "" {
		t.Framing = &framing
	}
	if script := conversation.Script(variant.Turns); len(script.Turns) > 0 {
		t.Turns = &script
	}
	if d != nil {
		t.Defense, t.Guarded = d, d.Name()
	}
	if n := variant.Temperature.Samples; n > 1 {
		t.Samples = n
	}
	if len(labels) > 0 {
		t.Name, t.Base = t.Name+" ["+strings.Join(labels, ", ")+"]", t.Name
	}
	return t
}

// addJudges makes the judges, each once.
func (o *opening) addJudges(context.Context) error {
	var all []judge.Judge
	for i, spec := range o.x.Judges {
		judges, err := o.clients.Judges([]string{spec}, o.x.JudgeMaxTokens)
		if err != nil {
			return wrong(err, "$.judges[%d]", i)
		}
		for _, j := range judges {
			if slices.ContainsFunc(all, func(o judge.Judge) bool { return o.Name() == j.Name() }) {
				o.Notes = append(o.Notes, j.Name()+" is named twice and judges once")
			} else {
				all = append(all, j)
			}
		}
	}
	return o.SetJudges(all, o.x.JudgeMaxTokens, o.clients)
}

// sampleSeed is the seed by which prompts are drawn.
func (o *opening) sampleSeed() uint64 {
	if o.x.SampleSeed != nil {
		return *o.x.SampleSeed
	}
	return dataset.UsualSampleSeed
}

// addDatasets opens the datasets; two with the same prompts are one.
func (o *opening) addDatasets(ctx context.Context) error {
	for i, d := range o.x.Datasets {
		if err := o.addDataset(ctx, d); err != nil {
			return wrong(err, "$.datasets[%d]", i)
		}
	}
	for _, assumed := range o.Datasets {
		for _, other := range o.Datasets {
			if assumed.LabelAssumed && !other.LabelAssumed {
				return wrong(&orbench.InputError{
					Problem: fmt.Sprintf("no column of %s holds labels, so its prompts would count as safe, beside %s, whose labels are known", assumed.Name, other.Name),
					Hint:    "say what they are: write " + assumed.Source + "=toxic, or =safe",
				}, "$.datasets")
			}
		}
	}
	return nil
}

// datasetOf names a dataset, with the options by which it is read.
func (o *opening) datasetOf(d experiment.Dataset) study.Dataset {
	c := study.Dataset{Ref: d.Dataset, Options: dataset.Options{
		Prompt: d.Prompt, Category: d.Category, Label: d.Labels, LabelValues: d.LabelValues, Default: orbench.Label(d.Label),
		Response: d.Response, User: d.User, Join: d.Join, Unlabeled: d.Unlabeled,
	}}
	if d.Prompts != "" {
		c.Prompts = dataset.Absolute(d.Prompts)
	}
	if o.x.Sample > 0 {
		c.Sample, c.SampleSeed = o.x.Sample, o.sampleSeed()
	}
	return c
}

func (o *opening) addDataset(ctx context.Context, d experiment.Dataset) (err error) {
	c := o.datasetOf(d)
	var set *dataset.Dataset
	if recording := o.recordings[d.Dataset]; recording != nil {
		set = recording.Prompts
	} else if set, err = c.Open(ctx, o.cache, o.answers()); err != nil { // the path as the user wrote it stands in errors
		return err
	}
	for _, other := range o.Datasets {
		if other.SHA256 == set.SHA256 {
			if o.recordings[d.Dataset] == nil {
				o.Notes = append(o.Notes, d.Dataset+" adds no prompts to those of "+other.Name+", which are asked once")
			}
			return nil
		}
		if other.Name == set.Name {
			return &orbench.InputError{File: d.Dataset, Problem: "another dataset of this run has the same name", Hint: "rename one of the files"}
		}
	}
	c.Ref, c.SHA256 = dataset.Absolute(d.Dataset), set.SHA256
	o.Config.Datasets = append(o.Config.Datasets, c)
	o.Datasets = append(o.Datasets, set)
	return nil
}
