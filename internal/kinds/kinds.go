package kinds

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/construct"
	"github.com/orbench/orbench/internal/contrast"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/moderation"
	"github.com/orbench/orbench/internal/recorded"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/internal/table"
	"github.com/orbench/orbench/internal/training"
	"github.com/orbench/orbench/internal/trigger"
)

// Opened is a kept study with what it means.
type Opened struct {
	*study.Study
	// Job is the study as a walk.
	Job *job.Job
	// Run is the run of a study of the kind eval, nil for any other.
	Run *run.Run
	// View derives what the study shows; nil for a
	// run, which has reports of its own.
	View func(context.Context, store.Reader) (table.View, error)
	// Changed tells of files that are no longer what the study asked.
	Changed []string
}

// Open opens a study that a store keeps; the store must stay open. Pulled datasets are found
// in the folder cache.
func Open(ctx context.Context, m store.Reader, s *study.Study, cache string) (*Opened, error) {
	o := &Opened{Study: s}
	var err error
	switch s.Kind {
	case study.Eval:
		err = o.run(ctx, m, cache)
	case study.Judge:
		err = o.judged(ctx, m)
	case study.Moderate:
		err = o.moderation(ctx, m, cache)
	case study.Contrast:
		err = o.contrast(ctx, m, cache)
	case study.Triggers:
		err = o.triggers(ctx, m, cache)
	case study.Export:
		err = o.training(ctx, m, cache)
	case study.Build:
		err = o.built()
	default:
		err = &orbench.InputError{
			Problem: fmt.Sprintf("%s is a study of the kind %.40q, which this program does not know", s.Name, s.Kind), Hint: "use a newer orbench",
		}
	}
	if err != nil {
		return nil, err
	}
	o.Job.Name = s.Name
	return o, nil
}

// run opens a run. A stored run is opened to be judged; here its targets are asked too.
func (o *Opened) run(ctx context.Context, m store.Reader, cache string) error {
	stored, err := run.Of(o.Study)
	if err != nil {
		return err
	}
	if o.Run, err = stored.Open(ctx, m, cache); err != nil {
		return err
	}
	o.Changed, o.Run.Recorded = o.Run.Changed, false
	o.Job = o.Run.Job()
	return nil
}

// judged opens the judging of a file.
func (o *Opened) judged(ctx context.Context, m store.Reader) error {
	r, err := recorded.OpenKept(ctx, m, o.Study)
	if err != nil {
		return err
	}
	o.Job = r.Job()
	o.View = func(ctx context.Context, m store.Reader) (table.View, error) { return r.Derive(ctx, m, nil) }
	return nil
}

// moderation opens a vote.
func (o *Opened) moderation(ctx context.Context, m store.Reader, cache string) error {
	r, changed, err := moderation.Open(ctx, m, o.Study, cache)
	if err != nil {
		return err
	}
	o.Job = r.Job()
	o.change(changed)
	o.View = func(ctx context.Context, m store.Reader) (table.View, error) { return r.Derive(ctx, m, nil) }
	return nil
}

// contrast opens a contrast set.
func (o *Opened) contrast(ctx context.Context, m store.Reader, cache string) error {
	r, changed, err := contrast.Open(ctx, m, o.Study, cache)
	if err != nil {
		return err
	}
	o.Job = r.Job()
	o.change(changed)
	o.View = func(ctx context.Context, m store.Reader) (table.View, error) { return r.Derive(ctx, m, nil) }
	return nil
}

// triggers opens a study of triggers.
func (o *Opened) triggers(ctx context.Context, m store.Reader, cache string) (err error) {
	s, changed, err := trigger.Open(ctx, m, o.Study, cache)
	if err != nil {
		return err
	}
	o.Job, o.Changed = s.Job(), changed
	o.View = func(ctx context.Context, m store.Reader) (table.View, error) { return s.Derive(ctx, m, nil) }
	return nil
}

// training opens training data.
func (o *Opened) training(ctx context.Context, m store.Reader, cache string) error {
	c, changed, err := training.Open(ctx, m, o.Study, cache)
	if err != nil {
		return err
	}
	o.Job, o.Changed = c.Job(), changed
	o.View = func(ctx context.Context, m store.Reader) (table.View, error) {
		if _, err := c.Moderate(ctx, m); err != nil {
			return nil, err
		}
		set, err := c.Select()
		if err != nil {
			return nil, err
		}
		return &set.Manifest, nil
	}
	return nil
}

// built opens a build.
func (o *Opened) built() error {
	b, err := construct.Open(o.Study)
	if err != nil {
		return err
	}
	o.Job = b.Job()
	o.View = func(ctx context.Context, m store.Reader) (table.View, error) {
		made, err := b.Remembered(ctx, m)
		if err == nil && made == nil {
			err = &orbench.InputError{Problem: "no seed of build " + o.Name + " is there yet", Hint: "run its orbench build again; it goes on"}
		}
		if err != nil {
			return nil, err
		}
		return made, made.Close()
	}
	return nil
}

func (o *Opened) change(note string) {
	if note != "" {
		o.Changed = append(o.Changed, note)
	}
}

// Summary says in names who is asked by a study, and about what.
func Summary(s *study.Study) (asked, about []string, err error) {
	var c struct {
		Models     []struct{ Name string } `json:"models"`
		Kind       study.Kind              `json:"kind"`
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
	asked = (run.EvalConfig{Targets: c.Targets}).TargetNames()
	for _, m := range c.Models {
		asked = append(asked, m.Name)
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
	x, err := study.Of(a)
	if err != nil {
		return a, nil, err
	}
	y, err := study.Of(b)
	switch {
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
