package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/memo"
	"github.com/orbench/orbench/judge"
)

// runConfig is a run as the store keeps it: enough to derive its figures again.
type runConfig struct {
	Targets  []evaluate.Target `json:"targets"`
	Datasets []datasetConfig   `json:"datasets"`
	Limit    int               `json:"limit,omitempty"`
	Judges   []judgeConfig     `json:"judges"`
	// Defenses are those that targets name.
	Defenses []judgeConfig `json:"defenses,omitempty"`
}

// datasetConfig names a dataset and what it held.
type datasetConfig struct {
	// Ref is a name, or an absolute path.
	Ref      string        `json:"ref"`
	Prompt   string        `json:"prompt_column,omitempty"`
	Category string        `json:"category_column,omitempty"`
	Label    string        `json:"label_column,omitempty"`
	Default  orbench.Label `json:"default_label,omitempty"`
	Cluster  string        `json:"cluster_column,omitempty"`
	SHA256   string        `json:"sha256"`
}

// judgeConfig is a judge, or a defence, with what its requests depend on.
type judgeConfig struct {
	Spec      string `json:"spec"`
	MaxTokens int    `json:"max_tokens,omitempty"`
	// Endpoints and Structured are by provider, as judge.Options has them.
	Endpoints  map[string]string `json:"endpoints,omitempty"`
	Structured map[string]bool   `json:"structured,omitempty"`
}

// open finds a dataset as the flags or a stored run name it.
func (d datasetConfig) open(ctx context.Context, cache string) (*dataset.Dataset, error) {
	set, err := dataset.Open(ctx, d.Ref, dataset.Options{
		Prompt: d.Prompt, Category: d.Category, Label: d.Label, Default: d.Default, Cluster: d.Cluster, Cache: cache,
	})
	if err != nil {
		return nil, err
	}
	if d.SHA256 != "" && set.SHA256 != d.SHA256 {
		return nil, inputError(d.Ref,
			fmt.Sprintf("the dataset has changed since the run: its prompts had the hash %.12s and have %.12s", d.SHA256, set.SHA256),
			"put the old file back, or evaluate again with orbench eval")
	}
	return set, nil
}

// judgeConfigs records judges with the settings that they were made with.
func (w *wiring) judgeConfigs(judges []judge.Judge, maxTokens int) []judgeConfig {
	var configs []judgeConfig
	for _, j := range judges {
		c := judgeConfig{Spec: j.Name()}
		if asking, ok := j.(judge.ModelJudge); ok {
			c.MaxTokens = maxTokens
			c.Endpoints, c.Structured = map[string]string{}, map[string]bool{}
			for _, m := range asking.Models() {
				c.Endpoints[m.Provider] = m.Endpoint
				c.Structured[m.Provider] = w.clients[evaluate.LaneKey{Provider: m.Provider, Endpoint: m.Endpoint}].structured
			}
		}
		configs = append(configs, c)
	}
	return configs
}

// judge makes the judge again. It needs no key: what it asked is remembered.
func (c judgeConfig) judge() (judge.Judge, error) {
	return judge.Parse(c.Spec, judge.Options{
		MaxTokens:  c.MaxTokens,
		Endpoint:   func(name string) string { return c.Endpoints[name] },
		Structured: func(name string) bool { return c.Structured[name] },
	})
}

// run makes the run that the config describes, judged by its own judges.
func (c runConfig) run(ctx context.Context, cache string) (*evaluate.Run, error) {
	r := &evaluate.Run{Targets: c.Targets, Limit: c.Limit, Recorded: true}
	for i, t := range r.Targets {
		for _, spec := range c.Defenses {
			if spec.Spec != t.Guarded {
				continue
			}
			var err error
			if r.Targets[i].Defense, err = spec.defense(); err != nil {
				return nil, err
			}
		}
	}
	for _, d := range c.Datasets {
		set, err := d.open(ctx, cache)
		if err != nil {
			return nil, err
		}
		r.Datasets = append(r.Datasets, set)
	}
	for _, spec := range c.Judges {
		j, err := spec.judge()
		if err != nil {
			return nil, err
		}
		r.Judges = append(r.Judges, j)
	}
	return r, nil
}

// name gives a run without a name one that follows from its configuration, so
// that the same command is the same run. Judges do not count: judging a run
// again is no other run.
func (c runConfig) name() (string, error) {
	c.Judges = nil
	b, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return "run-" + hex.EncodeToString(sum[:4]), nil
}

// save keeps the run in the store.
func (c runConfig) save(ctx context.Context, m *memo.Memo, name string) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return m.SaveRun(ctx, memo.Run{Name: name, Config: b})
}

// loadRun finds a run in the store; the empty name is the newest.
func loadRun(ctx context.Context, m *memo.Memo, store, name string) (string, runConfig, error) {
	var c runConfig
	r, err := m.Run(ctx, name)
	if errors.Is(err, memo.ErrNoRun) {
		return "", c, noRun(ctx, m, store, name)
	}
	if err != nil {
		return "", c, err
	}
	if err := json.Unmarshal(r.Config, &c); err != nil {
		return "", c, fmt.Errorf("%s: the configuration of run %s is damaged: %w", store, r.Name, err)
	}
	return r.Name, c, nil
}

// noRun is the error for a run that the store does not hold.
func noRun(ctx context.Context, m *memo.Memo, store, name string) error {
	runs, err := m.Runs(ctx)
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		return inputError(store, "holds no run", "make one with orbench eval, or name another store with --store")
	}
	names := ""
	for i, r := range runs {
		if i == 10 {
			names += ", …"
			break
		}
		if i > 0 {
			names += ", "
		}
		names += r.Name
	}
	return inputError(store, fmt.Sprintf("holds no run named %q", name), "it holds "+names)
}

// absolute makes a path independent of the working directory; names of built-in
// and published datasets stay as they are.
func absolute(ref string) string {
	if isName(ref) {
		return ref
	}
	abs, err := filepath.Abs(ref)
	if err != nil {
		return ref
	}
	return abs
}

// isName reports whether ref is the name of a dataset and not a path.
func isName(ref string) bool {
	for _, e := range dataset.List("") {
		if e.Name == ref {
			return true
		}
	}
	return false
}

// targetNames lists the targets of a run.
func (c runConfig) targetNames() string {
	var names []string
	for _, t := range c.Targets {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// datasetNames lists the datasets of a run, without folders.
func (c runConfig) datasetNames() string {
	var names []string
	for _, d := range c.Datasets {
		names = append(names, filepath.Base(d.Ref))
	}
	return strings.Join(names, ", ")
}

// valuesOf lists the values of a column with their counts, in their order.
func valuesOf(counts map[string]int) string {
	const most = 12
	var parts []string
	for i, v := range slices.Sorted(maps.Keys(counts)) {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(counts)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("%.40q (%d)", v, counts[v]))
	}
	return strings.Join(parts, ", ")
}
