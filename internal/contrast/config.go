package contrast

import (
	"context"
	"slices"

	"github.com/orbench/orbench/generator"
	"github.com/orbench/orbench/internal/moderation"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/moderate"
	"github.com/orbench/orbench/policy"
)

// SetConfig is a contrast set in the form that the store keeps: enough to derive its
// counts again.
type SetConfig struct {
	Kind      study.Kind       `json:"kind"`
	Dataset   study.Dataset    `json:"dataset"`
	Limit     int              `json:"limit,omitempty"`
	Axes      []generator.Axis `json:"axes"`
	Languages []string         `json:"languages,omitempty"`
	Each      int              `json:"each"`
	// Generator is asked like a moderator, with its own Params.
	Generator  moderation.Voter   `json:"generator"`
	Policy     policy.Policy      `json:"policy"`
	Moderators []moderation.Voter `json:"moderators"`
	Rule       moderate.Rule      `json:"rule"`
}

// Study is the set in the form that a store keeps. Without a name, it gets one derived
// from its settings. d names its dataset, and languages are the languages of its
// wordings.
func (r *Run) Study(name string, d study.Dataset, languages []string) (*study.Study, error) {
	c := SetConfig{
		Kind: study.Contrast, Dataset: d, Limit: r.Limit, Languages: languages, Each: r.Each,
		Generator: moderation.VoterOf(moderate.Moderator{Name: r.Name, Ref: r.Generator, MaxTokens: r.Params.MaxTokens, Structured: r.Params.Structured}),
		Policy:    r.Policy, Moderators: moderation.VotersOf(r.Moderators), Rule: r.Rule,
	}
	for _, w := range r.Wordings {
		if !slices.Contains(c.Axes, w.Axis) {
			c.Axes = append(c.Axes, w.Axis)
		}
	}
	s, err := study.New(study.Contrast, name, c, c)
	if err != nil {
		return nil, err
	}
	s.UseDataset(r.Dataset, r.Limit, d)
	return s, nil
}

// Open opens a contrast set from a store; the store must stay open. Pulled datasets are
// in the folder cache. changed says how the dataset file differs from the one that was
// used.
func Open(ctx context.Context, m store.Reader, s *study.Study, cache string) (r *Run, changed []string, err error) {
	var c SetConfig
	if err := s.Settings(&c); err != nil {
		return nil, nil, err
	}
	g := c.Generator.Moderator()
	r = &Run{
		Limit: c.Limit, Each: c.Each, Generator: g.Ref, Name: g.Name,
		Params: generator.Params{MaxTokens: g.MaxTokens, Structured: g.Structured}, Policy: c.Policy, Rule: c.Rule,
	}
	for _, axis := range c.Axes {
		r.Wordings = append(r.Wordings, axis.Wordings(c.Languages)...)
	}
	for _, v := range c.Moderators {
		r.Moderators = append(r.Moderators, v.Moderator())
	}
	kept, err := s.Recall(ctx, m, 0, c.Dataset, study.Asked{Limit: c.Limit}, cache)
	r.Dataset = kept.Set
	return r, kept.Changed, err
}
