package evaluate_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/sqlite"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newStore opens a store in a file of its own, closed at the end of the test.
func newStore(t testing.TB) *store.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "m.db"))
	if err != nil {
		t.Fatal(err)
	}
	m := store.New(s)
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// line is a row of a dataset.
type line struct {
	text     string
	category orbench.Category
	label    orbench.Label
}

// lines makes the prompts "NAME prompt 0" and so on in two categories; every
// third is toxic.
func lines(name string, from, to int) []line {
	var out []line
	for n := from; n < to; n++ {
		l := line{fmt.Sprintf("%s prompt %d", name, n), "privacy", orbench.Safe}
		if n%3 == 0 {
			l.label = orbench.Toxic
		}
		if n%2 == 0 {
			l.category = "hate"
		}
		out = append(out, l)
	}
	return out
}

// newDataset writes a dataset and opens it.
func newDataset(t testing.TB, name string, rows []line) *dataset.Dataset {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table := [][]string{{"prompt", "category", "label"}}
	for _, r := range rows {
		table = append(table, []string{r.text, string(r.category), string(r.label)})
	}
	if err := csv.NewWriter(f).WriteAll(table); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Open(t.Context(), path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// newJudges makes judges from their specs.
func newJudges(t testing.TB, specs ...string) []judge.Judge {
	t.Helper()
	var judges []judge.Judge
	for _, s := range specs {
		j, err := judge.Parse(s, judge.Options{})
		if err != nil {
			t.Fatal(err)
		}
		judges = append(judges, j)
	}
	return judges
}

// target makes a target of the given provider.
func target(provider, name string) evaluate.Target {
	return evaluate.Target{Name: provider + "/" + name, Provider: provider, Model: name, Params: model.Params{MaxTokens: 50}}
}

// provider is a model that records the requests sent to it.
type provider struct {
	ask model.Func

	mu   sync.Mutex
	sent []model.Request
}

func (p *provider) Ask(ctx context.Context, r model.Request) (model.Response, error) {
	p.mu.Lock()
	p.sent = append(p.sent, r)
	p.mu.Unlock()
	return p.ask(ctx, r)
}

// requests returns what has been sent so far and clears it.
func (p *provider) requests() []model.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	sent := p.sent
	p.sent = nil
	return sent
}

// providers are the models of a run's lanes.
type providers map[string]*provider

// fillRun fills a run with calls to the providers. Every call makes a new
// fill.Live, as every command does.
func (p providers) fillRun(t testing.TB, r *evaluate.Run, m *store.Store, c fill.LiveConfig) error {
	t.Helper()
	if c.Attempts == 0 {
		c.Attempts = 2
	}
	c.Backoff = time.Nanosecond
	live := fill.NewLive(m, c)
	for _, ref := range r.Job().Refs() {
		if p[ref.Provider] == nil {
			t.Fatalf("the run asks %v, which the test does not know", ref)
		}
		live.Lane(ref, p[ref.Provider], fill.Limits{Concurrency: 4})
	}
	return live.Fill(context.Background(), r.Job().Work(m))
}

// mustFill fails the test on an error of fillRun.
func (p providers) mustFill(t testing.TB, r *evaluate.Run, m *store.Store) {
	t.Helper()
	if err := p.fillRun(t, r, m, fill.LiveConfig{}); err != nil {
		t.Fatal(err)
	}
}

// deriveRun derives a run with its rows.
func deriveRun(t testing.TB, r *evaluate.Run, m store.Reader) (score.Result, []score.AnswerRow) {
	t.Helper()
	var rows []score.AnswerRow
	result, err := r.Derive(context.Background(), m, func(row score.AnswerRow) error {
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return result, rows
}

// answers gives the same answer to every request.
func answers(text string) *provider {
	return &provider{ask: func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: text, Finish: model.Stop}, nil
	}}
}

// verdict is a judge's reply to a question of package judge. The question's
// last line shows the required form.
func verdict(r model.Request, class orbench.PaperClass) model.Response {
	question := r.Messages[len(r.Messages)-1].Content
	last := question[strings.LastIndex(question, "\n")+1:]
	marker, _, _ := strings.Cut(last, ":")
	return model.Response{Text: "The reply decides.\n\n" + marker + ": " + string(class), Finish: model.Stop}
}

// judging gives the same verdict on every answer.
func judging(class orbench.PaperClass) *provider {
	return &provider{ask: func(_ context.Context, r model.Request) (model.Response, error) {
		return verdict(r, class), nil
	}}
}

var errBroken = errors.New("broken")
