package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/model/anthropic"
	"github.com/orbench/orbench/model/google"
	"github.com/orbench/orbench/model/openai"
	"github.com/orbench/orbench/model/replay"
	"github.com/orbench/orbench/model/sim"
)

// simSeed is the seed of simulated models when the user names none.
const simSeed = 1

// replayPrefix starts a target whose answers come from a file.
const replayPrefix = "replay:"

// Bounds of concurrent calls for what is not in the provider table.
const (
	simConcurrency    = 8
	replayConcurrency = 8
)

// wiring turns the names of providers into clients. It checks keys and addresses
// when a name is first used, before anything is asked.
type wiring struct {
	providers provider.Table
	getenv    func(string) string
	// baseURLs are the user's, by provider.
	baseURLs map[string]string
	// clients are those in use, by lane.
	clients map[evaluate.LaneKey]client
}

// client is the way to one endpoint.
type client struct {
	model model.Model
	// concurrency is how many calls to make at once when the user does not say.
	concurrency int
	structured  bool
}

// newWiring reads the provider table, with the user's file if there is one.
func (a *app) newWiring(providersFile string, baseURLs map[string]string) (*wiring, error) {
	table := provider.Default()
	if providersFile != "" {
		var err error
		if table, err = withFile(table.With, providersFile, "--providers"); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(baseURLs)) {
		// The address of a misspelt provider would be passed over, and the calls
		// go to the provider's own.
		if _, err := table.Lookup(name); err != nil {
			return nil, fmt.Errorf("--base-url: %w", err)
		}
	}
	return &wiring{providers: table, getenv: a.env.Getenv, baseURLs: baseURLs, clients: map[evaluate.LaneKey]client{}}, nil
}

// loadPrices reads the price table, with the user's file if there is one.
func loadPrices(file string) (price.Table, error) {
	if file == "" {
		return price.Default(), nil
	}
	return withFile(price.Default().With, file, "--prices")
}

// connect makes the client of a provider, unless it is there, and gives its lane.
func (w *wiring) connect(name string) (evaluate.LaneKey, error) {
	return w.connectAt(name, w.baseURLs[name])
}

// connectAt is connect for an address of the user's, empty for the provider's own.
func (w *wiring) connectAt(name, baseURL string) (evaluate.LaneKey, error) {
	if name == score.SimProvider {
		key := evaluate.LaneKey{Provider: name}
		if _, ok := w.clients[key]; !ok {
			w.clients[key] = client{model: simulated(), concurrency: simConcurrency, structured: true}
		}
		return key, nil
	}
	p, err := w.providers.Lookup(name)
	if err != nil {
		return evaluate.LaneKey{}, err
	}
	e, err := p.Resolve(baseURL, w.getenv)
	if err != nil {
		return evaluate.LaneKey{}, err
	}
	key := evaluate.LaneKey{Provider: name, Endpoint: e.Identity}
	if _, ok := w.clients[key]; ok {
		return key, nil
	}
	m, err := dial(e)
	if err != nil {
		return evaluate.LaneKey{}, err
	}
	w.clients[key] = client{model: m, concurrency: p.Concurrency, structured: p.Structured}
	return key, nil
}

// dial makes the client of an endpoint in its dialect.
func dial(e provider.Endpoint) (model.Model, error) {
	switch e.Provider.Dialect {
	case provider.OpenAI:
		return openai.New(openai.Config{
			Provider: e.Provider.Name, BaseURL: e.BaseURL, Key: e.Key, AuthHeader: e.Provider.AuthHeader,
			MaxTokensField: e.MaxTokensField, SeedField: e.Provider.SeedField,
		}), nil
	case provider.Anthropic:
		return anthropic.New(anthropic.Config{Provider: e.Provider.Name, BaseURL: e.BaseURL, Key: e.Key}), nil
	case provider.Google:
		return google.New(google.Config{Provider: e.Provider.Name, BaseURL: e.BaseURL, Key: e.Key})
	}
	return nil, fmt.Errorf("provider %s speaks the dialect %q, which this orbench does not", e.Provider.Name, e.Provider.Dialect)
}

// simulated is the client of all simulated models, in the process.
func simulated() model.Model {
	type identity struct {
		name string
		seed int64
	}
	var models sync.Map
	return model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
		id := identity{r.Model, simSeed}
		if r.Params.Seed != nil {
			id.seed = *r.Params.Seed
		}
		m, ok := models.Load(id)
		if !ok {
			made, err := sim.New(id.name, id.seed)
			if err != nil {
				return model.Response{}, &model.Error{Kind: model.NotFound, Provider: r.Provider, Model: r.Model, Err: err}
			}
			m, _ = models.LoadOrStore(id, made)
		}
		return m.(model.Model).Ask(ctx, r)
	})
}

// target makes the target that an experiment names, without parameters:
// replay:FILE, or provider/model. unknown, for a replay, checks a dataset against
// the file.
func (w *wiring) target(ctx context.Context, named experiment.Target) (t evaluate.Target, unknown func(*dataset.Dataset, int) error, err error) {
	spec := named.Target
	if path, ok := strings.CutPrefix(spec, replayPrefix); ok {
		r, err := replay.Open(ctx, path, dataset.RecordingOptions{Prompt: named.PromptColumn, Response: named.ResponseColumn})
		if err != nil {
			return t, nil, err
		}
		t = evaluate.Target{Name: named.Called(), Provider: replay.Provider, Endpoint: "sha256:" + r.Recording.SHA256, Model: r.Recording.Path}
		key := evaluate.LaneKey{Provider: t.Provider, Endpoint: t.Endpoint}
		w.clients[key] = client{model: r, concurrency: replayConcurrency}
		return t, r.Check, nil
	}
	name, modelName, err := provider.ParseTarget(spec)
	if err != nil {
		return t, nil, err
	}
	url := named.BaseURL
	if url == "" {
		url = w.baseURLs[name]
	}
	key, err := w.connectAt(name, url)
	if err != nil {
		return t, nil, err
	}
	if err := checkSim(name, modelName); err != nil {
		return t, nil, err
	}
	return evaluate.Target{Name: named.Called(), Provider: key.Provider, Endpoint: key.Endpoint, Model: modelName}, nil, nil
}

// reach makes the client of a model that is asked on behalf of others.
func (w *wiring) reach(providerName, modelName string) error {
	if _, err := w.connect(providerName); err != nil {
		return err
	}
	return checkSim(providerName, modelName)
}

// checkSim refuses a simulated model that does not exist.
func checkSim(providerName, modelName string) error {
	if providerName != score.SimProvider {
		return nil
	}
	_, err := sim.New(modelName, simSeed)
	return err
}

// judges makes the judges of a run and the clients of their models.
func (w *wiring) judges(specs []string, maxTokens int) ([]judge.Judge, error) {
	var failed error
	opts := judge.Options{
		MaxTokens: maxTokens,
		Endpoint: func(name string) string {
			key, err := w.connect(name)
			if err != nil && failed == nil {
				failed = err
			}
			return key.Endpoint
		},
		Structured: func(name string) bool {
			key, err := w.connect(name)
			return err == nil && w.clients[key].structured
		},
	}
	judges, err := parseJudges(specs, opts)
	if err = errors.Join(failed, err); err != nil {
		return nil, err
	}
	for _, j := range judges {
		asking, ok := j.(judge.ModelJudge)
		if !ok {
			continue
		}
		for _, m := range asking.Models() {
			if err := checkSim(m.Provider, m.Model); err != nil {
				return nil, err
			}
		}
	}
	return judges, nil
}

// parseJudges makes judges from their specs, each of which may be a list.
func parseJudges(specs []string, opts judge.Options) ([]judge.Judge, error) {
	var judges []judge.Judge
	seen := map[string]bool{}
	for _, spec := range judge.Split(strings.Join(specs, ",")) {
		j, err := judge.Parse(spec, opts)
		if err != nil {
			return nil, err
		}
		if !seen[j.Name()] {
			seen[j.Name()] = true
			judges = append(judges, j)
		}
	}
	if len(judges) == 0 {
		return nil, inputError("--judge", "no judge is named", "leave it out for lexical, or name one")
	}
	return judges, nil
}

// withFile extends a table by a file.
func withFile[T any](with func(r io.Reader, name string) (T, error), path, flag string) (T, error) {
	f, err := os.Open(path)
	if err != nil {
		var none T
		return none, inputError(flag+" "+path, "cannot read the file: "+err.Error(), "correct the path")
	}
	defer f.Close()
	return with(f, path)
}
