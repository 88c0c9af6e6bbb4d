package run

import (
	"cmp"
	"context"
	"slices"

	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Differs gives the settings in which the run differs from a kept run: the run of its name or,
// where there is none, the one with which it shares most.
func (r *Run) Differs(ctx context.Context, m store.Reader) (job.Changed, error) {
	kept, err := undamaged(ctx, m)
	nearest := r.nearest(kept)
	if err != nil || nearest < 0 {
		return nil, err
	}
	of, now := kept[nearest], r.settings()
	was := (&Run{Run: evaluate.Run{Targets: of.Config.Targets}, Config: of.Config}).settings()
	for i, d := range r.Config.Datasets {
		name := r.Datasets[i].Name // by which calls know it
		now[name], was[name] = now[d.Ref], was[d.Ref]
	}
	changed := job.Changed{}
	for subject, settings := range changes(was, now) {
		changed[subject] = &job.Again{Of: subject, Run: of.Name, Settings: settings}
	}
	return changed, nil
}

// Judged gives the first calls of the newest other runs of judges of this run, of those judges whose
// servers run weights.
func (r *Run) Judged(ctx context.Context, m store.Reader, runsWeights func(model.Ref) (runs, known bool)) (all []*job.Job, err error) {
	const runs, prompts = 2, 400
	kept, err := undamaged(ctx, m)
	for i, spec := range r.Config.Judges {
		others := slices.DeleteFunc(slices.Clone(kept), func(s Stored) bool {
			return s.Name == r.Name || !slices.ContainsFunc(s.Config.Judges, spec.Same)
		})
		if !slices.ContainsFunc(judge.ModelsOf(r.Judges[i]), func(of model.Ref) bool { runs, _ := runsWeights(of); return runs }) {
			others = nil
		}
		for _, s := range others[:min(len(others), runs)] {
			other, err := s.Open(ctx, m, r.cache)
			if err != nil {
				return nil, err
			}
			other.Judges, other.Limit = r.Judges[i:i+1], min(cmp.Or(other.Limit, prompts), prompts)
			all = append(all, other.Job())
		}
	}
	return all, err
}

// undamaged lists the runs that can be read; a damaged one has nothing to compare with. m may be
// nil.
func undamaged(ctx context.Context, m store.Reader) (kept []Stored, err error) {
	if m == nil {
		return nil, nil
	}
	studies, err := study.List(ctx, m, study.Eval)
	for _, s := range studies {
		if one, err := Of(s); err == nil {
			kept = append(kept, one)
		}
	}
	return kept, err
}

// nearest is the number of the kept run to compare with, -1 for none.
func (r *Run) nearest(kept []Stored) int {
	if i := slices.IndexFunc(kept, func(s Stored) bool { return s.Name == r.Name }); i >= 0 {
		return i
	}
	nearest, most := -1, 0
	for i, s := range kept {
		shared := 0
		for _, d := range s.Config.Datasets {
			if slices.ContainsFunc(r.Config.Datasets, func(now study.Dataset) bool { return now.Ref == d.Ref }) {
				shared++
			}
		}
		for _, t := range r.Targets {
			if shared == 0 || !slices.ContainsFunc(s.Config.Targets, func(was evaluate.Target) bool { return was.Name == t.Name }) {
				continue
			}
			if shared++; shared > most {
				nearest, most = i, shared
			}
		}
	}
	return nearest
}

// settings gives the settings of each target, judge and dataset by its name.
func (r *Run) settings() map[string][]provenance.Setting {
	all := map[string][]provenance.Setting{}
	for _, t := range r.Targets {
		var own settingList
		own.addTarget(t)
		all[t.Name] = own
	}
	for _, j := range r.Config.Judges {
		var own settingList
		own.addSpec(j, "judge", true)
		own.add(provenance.Setting{Name: provenance.JudgeVersion, Value: j.Version})
		all[j.Name] = own
	}
	for _, d := range r.Config.Datasets {
		all[d.Ref] = []provenance.Setting{{Name: provenance.DatasetHash, Value: table.ShortHash(d.SHA256)}}
	}
	return all
}

// changes lists, by target, judge and dataset, the settings of which both have a value, and not
// the same.
func changes(was, now map[string][]provenance.Setting) map[string][]job.Change {
	all := map[string][]job.Change{}
	for subject, settings := range now {
		for _, s := range settings {
			i := slices.IndexFunc(was[subject], func(w provenance.Setting) bool { return w.Name == s.Name && w.Of == s.Of })
			if i >= 0 && was[subject][i].Value != s.Value {
				all[subject] = append(all[subject], job.Change{Setting: string(s.Name), Is: s.Value, Was: was[subject][i].Value})
			}
		}
	}
	return all
}
