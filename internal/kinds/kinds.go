package kinds

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/construct"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/moderation"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
)

// Opened is a kept study with what it means.
type Opened struct {
	*study.Study
	// Job is the study as a walk.
	Job *job.Job
	// Run is the run of a study of the kind eval, nil for any other.
	Run *run.Run
	// Build is the build of a study of the kind build, nil for any other.
	Build *construct.Builder
	// View derives what the study shows; nil for a
	// run, which has reports of its own.
	View func(context.Context, store.Reader) (table.View, error)
	// Changed names files that no longer hold what the study asked.
	Changed []string
}

// Open opens a study that a store keeps; the store must stay open. Pulled datasets are found
// in the folder cache.
func Open(ctx context.Context, m store.Reader, s *study.Study, cache string) (*Opened, error) {
	if last := s.Kind.Gone(); last != "" {
		hint := "show it with " + last
		if s.Kind == study.Judge {
			hint += ", or judge the file again, which makes a run of it"
		}
		return nil, &orbench.InputError{Problem: fmt.Sprintf("%s is a study of orbench %s, and such studies are no longer shown", s.Name, s.Kind), Hint: hint}
	}
	o := &Opened{Study: s}
	var of opened
	var err error
	switch s.Kind {
	case study.Eval:
		stored, err := run.Of(s)
		if err != nil {
			return nil, err
		}
		if o.Run, err = stored.Open(ctx, m, cache); err != nil {
			return nil, err
		}
		o.Changed, o.Run.Recorded = o.Run.Changed, false
		o.Job = o.Run.Job()
		return o, nil
	case study.Moderate:
		of, o.Changed, err = moderation.Open(ctx, m, s, cache)
	case study.Build:
		o.Build, err = construct.Open(s)
		of = o.Build
	default:
		err = &orbench.InputError{
			Problem: fmt.Sprintf("%s is a study of the kind %.40q, which this orbench does not know", s.Name, s.Kind), Hint: "use a newer orbench",
		}
	}
	if err != nil {
		return nil, err
	}
	o.Job, o.View = of.Job(), of.View
	o.Job.Name = s.Name
	return o, nil
}

// opened is what a study that is no run is a study of.
type opened interface {
	Job() *job.Job
	View(context.Context, store.Reader) (table.View, error)
}

// Summary says in names who is asked by a study, and about what. Variants of a target are
// counted.
func Summary(s *study.Study) (asked, about []string, err error) {
	var c struct {
		Models     []struct{ Name string } `json:"models"`
		Targets    run.Targets             `json:"targets"`
		Datasets   []study.Dataset         `json:"datasets"`
		Dataset    *study.Dataset          `json:"dataset"`
		Responses  string                  `json:"responses"`
		Generator  *moderation.Voter       `json:"generator"`
		Moderators []moderation.Voter      `json:"moderators"`
		Judges     []struct{ Spec string } `json:"judges"`
	}
	if err := json.Unmarshal(s.Config, &c); err != nil {
		return nil, nil, fmt.Errorf("the configuration of %s is damaged: %w", s.Name, err)
	}
	ways := map[string]int{}
	for _, t := range c.Targets {
		name := cmp.Or(t.Base, t.Name)
		if ways[name]++; ways[name] == 1 {
			asked = append(asked, name)
		}
	}
	for i, name := range asked {
		if ways[name] > 1 {
			asked[i] = fmt.Sprintf("%s in %d ways", name, ways[name])
		}
	}
	for _, m := range c.Models {
		if !slices.Contains(asked, m.Name) { // a selector may be a target of a search, too
			asked = append(asked, m.Name)
		}
	}
	if c.Generator != nil {
		asked = append(asked, c.Generator.Name)
	}
	for _, v := range c.Moderators {
		asked = append(asked, v.Name)
	}
	if s.Kind == study.Judge {
		for _, j := range c.Judges {
			asked = append(asked, j.Spec)
		}
		about = append(about, filepath.Base(c.Responses))
	}
	if c.Dataset != nil {
		c.Datasets = append(c.Datasets, *c.Dataset)
	}
	for _, d := range c.Datasets {
		about = append(about, filepath.Base(d.Ref))
	}
	return asked, about, nil
}

// Union makes one study of two of the same name, where they ask the same; see run.Union and
// study.Union. The settings in which they differ are named, and then there is no union.
func Union(a, b store.Run) (one store.Run, differ []string, err error) {
	x, err1 := study.Of(a)
	y, err2 := study.Of(b)
	switch err := cmp.Or(err1, err2); {
	case err != nil:
		return a, nil, err
	case x.Kind != y.Kind:
		return a, []string{"kind"}, nil
	case x.Kind == study.Eval:
		return run.Union(a, b)
	case bytes.Equal(a.Config, b.Config) && a.Saved.Equal(b.Saved) && bytes.Equal(a.Made, b.Made):
		return a, nil, nil
	}
	return study.Union(a, b)
}
