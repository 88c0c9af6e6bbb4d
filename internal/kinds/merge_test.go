package kinds_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/kinds"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
	"github.com/orbench/orbench/internal/store/storetest"
	"github.com/orbench/orbench/model"
)

// filled makes a store and has fill put things into it.
func filled(t *testing.T, fill func(context.Context, *store.Store) error) *store.Store {
	t.Helper()
	m, err := address.Open(t.Context(), filepath.Join(t.TempDir(), "m.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	if fill != nil {
		if err := fill(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// run is a run of a store as a configuration's JSON says.
func run(name, config string, at int64, datasets ...store.Key) store.Run {
	return store.Run{Name: name, Config: []byte(config), Saved: time.Unix(at, 0).UTC(), Datasets: append([]store.Key{}, datasets...)}
}

// content is all that a store holds, in an order that does not depend on how it came in.
type content struct {
	Records     []store.Record
	Failures    []store.Failure
	Runs        []store.Run
	Datasets    map[store.Key]int
	Annotations []orbench.Annotation
}

func contentOf(t *testing.T, m *store.Store) (c content) {
	t.Helper()
	ctx := t.Context()
	for r, err := range m.AllRecords(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		c.Records = append(c.Records, r)
	}
	var faults [4]error
	var keys []store.Key
	c.Failures, faults[0] = m.AllFailures(ctx)
	c.Runs, faults[1] = m.Runs(ctx)
	c.Annotations, faults[2] = m.Annotations(ctx)
	keys, faults[3] = m.Datasets(ctx)
	if err := errors.Join(faults[:]...); err != nil {
		t.Fatal(err)
	}
	c.Datasets = map[store.Key]int{}
	for _, key := range keys {
		for _, err := range m.Prompts(ctx, key) {
			if err != nil {
				t.Fatal(err)
			}
			c.Datasets[key]++
		}
	}
	return c
}

// twoStores are stores that share a call, a failure, a dataset, a run and a label.
func twoStores(t *testing.T) (a, b *store.Store) {
	t.Helper()
	prompts := func(yield func(orbench.Prompt, error) bool) { yield(orbench.NewPrompt("p", "", orbench.Safe), nil) }
	label := func(by string) orbench.Annotation {
		return orbench.Annotation{Subject: orbench.Subject{1}, Class: orbench.Refusal, By: by, At: time.Unix(9, 0).UTC()}
	}
	fail := func(n int) store.Failure {
		return store.Failure{Hash: storetest.Record(n).Hash, Kind: model.Timeout, Message: "slow"}
	}
	key := store.KeyOf([]byte("{}"))
	a = filled(t, func(ctx context.Context, m *store.Store) error {
		return errors.Join(
			m.Put(ctx, []store.Record{storetest.Record(1), storetest.Record(2)}),
			m.PutFailures(ctx, []store.Failure{fail(3), fail(4)}),
			m.PutDataset(ctx, []byte("{}"), prompts),
			m.SaveRun(ctx, run("shared", `{"targets":[],"datasets":null,"judges":[{"spec":"lexical"}]}`, 5, key)),
			m.SaveRun(ctx, run("a", `{"limit":1}`, 4)),
			m.Annotate(ctx, []orbench.Annotation{label("ana"), label("ben")}),
		)
	})
	b = filled(t, func(ctx context.Context, m *store.Store) error {
		slow := storetest.Record(2)
		slow.Response.Latency, slow.Response.ID = time.Hour, "another"
		return errors.Join(
			m.Put(ctx, []store.Record{slow, storetest.Record(3)}),
			m.PutFailures(ctx, []store.Failure{fail(4)}),
			m.PutDataset(ctx, []byte("{}"), prompts),
			m.PutDataset(ctx, []byte(`{"b":1}`), prompts),
			m.SaveRun(ctx, run("shared", `{"targets":[],"datasets":null,"judges":[{"spec":"paper-keywords"}]}`, 7, key)),
			m.Annotate(ctx, []orbench.Annotation{label("ben"), label("cleo")}),
		)
	})
	return a, b
}

// TestMerge has two stores make one that holds all of both, once, whichever comes first
// and however often.
func TestMerge(t *testing.T) {
	t.Parallel()
	a, b := twoStores(t)
	merge := func(stores ...*store.Store) content {
		into := filled(t, nil)
		for _, from := range stores {
			done, err := kinds.Merge(t.Context(), into, from, false)
			if err != nil || done.Disagree() {
				t.Fatalf("%+v, %v", done, err)
			}
		}
		return contentOf(t, into)
	}
	got := merge(a, b)
	if len(got.Records) != 3 || len(got.Failures) != 1 || len(got.Runs) != 2 || len(got.Datasets) != 2 || len(got.Annotations) != 3 {
		t.Errorf("got %d calls, %d failures, %d runs, %d datasets, %d annotations; want 3, 1, 2, 2, 3",
			len(got.Records), len(got.Failures), len(got.Runs), len(got.Datasets), len(got.Annotations))
	}
	if want := `{"targets":null,"datasets":null,"judges":[{"spec":"lexical"},{"spec":"paper-keywords"}]}`; string(got.Runs[0].Config) != want {
		t.Errorf("the run has the settings %s, want %s", got.Runs[0].Config, want)
	}
	if !got.Runs[0].Saved.Equal(time.Unix(7, 0)) {
		t.Errorf("the run was last started %v", got.Runs[0].Saved)
	}
	if d := cmp.Diff(got, merge(a, b, a, b)); d != "" {
		t.Errorf("merged again (-once +twice):\n%s", d)
	}
	anyOrder := cmp.Options{
		cmpopts.SortSlices(func(a, b store.Record) bool { return a.Hash.String() < b.Hash.String() }),
		cmpopts.IgnoreFields(model.Response{}, "Latency", "ID"), cmpopts.IgnoreFields(store.Run{}, "Config"),
	}
	if d := cmp.Diff(got, merge(b, a), anyOrder); d != "" {
		t.Errorf("merged in the other order (-a, b +b, a):\n%s", d)
	}
}

// TestConflicts has stores give another answer to a call and other settings to a run:
// nothing is written, or the first answer and both runs stay.
func TestConflicts(t *testing.T) {
	t.Parallel()
	into := filled(t, func(ctx context.Context, m *store.Store) error {
		return errors.Join(m.Put(ctx, []store.Record{storetest.Record(1)}), m.SaveRun(ctx, run("r", `{"limit":1}`, 1)), m.SaveRun(ctx, run("r-2", `{}`, 2)))
	})
	from := filled(t, func(ctx context.Context, m *store.Store) error {
		other := storetest.Record(1)
		other.Response.Text = "another answer"
		return errors.Join(m.Put(ctx, []store.Record{other, storetest.Record(2)}), m.SaveRun(ctx, run("r", `{"limit":2}`, 3)))
	})
	before := contentOf(t, into)
	done, err := kinds.Merge(t.Context(), into, from, false)
	want := []kinds.Conflict{
		{Run: "r", Differ: []string{"limit"}, Renamed: "r-3"},
		{Model: "test/m", Prompt: "prompt 1"},
	}
	if d := cmp.Diff(want, done.Conflicts); err != nil || done.Answers != 1 || d != "" {
		t.Errorf("%v, %d answers, conflicts (-want +got):\n%s", err, done.Answers, d)
	}
	if d := cmp.Diff(before, contentOf(t, into)); d != "" {
		t.Errorf("stores that disagree were merged (-before +after):\n%s", d)
	}
	if done, err = kinds.Merge(t.Context(), into, from, true); err != nil || done.Runs != 1 || done.Calls != 1 {
		t.Errorf("%+v, %v", done, err)
	}
	after := contentOf(t, into)
	if after.Records[0].Response.Text != storetest.Record(1).Response.Text || len(after.Runs) != 3 {
		t.Errorf("the first answer is %q, of %d runs", after.Records[0].Response.Text, len(after.Runs))
	}
	if r, err := into.Run(t.Context(), "r-3"); err != nil || string(r.Config) != `{"limit":2}` {
		t.Errorf("the other run is %s, %v", r.Config, err)
	}
}

// Prompts that were lost with a damaged store come back from one that has them, and are
// not taken for a whole dataset by one that has none.
func TestMergeOfLostPrompts(t *testing.T) {
	t.Parallel()
	ctx, about := t.Context(), []byte(`{"name":"d"}`)
	var prompts []orbench.Prompt
	for i := range 600 {
		text := fmt.Sprint("prompt ", i)
		prompts = append(prompts, orbench.Prompt{ID: orbench.PromptID(text), Messages: []orbench.Message{{Role: "user", Content: text}}})
	}
	keep := func(ctx context.Context, m *store.Store) error {
		return m.PutDataset(ctx, about, func(yield func(orbench.Prompt, error) bool) {
			for _, p := range prompts {
				if !yield(p, nil) {
					return
				}
			}
		})
	}
	damaged := func(statement string) string {
		path := filepath.Join(t.TempDir(), "damaged.db")
		if err := address.Create(ctx, path, func(m *store.Store) error {
			return errors.Join(keep(ctx, m), m.SaveRun(ctx, store.Run{Name: "r", Config: []byte("{}"), Datasets: []store.Key{store.KeyOf(about)}}))
		}); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec(statement)
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		return path
	}
	told := 0
	lost, err := address.OpenReading(ctx, damaged(`UPDATE pieces SET prompts = 'x' WHERE rowid = 1`), func() { told++ })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lost.Close() })
	empty := filled(t, nil)
	done, err := kinds.Merge(ctx, empty, lost, false)
	if err != nil || done.Lost != 1 || done.Datasets != 0 || done.Runs != 1 || told != 1 {
		t.Errorf("into an empty store: %+v, %v; told %d times", done, err, told)
	}
	if r, err := empty.Run(ctx, "r"); err != nil || len(r.Datasets) != 0 {
		t.Errorf("the run without its dataset: %+v, %v", r, err)
	}
	whole := filled(t, keep)
	if done, err := kinds.Merge(ctx, whole, lost, false); err != nil || done.Datasets != 0 || done.Lost != 0 {
		t.Errorf("into a store that has them: %+v, %v", done, err)
	}
	// An older version noted lost pieces as zeros.
	older, err := address.Open(ctx, damaged(`UPDATE datasets SET pieces = CAST(zeroblob(32) || substr(pieces, 33) AS BLOB), checksum = NULL`))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { older.Close() })
	if d, err := older.Dataset(ctx, store.KeyOf(about)); err != nil || d.Lost != 512 {
		t.Errorf("%d are lost, %v", d.Lost, err)
	}
	_, err = kinds.Merge(ctx, older, whole, false)
	d, found := older.Dataset(ctx, store.KeyOf(about))
	if err != nil || found != nil || d.Lost != 0 || contentOf(t, older).Datasets[store.KeyOf(about)] != len(prompts) {
		t.Errorf("from a store that has them: %v, %v, %d are lost", err, found, d.Lost)
	}
}
