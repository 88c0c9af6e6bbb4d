package construct

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/guard"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Kept is the form of a build in a store: enough to go through it again.
type Kept struct {
	Kind   study.Kind                            `json:"kind"`
	Config benchmark.BuildConfig                 `json:"config"`
	Models []study.Model                         `json:"models"`
	Guards map[string]*guard.Guard               `json:"guards,omitempty"`
	Own    map[orbench.Category][]benchmark.Seed `json:"own_seeds,omitempty"`
	// Base is the folder of the benchmark to add to, empty for none.
	Base   string  `json:"base,omitempty"`
	Search *Search `json:"search,omitempty"`
	// Judge is the name of the judge. JudgeEndpoints are the endpoints of its models, by
	// provider, and Rubrics its texts.
	Judge          string            `json:"judge"`
	JudgeEndpoints map[string]string `json:"judge_endpoints,omitempty"`
	Rubrics        map[string]string `json:"rubrics,omitempty"`
	// Structured and Lists say which providers must follow a schema.
	Structured map[string]bool `json:"structured,omitempty"`
	Lists      map[string]bool `json:"structured_lists,omitempty"`
}

// Study is the build in the form that a store keeps. Without a name, it gets one derived
// from its settings.
func (b *Builder) Study(name string) (*study.Study, error) {
	k := Kept{
		Kind: study.Build, Config: b.Config, Own: b.Own, Search: b.Search, Guards: b.Guards, Judge: b.Judge.Name(), Rubrics: judge.Rubrics(b.Judge),
		JudgeEndpoints: map[string]string{}, Structured: map[string]bool{}, Lists: map[string]bool{},
	}
	for _, name := range b.Models() {
		ref := b.Refs[name]
		k.Models = append(k.Models, study.ModelOf(name, ref))
		k.Structured[ref.Provider], k.Lists[ref.Provider] = b.Structured(ref.Provider), b.StructuredLists(ref.Provider)
	}
	for _, ref := range judge.ModelsOf(b.Judge) {
		k.JudgeEndpoints[ref.Provider], k.Structured[ref.Provider] = ref.Endpoint, b.Structured(ref.Provider)
	}
	if b.Base != nil {
		k.Base = b.Base.Dir
		if dir, err := filepath.Abs(k.Base); err == nil {
			k.Base = dir
		}
	}
	s, err := study.New(study.Build, name, k, k)
	if err != nil {
		return nil, err
	}
	s.Keep = func(context.Context, store.Keeper) ([]store.Key, error) { return nil, nil }
	return s, nil
}

// Open opens a build from a store.
func Open(s *study.Study) (*Builder, error) {
	var k Kept
	if err := s.Settings(&k); err != nil {
		return nil, err
	}
	b := &Builder{
		Config: k.Config, Own: k.Own, Search: k.Search, Refs: map[string]model.Ref{}, Guards: k.Guards, Width: keptWidth,
		Structured:      func(provider string) bool { return k.Structured[provider] },
		StructuredLists: func(provider string) bool { return k.Lists[provider] },
	}
	for _, m := range k.Models {
		b.Refs[m.Name] = m.Ref()
	}
	var err error
	if k.Base != "" {
		if b.Base, err = benchmark.Open(k.Base); err != nil {
			return nil, err
		}
	}
	b.Judge, err = judge.Parse(k.Judge, judge.Options{
		MaxTokens: k.Config.Moderation.MaxTokens, Structured: b.Structured,
		Endpoint: func(provider string) string { return k.JudgeEndpoints[provider] },
		Rubric: func(name string) ([]byte, error) {
			text, ok := k.Rubrics[name]
			if !ok {
				return nil, fmt.Errorf("study %s does not hold the rubric %s", s.Name, name)
			}
			return []byte(text), nil
		},
	})
	return b, err
}

// keptWidth is the number of prompts of a kept build to work on at once.
const keptWidth = 16
