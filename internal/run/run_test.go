package run_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/client"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/experiment"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/provider"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/address"
)

// openStore opens a store in a file of its own.
func openStore(t *testing.T, path string) *store.Store {
	t.Helper()
	m, err := address.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil && !errors.Is(err, store.ErrClosed) {
			t.Error(err)
		}
	})
	return m
}

// newClients makes a set without keys.
func newClients(t *testing.T) *client.Set {
	t.Helper()
	set, err := client.NewSet(client.Options{Providers: provider.Default(), Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// parse reads an experiment.
func parse(t *testing.T, text string) *experiment.Experiment {
	t.Helper()
	file, err := experiment.Parse("experiment.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &file.Experiment
}

// filled has everything of a run asked.
func filled(t *testing.T, r *run.Run, clients *client.Set, m *store.Store) {
	t.Helper()
	live := fill.NewLive(m, fill.LiveConfig{})
	for _, ref := range r.Job().Refs() {
		c := clients.Client(ref.Provider, ref.Endpoint)
		live.Lane(ref, c.Model, fill.Limits{Concurrency: c.Concurrency})
	}
	if err := live.Fill(t.Context(), r.Job().Work(m)); err != nil {
		t.Fatal(err)
	}
}

// TestStoredRun makes a run, fills it, and derives the same figures of it from the
// store alone, with no client.
func TestStoredRun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orbench.db")
	m := openStore(t, path)
	clients := newClients(t)
	made, err := run.New(t.Context(), parse(t, `
name: mine
targets: [sim/balanced, sim/strict]
datasets: [starter]
judges: [lexical, "llm:sim/judge"]
limit: 12
variants: {defenses: [response-check], cross: false}
`), clients, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Save(t.Context(), m, time.Now()); err != nil {
		t.Fatal(err)
	}
	filled(t, made, clients, m)
	want, err := run.Derive(t.Context(), m, []*run.Run{made}, evaluate.Sinks{}, run.Walk)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Runs) == 0 || want.Runs[0].Answered == 0 {
		t.Fatalf("nothing was answered: %+v", want.Runs)
	}

	other, err := address.OpenExisting(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	stored, err := run.Find(t.Context(), other, "")
	if err != nil || stored.Name != "mine" {
		t.Fatalf("the newest run is %q, %v", stored.Name, err)
	}
	again, err := stored.Open(t.Context(), other, "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := run.Derive(t.Context(), other, []*run.Run{again}, evaluate.Sinks{}, run.Walk)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the stored run has other figures (-made +stored):\n%s", diff)
	}
	all, err := run.List(t.Context(), other)
	if err != nil || len(all) != 1 || strings.Join(all[0].Config.TargetNames(), " ") != strings.Join(made.Config.TargetNames(), " ") {
		t.Errorf("the list is %+v, %v", all, err)
	}
}

// TestNamesFollowFromSettings has a run without a name called alike for the same
// settings, whoever judges.
func TestNamesFollowFromSettings(t *testing.T) {
	t.Parallel()
	name := func(more string) string {
		t.Helper()
		r, err := run.New(t.Context(), parse(t, "targets: [sim/balanced]\ndatasets: [starter]\n"+more), newClients(t), "")
		if err != nil {
			t.Fatal(err)
		}
		return r.Name
	}
	plain := name("")
	if !strings.HasPrefix(plain, "run-") || name("judges: [paper-keywords]") != plain {
		t.Errorf("%s changes with the judge", plain)
	}
	if name("limit: 3") == plain || name("seed: 7") == plain {
		t.Error("other settings have the same name")
	}
}

func TestSettingsAtFault(t *testing.T) {
	t.Parallel()
	for want, text := range map[string]string{
		"$.targets[1]":           "targets: [sim/balanced, sim/nobody]\ndatasets: [starter]",
		"$.datasets[0]":          "targets: [sim/balanced]\ndatasets: [nothing]",
		"$.judges[1]":            "targets: [sim/balanced]\ndatasets: [starter]\njudges: [lexical, \"llm:nobody/x\"]",
		"$.variants.defenses[0]": "targets: [sim/balanced]\ndatasets: [starter]\nvariants: {defenses: [\"input-guard:nobody/x\"]}",
	} {
		_, err := run.New(t.Context(), parse(t, text), newClients(t), "")
		var setting *run.SettingError
		if !errors.As(err, &setting) || setting.Path != want || !errors.Is(err, orbench.ErrInput) {
			t.Errorf("%s: %v (%T)", want, err, err)
		}
	}
}

func TestReplayMustAnswerTheDatasets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"answers.csv": "prompt,response\nOne?,a\n", "set.csv": "prompt\nOne?\nTwo?\n", "others.csv": "prompt,response\nThree?,a\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x := parse(t, fmt.Sprintf("targets: [%q]\ndatasets: [%q]", "replay:"+filepath.Join(dir, "answers.csv"), filepath.Join(dir, "set.csv")))
	for limit, want := range map[int]string{0: "[" + filepath.Join(dir, "answers.csv") + ": has no answer to 1 of the 2 prompts of set, the first of them ", 1: "[]"} {
		x.Limit = limit
		r, err := run.New(t.Context(), x, newClients(t), "")
		if err != nil || !strings.HasPrefix(fmt.Sprint(r.Notes), want) {
			t.Errorf("limited to %d: %v, %v", limit, r, err)
		}
	}
	x.Limit = 1
	x.Targets[0].Target = "replay:" + filepath.Join(dir, "others.csv")
	if _, err := run.New(t.Context(), x, newClients(t), ""); err == nil || !strings.Contains(err.Error(), "no answer to 1 of the 1 prompts") {
		t.Errorf("got %v", err)
	}
}

// TestChangedDataset opens a run whose file has changed or is gone: the store has the
// prompts that were asked, clusters and pairs too. Where it has not, as in a store of an
// older version, figures of other prompts are refused, and an unchanged file is kept.
func TestChangedDataset(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "set.csv")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const asked = "prompt,label,pair\nOne?,safe,1\nTwo?,toxic,1\nThree?,safe,2\n"
	write(asked)
	m := openStore(t, filepath.Join(t.TempDir(), "orbench.db"))
	r, err := run.New(t.Context(), parse(t, fmt.Sprintf("name: it\nlimit: 2\ntargets: [sim/balanced]\ndatasets: [%q]", path)), newClients(t), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Save(t.Context(), m, time.Now()); err != nil {
		t.Fatal(err)
	}
	var want []orbench.Prompt
	for p, err := range r.Datasets[0].First(r.Limit) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, p)
	}
	saved, err := m.Run(t.Context(), "it")
	if err != nil {
		t.Fatal(err)
	}
	older := store.Run{Name: "older", Config: saved.Config, Saved: saved.Saved}
	open := func(name, changed string) {
		t.Helper()
		stored, err := run.Find(t.Context(), m, name)
		if err != nil {
			t.Fatal(err)
		}
		again, err := stored.Open(t.Context(), m, "")
		if err != nil {
			t.Fatal(err)
		}
		if note := strings.Join(again.Changed, "\n"); !strings.Contains(note, changed) || (note == "") != (changed == "") {
			t.Errorf("said is %q, want %q", note, changed)
		}
		var got []orbench.Prompt
		for p, err := range again.Datasets[0].Prompts() {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, p)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("the prompts (-want +got):\n%s", d)
		}
		if a, b := *r.Datasets[0], *again.Datasets[0]; a.SHA256 != b.SHA256 || a.PairedBy != b.PairedBy || a.Count != b.Count || a.Source != b.Source {
			t.Errorf("the dataset is %+v, was %+v", b, a)
		}
		if err := again.Save(t.Context(), m, time.Now()); err != nil {
			t.Fatal(err)
		}
		if resaved, err := m.Run(t.Context(), name); err != nil || !slices.Equal(resaved.Datasets, saved.Datasets) {
			t.Errorf("saved again, %v, the run asks %v, and asked %v", err, resaved.Datasets, saved.Datasets)
		}
	}
	open("it", "")
	write("prompt,label,pair\nOther?,safe,1\n")
	open("it", "has changed since run it")
	write("prompt,label,pair\nOther?,nonsense,1\n")
	open("it", "unknown label")

	if err := m.SaveRun(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	stored, err := run.Find(t.Context(), m, "older")
	if err != nil {
		t.Fatal(err)
	}
	write("prompt,label,pair\nOther?,safe,1\n")
	if _, err := stored.Open(t.Context(), m, ""); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("got %v", err)
	}
	write(asked)
	if _, err := stored.Open(t.Context(), m, ""); err != nil {
		t.Error(err)
	}
	if kept, err := m.Run(t.Context(), "older"); err != nil || !kept.Saved.Equal(older.Saved) {
		t.Errorf("%v: keeping its prompts has the run started %v, not %v", err, kept.Saved, older.Saved)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	open("it", "")
	open("older", "")
}

func TestFindNothing(t *testing.T) {
	t.Parallel()
	m := openStore(t, filepath.Join(t.TempDir(), "orbench.db"))
	find := func(name, want string) {
		t.Helper()
		if _, err := run.Find(context.Background(), m, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
	find("", "holds no run; make one")
	for n := range 12 {
		if err := m.SaveRun(t.Context(), store.Run{Name: fmt.Sprintf("r%02d", n), Config: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
	}
	find("mine", `holds no run named "mine"; it holds r`)
	find("mine", ", …")
	find("r00,r01", "separate several names by spaces; it holds r")
	if err := m.SaveRun(t.Context(), store.Run{Name: "broken", Config: []byte("[1]")}); err != nil {
		t.Fatal(err)
	}
	find("broken", "the configuration of run broken is damaged")
}
