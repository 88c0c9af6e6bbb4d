package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/judge"
)

// Run is a study of the kind eval, opened: what it names is there.
type Run struct {
	evaluate.Run
	*study.Study
	// Config is what the store keeps of the run.
	Config EvalConfig
	// lost counts the prompts of each dataset that damage to the store took.
	lost []int
	// cache is the folder of pulled datasets, for a run that is new.
	cache string
	// Changed names dataset files that no longer hold what the run asked; its prompts come
	// from the store.
	Changed []string
	// Notes say what files of recorded answers lack and what they repeat.
	Notes []string
	// whole is the run of which this has one target; nil for one that has all.
	whole *Run
}

// Stored is a run as it lies in a store.
type Stored struct {
	*study.Study
	Config EvalConfig
}

// List gives the runs of a store, the one saved last first.
func List(ctx context.Context, m store.Reader) ([]Stored, error) {
	studies, err := study.List(ctx, m, study.Eval)
	if err != nil {
		return nil, err
	}
	all := make([]Stored, len(studies))
	for i, s := range studies {
		if all[i], err = Of(s); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Find finds a run by its name; an empty name finds the run saved last. The error is an
// *orbench.InputError if the store has no such run.
func Find(ctx context.Context, m store.Reader, name string) (Stored, error) {
	s, err := study.Find(ctx, m, name, study.Eval)
	if err != nil {
		return Stored{}, err
	}
	return Of(s)
}

// Of is a study of the kind eval as a run.
func Of(s *study.Study) (Stored, error) {
	r := Stored{Study: s}
	if err := json.Unmarshal(s.Config, &r.Config); err != nil {
		return r, fmt.Errorf("the configuration of run %s is damaged: %w", s.Name, err)
	}
	r.Config.withoutGone()
	return r, nil
}

// Open opens the datasets, judges and defenses of a stored run. It needs no key: nothing
// can be asked of the run's targets again. The prompts come from the store, which must
// stay open, or, for a run of an older store, from files that have not changed since;
// these the store then keeps, if it can. Pulled datasets are found in the folder cache.
func (s Stored) Open(ctx context.Context, m store.Reader, cache string) (*Run, error) {
	if len(s.Config.Targets) == 0 && len(s.Config.translated) > 0 {
		return nil, &orbench.InputError{
			Problem: fmt.Sprintf("the run %s asked all its prompts in translation, which is gone", s.Name), Hint: "show it with " + provenance.LastToShow,
		}
	}
	opened, err := s.Config.open()
	if err != nil {
		return nil, err
	}
	r := &Run{Run: *opened, Study: s.Study, Config: s.Config}
	r.Keep = r.keep
	if len(s.Keys) == len(s.Config.Datasets) {
		asked := study.Asked{Limit: s.Config.Limit, Answers: r.answers(), Ordered: s.Config.Ends()}
		for i, d := range s.Config.Datasets {
			kept, err := s.Recall(ctx, m, i, d, asked, cache)
			if err != nil {
				return r, err
			}
			r.Datasets, r.lost, r.Changed = append(r.Datasets, kept.Set), append(r.lost, kept.Lost), append(r.Changed, kept.Changed...)
		}
		return r, nil
	}
	for _, d := range s.Config.Datasets {
		set, err := d.Open(ctx, cache, r.answers())
		if err != nil {
			return nil, err
		}
		r.Datasets = append(r.Datasets, set)
	}
	if keeper, ok := m.(store.Keeper); ok {
		if err := r.Study.Save(ctx, keeper, s.Saved); !errors.Is(err, store.ErrReadOnly) {
			return r, err
		}
	}
	return r, nil
}

// answers reports whether prompts may end with an answer: no dialog can be around one that
// does.
func (r *Run) answers() bool {
	return !slices.ContainsFunc(r.Targets, func(t evaluate.Target) bool { return t.Guard == nil || t.Turns != nil })
}

// keep has the store keep the prompts that the run asks, and takes them from there.
func (r *Run) keep(ctx context.Context, m store.Keeper) (keys []store.Key, err error) {
	for i, set := range r.Datasets {
		key, err := study.KeepDataset(ctx, m, set, r.Limit, r.Config.Datasets[i])
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
		if reader, ok := m.(store.Reader); ok && !set.Held() {
			r.Datasets[i] = dataset.Kept(*set, reader.Prompts(context.WithoutCancel(ctx), key))
		}
	}
	return keys, nil
}

// resolve writes the settings of the run down as they are now.
func (r *Run) resolve() (err error) {
	r.Study.Config, err = json.Marshal(r.Config.whole())
	return err
}

// SetJudges replaces the judges of the run with others, made by clients with maxTokens.
// What guards say is no answer, so a run of guards takes only
// the judge flag, and no other run takes it; otherwise the error says so.
func (r *Run) SetJudges(judges []judge.Judge, maxTokens int, clients *client.Set) error {
	for _, j := range judges {
		if guards := r.Guards(); guards != (j.Name() == judge.Flag) {
			problem := "the judge flag reads the replies of guards, but the targets are not guards"
			if guards {
				problem = "the targets are guards: their replies are not answers, and only the judge flag reads them"
			}
			return &orbench.InputError{Setting: "judge", Problem: problem, Hint: "show the run as it is: orbench report RUN"}
		}
	}
	r.Judges, r.Config.Judges = judges, SpecsOf(judges, maxTokens, clients)
	return r.resolve()
}

// AddJudges adds judges to those of the run, which stay first; see SetJudges. A judge of
// the same name replaces the run's; see Revise.
func (r *Run) AddJudges(ctx context.Context, m store.Reader, judges []judge.Judge, maxTokens int, clients *client.Set, anew string) error {
	own, specs := r.Judges, r.Config.Judges
	kept, err := undamaged(ctx, m)
	if err == nil {
		err = r.SetJudges(judges, maxTokens, clients)
	}
	if err == nil {
		err = r.follow(kept)
	}
	if err != nil {
		return err
	}
	if err := Revise(r.Judges, r.Config.Judges, specs, anew); err != nil {
		return err
	}
	for i, s := range r.Config.Judges {
		if k := slices.IndexFunc(specs, func(o Spec) bool { return o.Name == s.Name }); k >= 0 {
			for of, was := range specs[k].Endpoints {
				if was != "" && s.Endpoints[of] != was && clients.Given[of] == "" && anew == "" {
					return &orbench.InputError{
						Problem: fmt.Sprintf("the run has its verdicts of the judge %s from %s, and those of another server would take their place", s.Name, was),
						Hint:    fmt.Sprintf("name that address with `base-url`, as %s=%s, or ask anew with `fresh`", of, was),
					}
				}
			}
			own[k], specs[k] = r.Judges[i], s
		} else {
			own, specs = append(own, r.Judges[i]), append(specs, s)
		}
	}
	r.Judges, r.Config.Judges = own, specs
	return r.resolve()
}

// Guards reports whether the targets are guards.
func (r *Run) Guards() bool { return len(r.Targets) > 0 && r.Targets[0].Guard != nil }

// Only is the run with the target of that name alone, with all of its samples, or with the
// further sample of that name alone; nil if there is none.
func (r *Run) Only(target string) *Run {
	for _, t := range r.Targets {
		for i, sample := range t.Each() {
			if sample.Name != target {
				continue
			}
			if i == 0 {
				sample = t
			}
			only := *r
			only.Targets, only.whole = []evaluate.Target{sample}, r.Whole()
			return &only
		}
	}
	return nil
}

// Whole is the run with all its targets; see Only.
func (r *Run) Whole() *Run { return cmp.Or(r.whole, r) }

// TargetNames lists the names of the targets and of their samples.
func (c EvalConfig) TargetNames() []string {
	return table.RowsOf(c.Targets.each(), func(t evaluate.Target) string { return t.Name })
}

// JudgeNames lists the names of the judges.
func (c EvalConfig) JudgeNames() []string {
	return table.RowsOf(c.Judges, func(j Spec) string { return j.Name })
}

// Derive computes the figures of runs, side by side in one result, with targets named
// as by Together and the figures of each as of gives them. Its Cost and the program of its
// Provenance are left empty.
func Derive(ctx context.Context, m store.Reader, runs []*Run, sinks evaluate.Sinks, of Figures) (score.Result, error) {
	result := score.Result{Runs: []score.RunResult{}, SettingsThatDiffer: Differences(runs), Provenance: &provenance.Record{}}
	for i, run := range Together(runs) {
		sinks.Usage = price.Usage{}
		r, err := of(ctx, m, run, sinks)
		if err != nil {
			return result, err
		}
		made, err := runs[i].made(sinks.Usage, r)
		if err != nil {
			return result, err
		}
		result.Provenance.Runs = append(result.Provenance.Runs, made)
		for _, t := range run.Config.translated {
			result.LeftOut = append(result.LeftOut, t.Name)
		}
		for _, s := range run.Config.counting {
			result.LeftOut = append(result.LeftOut, s.Name)
		}
		for i := range r.Runs {
			if len(runs) > 1 {
				r.Runs[i].Run = run.Name
			}
		}
		result.Add(r)
	}
	result.Provenance.Damage = Damage(m)
	if len(runs) > 1 {
		said, err := m.Annotations(ctx)
		if err != nil {
			return result, err
		}
		for _, a := range said {
			result.Say(a.Kin)
		}
	}
	result.Finish()
	return result, nil
}

// Damage is what a store was found to have lost so far, nil for nothing.
func Damage(m store.Reader) *provenance.Damage {
	found := m.LeftOut()
	if found.Sound() {
		return nil
	}
	d := &provenance.Damage{Lost: []provenance.Lost{}, Faults: append([]string{}, found.Faults...)}
	for _, k := range found.Kinds {
		if k.Lost > 0 {
			d.Lost = append(d.Lost, provenance.Lost{Kind: k.Kind, Count: k.Lost})
		}
	}
	return d
}
