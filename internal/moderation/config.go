package moderation

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/internal/policy"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
)

// VoteConfig is a vote in the form that the store keeps: enough to derive its figures
// again.
type VoteConfig struct {
	Kind       study.Kind      `json:"kind"`
	Dataset    study.Dataset   `json:"dataset"`
	Limit      int             `json:"limit,omitempty"`
	Policies   []policy.Policy `json:"policies"`
	Moderators []Voter         `json:"moderators"`
	Rule       moderate.Rule   `json:"rule"`
}

// Voter is a moderator in the form that the store keeps.
type Voter struct {
	study.Model
	MaxTokens  int  `json:"max_tokens"`
	Structured bool `json:"structured,omitempty"`
	// Guard is set for a moderator that is a guard.
	Guard *guard.Guard `json:"guard,omitempty"`
}

// Study is the run in the form that a store keeps. Without a name, it gets one derived
// from its settings. d names its dataset.
func (r *Run) Study(name string, d study.Dataset) (*study.Study, error) {
	c := VoteConfig{Kind: study.Moderate, Dataset: d, Limit: r.Limit, Policies: r.Policies, Rule: r.Rule}
	for _, m := range r.Moderators {
		c.Moderators = append(c.Moderators, Voter{study.ModelOf(m.Name, m.Ref), m.MaxTokens, m.Structured, m.Guard})
	}
	s, err := study.New(study.Moderate, name, c, c)
	if err != nil {
		return nil, err
	}
	s.Keep = func(ctx context.Context, m store.Keeper) ([]store.Key, error) {
		key, err := study.KeepDataset(ctx, m, r.Dataset, r.Limit, d)
		return []store.Key{key}, err
	}
	s.Redefines = func(_ context.Context, kept *study.Study) []string {
		var was VoteConfig
		if err := kept.Settings(&was); err != nil {
			return []string{err.Error()}
		}
		return c.redefines(was)
	}
	return s, nil
}

// redefines lists what would be removed from a kept vote or changed in it. A vote may
// gain policies, moderators and a higher limit.
func (c VoteConfig) redefines(was VoteConfig) (changes []string) {
	add := func(format string, args ...any) { changes = append(changes, fmt.Sprintf(format, args...)) }
	if was.Dataset.SHA256 != c.Dataset.SHA256 {
		add("the prompts had the hash %.8s and have %.8s", was.Dataset.SHA256, c.Dataset.SHA256)
	}
	if c.Limit > 0 && (was.Limit == 0 || was.Limit > c.Limit) {
		add("it asked more prompts than the first %d", c.Limit)
	}
	if was.Rule != c.Rule {
		add("votes decided by the rule %s, now %s", was.Rule, c.Rule)
	}
	for _, p := range was.Policies {
		if !slices.ContainsFunc(c.Policies, func(now policy.Policy) bool { return reflect.DeepEqual(now, p) }) {
			add("its policy %s is not named now, or differs", p.Name)
		}
	}
	for _, v := range was.Moderators {
		if !slices.ContainsFunc(c.Moderators, func(now Voter) bool { return reflect.DeepEqual(now, v) }) {
			add("its moderator %s is not named now, or is asked in another way", v.Name)
		}
	}
	return changes
}

// Open opens a vote from a store; the store must stay open. Pulled datasets are in the
// folder cache. changed says how the dataset file differs from the one that was used.
func Open(ctx context.Context, m store.Reader, s *study.Study, cache string) (r *Run, changed []string, err error) {
	var c VoteConfig
	if err := s.Settings(&c); err != nil {
		return nil, nil, err
	}
	r = &Run{Limit: c.Limit, Policies: c.Policies, Rule: c.Rule}
	for _, v := range c.Moderators {
		r.Moderators = append(r.Moderators, moderate.Moderator{Name: v.Name, Ref: v.Ref(), MaxTokens: v.MaxTokens, Structured: v.Structured, Guard: v.Guard})
	}
	kept, err := s.Recall(ctx, m, 0, c.Dataset, study.Asked{Limit: c.Limit}, cache)
	r.Dataset = kept.Set
	return r, kept.Changed, err
}
