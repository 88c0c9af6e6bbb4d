package training

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/overlap"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
)

// ExportConfig is a run's training data in the form that the store keeps: enough to make
// it again.
type ExportConfig struct {
	Kind study.Kind `json:"kind"`
	// Run is the name of the run, and EvalConfig its configuration.
	Run string `json:"run"`
	run.EvalConfig
	Options
}

// Study is a run's training data in the form that a store keeps. Without a name, it gets
// one derived from its settings.
func (o Options) Study(name string, r *run.Run) (*study.Study, error) {
	c := ExportConfig{Kind: study.Export, Run: r.Name, EvalConfig: r.Config, Options: o}
	s, err := study.New(study.Export, name, c, c)
	if err != nil {
		return nil, err
	}
	s.Keep = r.Keep
	return s, nil
}

// Open opens training data from a store; the store must stay open. Evaluation sets and
// pulled datasets are in the folder cache. changed lists what differs from when the data
// was made.
func Open(ctx context.Context, m store.Reader, s *study.Study, cache string) (c *Collection, changed []string, err error) {
	var kept ExportConfig
	if err := s.Settings(&kept); err != nil {
		return nil, nil, err
	}
	of := *s
	of.Name = kept.Run
	r, err := run.Stored{Study: &of, Config: kept.EvalConfig}.Open(ctx, m, cache)
	if err != nil {
		return nil, nil, err
	}
	kept.Against, changed, err = comparedWith(ctx, cmp.Or(kept.Against, &overlap.Evaluations{}), cache)
	if err != nil {
		return nil, nil, err
	}
	c, err = Collect(ctx, m, r, kept.Options)
	return c, append(r.Changed, changed...), err
}

// comparedWith opens the evaluation sets that prompts were compared with, if they still
// exist. It lists those that have changed.
func comparedWith(ctx context.Context, was *overlap.Evaluations, cache string) (now *overlap.Evaluations, changed []string, err error) {
	var refs, except []string
	there := map[string]bool{}
	for _, d := range dataset.List(cache) {
		there[d.Name] = d.Present
		if !slices.ContainsFunc(was.Checked, func(e overlap.Evaluation) bool { return e.Ref == d.Name }) {
			except = append(except, d.Name)
		}
	}
	for _, set := range was.Checked {
		if _, err := os.Stat(set.Ref); !there[set.Ref] && err != nil {
			changed = append(changed, "prompts are not compared with "+set.Name+", as they were: it is not there")
			continue
		}
		refs = append(refs, set.Ref)
	}
	if now, err = overlap.Against(ctx, refs, except, cache, was.Threshold); err != nil {
		return nil, nil, err
	}
	for _, set := range now.Checked {
		i := slices.IndexFunc(was.Checked, func(o overlap.Evaluation) bool { return o.Ref == set.Ref })
		if i >= 0 && was.Checked[i].SHA256 != set.SHA256 {
			changed = append(changed, fmt.Sprintf("%s is no longer what prompts were compared with: its hash was %.12s and is %.12s", set.Name, was.Checked[i].SHA256, set.SHA256))
		}
	}
	now.Unchecked = was.Unchecked
	return now, changed, nil
}
