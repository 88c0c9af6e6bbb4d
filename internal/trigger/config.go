package trigger

import (
	"context"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
)

// SearchConfig is a study of triggers in the form that the store keeps: enough to derive
// its figures again.
type SearchConfig struct {
	Kind study.Kind `json:"kind"`
	// SearchConfig has the targets, the datasets and the judge.
	run.EvalConfig
	Labels []orbench.Label `json:"labels"`
	Calls  int             `json:"calls_per_prompt"`
	Words  int             `json:"most_sets"`
	Into   int             `json:"most_answered"`
	Seed   uint64          `json:"split_seed"`
}

// Of gives the study the targets, the datasets and the first judge of a run.
func (s *Study) Of(r *run.Run) {
	s.Targets, s.Datasets, s.Limit, s.Judge = r.Targets, r.Datasets, r.Limit, r.Judges[0]
}

// Kept is the study in the form that a store keeps. Without a name, it gets one derived
// from its settings. r is the run that the study uses.
func (s *Study) Kept(name string, r *run.Run) (*study.Study, error) {
	c := SearchConfig{Kind: study.Triggers, EvalConfig: r.Config, Labels: s.Labels, Calls: s.Calls, Words: s.Words, Into: s.Into, Seed: s.Seed}
	c.Until = nil
	c.Judges = c.Judges[:1]
	kept, err := study.New(study.Triggers, name, c, c)
	if err != nil {
		return nil, err
	}
	kept.Keep = r.Keep
	return kept, nil
}

// Open opens a study from a store; the store must stay open. Pulled datasets are in the
// folder cache. changed says how the dataset files differ from those that were used.
func Open(ctx context.Context, m store.Reader, kept *study.Study, cache string) (s *Study, changed []string, err error) {
	var c SearchConfig
	if err := kept.Settings(&c); err != nil {
		return nil, nil, err
	}
	r, err := run.Stored{Study: kept, Config: c.EvalConfig}.Open(ctx, m, cache)
	if err != nil {
		return nil, nil, err
	}
	s = &Study{Labels: c.Labels, Calls: c.Calls, Words: c.Words, Into: c.Into, Seed: c.Seed}
	s.Of(r)
	return s, r.Changed, nil
}
