package index_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/job"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// place is a store and its index, in files.
type place struct {
	t     *testing.T
	path  string
	store *store.Store
	index *index.Index
	// reads counts the look-ups of answers, and said has what the index said.
	reads atomic.Int64
	said  []string
}

// newPlace opens a store at path, and its index.
func newPlace(t *testing.T, path string) *place {
	t.Helper()
	p := &place{t: t, path: path}
	var err error
	if p.store, err = address.Open(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	p.openIndex()
	t.Cleanup(p.close)
	return p
}

func (p *place) openIndex() {
	p.index = index.Open(context.Background(), filepath.Join(filepath.Dir(p.path), "index"), p.path, p.store, func(format string, args ...any) { p.said = append(p.said, fmt.Sprintf(format, args...)) })
}

func (p *place) close() {
	if err := errors.Join(p.index.Close(), p.store.Close()); err != nil && !errors.Is(err, store.ErrClosed) {
		p.t.Error(err)
	}
}

// counted is the store, whose look-ups are counted.
func (p *place) counted() store.Reader { return counting{p.store, &p.reads} }

type counting struct {
	store.Reader
	reads *atomic.Int64
}

func (c counting) Get(ctx context.Context, hashes []model.Hash) (map[model.Hash]model.Response, error) {
	c.reads.Add(1)
	return c.Reader.Get(ctx, hashes)
}

func newClients(t *testing.T) *client.Set {
	t.Helper()
	set, err := client.NewSet(client.Options{Providers: provider.Default(), Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// open makes the run of an experiment, and keeps it.
func (p *place) open(text string) *run.Run {
	p.t.Helper()
	file, err := experiment.Parse("experiment.yaml", []byte(text))
	if err != nil {
		p.t.Fatal(err)
	}
	made, err := run.New(p.t.Context(), &file.Experiment, newClients(p.t), "")
	if err != nil {
		p.t.Fatal(err)
	}
	if err := made.Save(p.t.Context(), p.store, time.Now()); err != nil {
		p.t.Fatal(err)
	}
	return p.find(made.Name)
}

// find opens a run from the store.
func (p *place) find(name string) *run.Run {
	p.t.Helper()
	stored, err := run.Find(p.t.Context(), p.store, name)
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := stored.Open(p.t.Context(), p.store, "")
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// fill has at most so many calls of a run made.
func (p *place) fill(r *run.Run, most int) {
	p.t.Helper()
	asking := *r
	asking.Recorded = false
	clients := newClients(p.t)
	live := fill.NewLive(p.store, fill.LiveConfig{Budget: fill.Budget{Requests: most}})
	for _, ref := range asking.Job().Refs() {
		c, err := clients.Connect(ref)
		if err != nil {
			p.t.Fatal(err)
		}
		live.Lane(ref, c.Model, fill.Limits{Concurrency: 4})
	}
	var stopped *fill.BudgetError
	if err := asking.Job().Fill(p.t.Context(), live, p.store); err != nil && !errors.As(err, &stopped) {
		p.t.Fatal(err)
	}
}

const everything = math.MaxInt32

// lacking gives hashes of calls that the run lacks.
func (p *place) lacking(r *run.Run) (hashes []model.Hash) {
	p.t.Helper()
	asking := *r
	asking.Recorded = false
	for call, err := range asking.Job().All(p.t.Context(), p.store) {
		if err != nil {
			p.t.Fatal(err)
		}
		if !call.Remembered {
			hashes = append(hashes, call.Hash)
		}
	}
	return hashes
}

// figures derives runs through the index, tells whether that took a walk, and fails where
// they are others than a walk gives.
func (p *place) figures(runs ...*run.Run) (walked bool) {
	p.t.Helper()
	p.reads.Store(0)
	got, err := run.Derive(p.t.Context(), p.counted(), runs, evaluate.Sinks{}, p.index.Figures)
	if err != nil {
		p.t.Fatal(err)
	}
	walked = p.reads.Load() > 0
	want, err := run.Derive(p.t.Context(), p.store, runs, evaluate.Sinks{}, run.Walk)
	if err != nil {
		p.t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		g, _ := json.Marshal(got) // shows where they differ, if JSON has it
		w, _ := json.Marshal(want)
		p.t.Errorf("the index gives other figures (walked %v):\n%s\nwant:\n%s", walked, firstDifference(string(g), string(w)), firstDifference(string(w), string(g)))
	}
	return walked
}

// firstDifference is where a text begins to differ from another.
func firstDifference(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[max(0, n-200):min(len(a), n+200)]
}

// whole reports whether it is known that a run lacks no call.
func (p *place) whole(r *run.Run) bool { return p.index.Whole(p.t.Context(), p.store, r, nil) }

// wantPlan fails unless the plan of a run that lacks no call and asks no judge is the same by the
// index as by a walk.
func (p *place) wantPlan(r *run.Run) {
	p.t.Helper()
	j := r.Job()
	walked, err := j.Plan(p.t.Context(), p.store, job.AtMost, nil)
	calls, known := r.KnownCalls()
	used := price.Usage{}
	whole := p.index.Whole(p.t.Context(), p.store, r, used)
	if err != nil || !known || !whole || j.Further {
		p.t.Fatal("not a run that lacks no call and asks no judge:", err, known, whole, j.Further)
	}
	var plans [2]string
	for i, of := range [][]job.Plan{walked, j.PlanWhole(calls, used)} {
		if err := job.Expect(p.t.Context(), p.store, of); err != nil {
			p.t.Fatal(err)
		}
		text, err := json.Marshal(of)
		if err != nil {
			p.t.Fatal(err)
		}
		plans[i] = string(text)
	}
	if plans[0] != plans[1] || len(walked) == 0 {
		p.t.Errorf("the plan by a walk and by the index:\n%s\n%s", plans[0], plans[1])
	}
}

// wantWalk holds a derivation to whether it took a walk.
func (p *place) wantWalk(why string, want bool, runs ...*run.Run) {
	p.t.Helper()
	if got := p.figures(runs...); got != want {
		p.t.Errorf("%s: walked %v, want %v", why, got, want)
	}
}

// draw draws answers of a run, and labels them.
func (p *place) label(r *run.Run, size int) {
	p.t.Helper()
	at := time.Date(2026, time.May, 1, 0, 0, 0, 0, time.UTC)
	items := p.index.Items(p.t.Context(), p.store, r, "", "", nil)
	drawn, _, err := annotation.Draw(items, annotation.NewWords(nil), size, 1, at)
	if err != nil {
		p.t.Fatal(err)
	}
	for i, d := range drawn {
		said := d
		said.Design, said.Chance, said.By, said.Class = "", 0, "ana", "full_answer"
		if i%3 == 0 {
			said.Class = "refusal"
		}
		drawn = append(drawn, said)
	}
	if err := p.store.Annotate(p.t.Context(), drawn); err != nil {
		p.t.Fatal(err)
	}
}

const rich = `
name: rich
targets: [sim/balanced, sim/strict]
datasets: [starter]
judges: [lexical, paper-keywords, "llm:sim/judge"]
limit: 16
variants: {defenses: [response-check, self-reminder], turns: [refused-before, pushback-own], temperatures: [0, {temperature: 1, samples: 3}], cross: false}
`

const plain = `
name: plain
targets: [sim/relaxed]
datasets: [starter]
judges: [lexical]
limit: 40
`

const until = `
name: until
targets: [sim/balanced]
datasets: [starter]
judges: [lexical]
until: 8pp
`

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
}
