package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/defense"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

// Config is a run as the store keeps it: enough to derive its figures again.
type Config struct {
	Targets  Targets   `json:"targets"`
	Datasets []Dataset `json:"datasets"`
	// Limit bounds the prompts of each dataset, from its start; 0 takes all.
	Limit  int    `json:"limit,omitempty"`
	Judges []Spec `json:"judges"`
	// Defenses are those that targets name.
	Defenses []Spec `json:"defenses,omitempty"`
	// Until has the run end by itself, nil for one that asks all prompts.
	Until *Until `json:"until,omitempty"`
}

// Dataset names a dataset and what it held.
type Dataset struct {
	// Ref is a name, or an absolute path.
	Ref string `json:"ref"`
	// Prompt, Category, Label, Default, Cluster, Pair and Response are as in
	// dataset.Options, and Values is LabelValues.
	Prompt   string        `json:"prompt_column,omitempty"`
	Category string        `json:"category_column,omitempty"`
	Label    string        `json:"label_column,omitempty"`
	Default  orbench.Label `json:"default_label,omitempty"`
	Values   string        `json:"label_values,omitempty"`
	// Sample and SampleSeed are as in dataset.Options.
	Sample     int    `json:"sample,omitempty"`
	SampleSeed uint64 `json:"sample_seed,omitempty"`
	Cluster    string `json:"cluster_column,omitempty"`
	Pair       string `json:"pair_column,omitempty"`
	Response   string `json:"response_column,omitempty"`
	// SHA256 is the hash of the prompts, in hex.
	SHA256 string `json:"sha256"`
}

// Spec names a judge or a defense, with what its requests depend on.
type Spec struct {
	Name string `json:"spec"`
	// MaxTokens, Endpoints and Structured are as in judge.Options, the latter two by
	// provider; all are empty for a judge that asks no model.
	MaxTokens  int               `json:"max_tokens,omitempty"`
	Endpoints  map[string]string `json:"endpoints,omitempty"`
	Structured map[string]bool   `json:"structured,omitempty"`
	// Rubrics are the texts of a judge's rubrics; see judge.Rubrics.
	Rubrics map[string]string `json:"rubrics,omitempty"`
	// Version is the judge's when it was named; see judge.Version. It is empty of a
	// defense, and of a judge that an older program kept.
	Version string `json:"version,omitempty"`
	// Probes is the version of the forged verdicts that are planted in answers for the
	// judge, 0 for none, as in what an older program kept.
	Probes int `json:"probes,omitempty"`
}

// Same reports whether both ask the same questions of the same models.
func (s Spec) Same(other Spec) bool {
	return s.Name == other.Name && s.MaxTokens == other.MaxTokens && maps.Equal(s.Endpoints, other.Endpoints) && maps.Equal(s.Structured, other.Structured)
}

// specOf records the models that a judge or a defense asks.
func specOf(name string, maxTokens int, models []model.Ref, clients *client.Set) Spec {
	s := Spec{Name: name, MaxTokens: maxTokens, Endpoints: map[string]string{}, Structured: map[string]bool{}}
	for _, m := range models {
		s.Endpoints[m.Provider] = m.Endpoint
		s.Structured[m.Provider] = clients.Client(m.Provider, m.Endpoint).Structured
	}
	return s
}

// specsOf records judges with the settings that they were made with.
func specsOf(judges []judge.Judge, maxTokens int, clients *client.Set) []Spec {
	var specs []Spec
	for _, j := range judges {
		s := Spec{Name: j.Name()}
		if asking, ok := j.(judge.ModelJudge); ok {
			s = specOf(s.Name, maxTokens, asking.Models(), clients)
		}
		s.Rubrics, s.Version = judge.Rubrics(j), judge.Version(j)
		specs = append(specs, s)
	}
	return specs
}

func (s Spec) endpoint(provider string) string { return s.Endpoints[provider] }
func (s Spec) rubric(named string) ([]byte, error) {
	text, ok := s.Rubrics[named]
	if !ok {
		return nil, fmt.Errorf("the run does not hold the rubric %s of its judge %s", named, s.Name)
	}
	return []byte(text), nil
}

// judge makes the judge.
func (s Spec) judge() (judge.Judge, error) {
	return judge.Parse(s.Name, judge.Options{MaxTokens: s.MaxTokens, Endpoint: s.endpoint, Structured: s.structured, Rubric: s.rubric})
}

func (s Spec) structured(provider string) bool { return s.Structured[provider] }

// read opens the dataset's file for targets.
func (d Dataset) read(ctx context.Context, cache string, targets []evaluate.Target) (*dataset.Dataset, error) {
	return dataset.Open(ctx, d.Ref, dataset.Options{
		Prompt: d.Prompt, Category: d.Category, Label: d.Label, LabelValues: d.Values, Sample: d.Sample, SampleSeed: d.SampleSeed, Default: d.Default, Cluster: d.Cluster, Pair: d.Pair, Response: d.Response, Cache: cache,
		// What was asked before labels were looked for is shown as it was.
		AssumeSafe: d.SHA256 != "",
		// No dialog can be around a prompt that ends with an answer.
		Answers: !slices.ContainsFunc(targets, func(t evaluate.Target) bool { return t.Guard == nil || t.Turns != nil }),
	})
}

// open is read for a file that must not have changed.
func (d Dataset) open(ctx context.Context, cache string, targets []evaluate.Target) (*dataset.Dataset, error) {
	set, err := d.read(ctx, cache, targets)
	if err != nil {
		return nil, err
	}
	if d.SHA256 != "" && set.SHA256 != d.SHA256 {
		return nil, &orbench.InputError{
			File:    d.Ref,
			Problem: fmt.Sprintf("the dataset has changed since the run: its prompts had the hash %.12s and have %.12s", d.SHA256, set.SHA256),
			Hint:    "put the old file back, or evaluate again with orbench eval",
		}
	}
	return set, nil
}

// absolute makes a path independent of the working directory; names of built-in
// and published datasets stay as they are.
func absolute(ref string) string {
	if dataset.IsName(ref) {
		return ref
	}
	abs, err := filepath.Abs(ref)
	if err != nil {
		return ref
	}
	return abs
}

// open makes the run that the config describes, judged by its own judges, without its
// datasets.
func (c Config) open() (*evaluate.Run, error) {
	r := &evaluate.Run{Targets: slices.Clone(c.Targets), Limit: c.Limit, Recorded: true}
	for i, t := range r.Targets {
		for _, s := range c.Defenses {
			if s.Name != t.Guarded {
				continue
			}
			var err error
			r.Targets[i].Defense, err = defense.Parse(s.Name, defense.Options{Options: judge.Options{MaxTokens: s.MaxTokens, Endpoint: s.endpoint, Structured: s.structured}})
			if err != nil {
				return nil, err
			}
		}
	}
	if err := c.Until.open(r); err != nil {
		return nil, err
	}
	for _, s := range c.Judges {
		j, err := s.judge()
		if err != nil {
			return nil, err
		}
		r.Judges, r.Probed = append(r.Judges, j), r.Probed || s.Probes > 0
	}
	return r, nil
}

// asked is the configuration without the judges: judging a run again is no other run.
func (c Config) asked() Config {
	c.Judges = nil
	return c
}

// name gives a run without a name one that follows from its configuration, so
// that the same experiment is the same run.
func (c Config) name() (string, error) {
	b, err := json.Marshal(c.asked())
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return "run-" + hex.EncodeToString(sum[:4]), nil
}
