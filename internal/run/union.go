package run

import (
	"cmp"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"

	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
)

// Union makes one run of two of the same name, with the judges, the accepted names and the
// commands of both: judging a run again does not make another run, and the folders of its
// prompt files are no part of it. If other settings differ, they are named and there is no
// union.
func Union(a, b store.Run) (one store.Run, differ []string, err error) {
	x, err1 := decoded(a)
	y, err2 := decoded(b)
	own, err3 := x.Config.apart()
	theirs, err4 := y.Config.apart()
	if err := cmp.Or(err1, err2, err3, err4); err != nil {
		return a, nil, err
	}
	others := study.Differences(own, theirs)
	for _, name := range []string{"targets", "datasets", "limit", "defenses"} {
		if slices.Contains(others, name) {
			differ = append(differ, name)
		}
	}
	if len(others) > 0 && len(differ) == 0 {
		differ = append(differ, "settings")
	}
	one = a
	if len(one.Datasets) == 0 {
		one.Datasets = b.Datasets
	} else if len(b.Datasets) > 0 && !slices.Equal(a.Datasets, b.Datasets) && len(differ) == 0 {
		differ = append(differ, "clusters or pairs of prompts")
	}
	if b.Saved.After(a.Saved) {
		one.Saved = b.Saved
	}
	if len(a.Made)+len(b.Made) > 0 {
		if one.Made, err = json.Marshal(x.History.And(y.History)); err != nil {
			return a, nil, err
		}
	}
	added := false
	for _, s := range y.Config.Judges {
		i := slices.IndexFunc(x.Config.Judges, func(o Spec) bool { return o.Name == s.Name })
		if i < 0 {
			x.Config.Judges, added = append(x.Config.Judges, s), true
		} else if was := x.Config.Judges[i]; !was.Same(s) || !maps.Equal(was.Rubrics, s.Rubrics) || was.Version != s.Version && was.Version != "" && s.Version != "" {
			differ = append(differ, "judge "+s.Name)
		}
	}
	for _, name := range y.Config.AcceptModels {
		if !slices.Contains(x.Config.AcceptModels, name) {
			x.Config.AcceptModels, added = append(x.Config.AcceptModels, name), true
		}
	}
	if added && len(differ) == 0 {
		one.Config, err = json.Marshal(x.Config)
	}
	return one, differ, err
}

// decoded is a run as a store has it.
func decoded(r store.Run) (Stored, error) {
	s, err := study.Of(r)
	if err != nil {
		return Stored{}, err
	}
	return Of(s)
}

// apart is the JSON of the configuration without its judges, the names that are accepted, and
// the folders of its files.
func (c EvalConfig) apart() ([]byte, error) {
	c = c.asked()
	c.Datasets = slices.Clone(c.Datasets)
	for i := range c.Datasets {
		c.Datasets[i].Ref = filepath.Base(c.Datasets[i].Ref)
	}
	return json.Marshal(c)
}
