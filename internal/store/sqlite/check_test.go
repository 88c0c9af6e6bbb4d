package sqlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/storetest"
	"github.com/orbench/orbench/model"
)

const checkedCalls, checkedPrompts, checkedOut = 600, 300, 100

// prompts are those of the dataset in keptStore.
func prompts(yield func(orbench.Prompt, error) bool) {
	for i := range checkedPrompts {
		if !yield(orbench.NewPrompt(fmt.Sprintf("prompt %d %s", i, strings.Repeat("of some length ", 10)), "c", orbench.Safe), nil) {
			return
		}
	}
}

// keptStore makes a store with something of every kind, and gives its file.
func keptStore(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	var records []store.Record
	for i := range checkedCalls {
		r := storetest.Record(i)
		r.Response.Text += strings.Repeat(" and so on", 20)
		records = append(records, r)
	}
	var out []store.BatchCall
	for i := range checkedOut {
		r := storetest.Record(checkedCalls + i)
		out = append(out, store.BatchCall{Hash: r.Hash, Request: r.Request})
	}
	about := []byte(`{"name":"set"}`)
	err = errors.Join(
		s.Put(t.Context(), records),
		s.PutFailures(t.Context(), []store.Failure{{Hash: model.Hash{9}, Kind: model.Timeout, Message: "slow"}}),
		s.PutDataset(t.Context(), about, prompts),
		s.SaveRun(t.Context(), store.Run{Name: "r", Config: []byte("{}"), Datasets: []store.Key{store.KeyOf(about)}}),
		s.Annotate(t.Context(), []orbench.Annotation{{Subject: orbench.Subject{1}, Class: orbench.Refusal, By: "ana", At: time.Unix(1, 0).UTC()}}),
		s.PutBatch(t.Context(), store.Batch{ID: store.BatchID{1}, About: []byte(`{"at":"a provider"}`), Open: true}, out),
		s.PutBatch(t.Context(), store.Batch{ID: store.BatchID{2}, About: []byte("{}")}, nil),
		s.Vacuum(t.Context()), s.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// healthOf gives what was found of each kind, as good and lost.
func healthOf(h store.Health) map[string][2]int {
	found := map[string][2]int{}
	for _, k := range h.Kinds {
		found[k.Kind] = [2]int{k.Good, k.Lost}
	}
	return found
}

// TestCheckEndedBatch checks a store whose batches have ended: their calls, which the pages
// still hold, are not out, and a store that is saved from it may ask them.
func TestCheckEndedBatch(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	calls := []store.BatchCall{{Hash: storetest.Record(1).Hash, Request: storetest.Record(1).Request}}
	for id := range byte(3) {
		b := store.Batch{ID: store.BatchID{id + 1}, About: []byte("{}"), Open: true}
		err := s.PutBatch(t.Context(), b, calls)
		b.Open = false
		if err = errors.Join(err, s.PutBatch(t.Context(), b, nil)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	saved := filepath.Join(t.TempDir(), "saved.db")
	for _, file := range []string{path, saved} {
		to := saved
		if file == saved {
			to = ""
		}
		h, err := Check(t.Context(), file, to)
		if out := healthOf(h)["calls out in batches"]; err != nil || !h.Sound() || out != [2]int{} {
			t.Errorf("%s: %d calls are out, want none; %+v, %v", filepath.Base(file), out, h, err)
		}
	}
}

// TestCheckDamage overwrites every page of a store in turn. Each is found out, the file
// is left as it is, and all that does not lie on the page is saved to a store that is
// sound.
func TestCheckDamage(t *testing.T) {
	t.Parallel()
	path := keptStore(t)
	sound, err := Check(t.Context(), path, "")
	whole := map[string][2]int{
		"calls": {checkedCalls, 0}, "failures": {1, 0}, "batches": {2, 0}, "calls out in batches": {checkedOut, 0}, "pieces of prompts": {1, 0},
		"datasets": {1, 0}, "runs": {1, 0}, "annotations": {1, 0},
	}
	if err != nil || !sound.Sound() || !maps.Equal(healthOf(sound), whole) {
		t.Fatalf("a sound store: %+v, %v", sound, err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	lostCalls, lostPrompts := 0, 0
	for n := 1; n < len(content)/page; n += 7 {
		hurt := slices.Clone(content)
		for i := range page {
			hurt[n*page+i] = byte(i*7 + n)
		}
		file := filepath.Join(t.TempDir(), "hurt.db")
		if err := os.WriteFile(file, hurt, 0o600); err != nil {
			t.Fatal(err)
		}
		saved := filepath.Join(t.TempDir(), "saved.db")
		h, err := Check(t.Context(), file, saved)
		if err != nil {
			// The list of tables or the root of one is gone: that is said.
			if !errors.Is(err, orbench.ErrInput) {
				t.Fatalf("page %d: %v", n, err)
			}
			continue
		}
		if h.Sound() {
			t.Errorf("page %d: the damage is not found", n)
		}
		if after, _ := os.ReadFile(file); !slices.Equal(after, hurt) {
			t.Errorf("page %d: the file was changed", n)
		}
		found := healthOf(h)
		again, err := Check(t.Context(), saved, "")
		if err != nil || !again.Sound() {
			t.Errorf("page %d: what was saved is not sound: %+v, %v", n, again, err)
		}
		for kind, is := range healthOf(again) {
			if is[0] != found[kind][0] {
				t.Errorf("page %d: %d of %s were saved, of %d", n, is[0], kind, found[kind][0])
			}
		}
		// A page holds some dozen calls, or the root of their table.
		if lost := checkedCalls - found["calls"][0]; lost > 0 {
			lostCalls++
			if lost > 60 && lost < checkedCalls || found["calls"][1] == 0 {
				t.Errorf("page %d: %d calls are lost, and %d said to be", n, lost, found["calls"][1])
			}
		}
		s := mustOpen(t, saved)
		runs, err := s.Runs(t.Context())
		if err != nil || len(runs) != found["runs"][0] {
			t.Errorf("page %d: runs %+v, %v", n, runs, err)
		}
		for _, r := range runs {
			if has := len(r.Datasets) == 1; has != (found["datasets"] == [2]int{1, 0}) {
				t.Errorf("page %d: the run has its dataset: %v, datasets %v", n, has, found["datasets"])
			}
			for _, key := range r.Datasets {
				d, err := s.Dataset(t.Context(), key)
				read := 0
				for _, failed := range s.Prompts(t.Context(), key) {
					err = errors.Join(err, failed)
					read++
				}
				if lost := found["pieces of prompts"][1] == 1; err != nil || read+d.Lost != checkedPrompts || lost != (d.Lost > 0) {
					t.Errorf("page %d: %d prompts were read and %d are lost, %v", n, read, d.Lost, err)
				}
				if d.Lost == 0 {
					continue
				}
				lostPrompts++
				if err := s.PutDataset(t.Context(), d.About, prompts); err != nil {
					t.Error(err)
				}
				if d, err := s.Dataset(t.Context(), key); err != nil || d.Lost > 0 {
					t.Errorf("page %d: prompts that are kept again: %+v, %v", n, d, err)
				}
			}
		}
	}
	if lostCalls == 0 || lostPrompts == 0 {
		t.Errorf("the pages of calls (%d) or prompts (%d) were not among those tried", lostCalls, lostPrompts)
	}
}

// TestCheckContent finds a request that is no longer what its hash says, and an older
// store sound.
func TestCheckContent(t *testing.T) {
	t.Parallel()
	path := keptStore(t)
	s := mustOpen(t, path)
	if _, err := s.write.Exec(`UPDATE calls SET request = replace(request, 'prompt 7"', 'prompt 8"') WHERE id = 8`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.write.Exec(`UPDATE pieces SET prompts = replace(prompts, 'safe', 'toxic')`); err != nil {
		t.Fatal(err)
	}
	if err := s.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	h, err := Check(t.Context(), path, "")
	if found := healthOf(h); err != nil || found["calls"] != [2]int{checkedCalls - 1, 1} || found["pieces of prompts"] != [2]int{0, 1} || len(h.Faults) > 0 {
		t.Errorf("got %+v, %v", h, err)
	}
	for _, name := range []string{"schema1.db", "schema2.db", "schema4.db"} {
		saved := filepath.Join(t.TempDir(), "saved.db")
		h, err := Check(context.Background(), olderStore(t, name), saved)
		if err != nil || !h.Sound() {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
		older := mustOpen(t, saved)
		if n, err := older.Count(t.Context()); err != nil || n == 0 || n != healthOf(h)["calls"][0] {
			t.Errorf("%s: %d calls were saved, %v; found %v", name, n, err, healthOf(h))
		}
	}
	if _, err := Check(t.Context(), path, path); !errors.Is(err, orbench.ErrInput) {
		t.Errorf("saved over the store itself: %v", err)
	}
}

// TestChangedRow changes a letter or a figure in a row of each kind. Reading it is an
// error, and a check counts it as lost.
func TestChangedRow(t *testing.T) {
	t.Parallel()
	read := func(s *Store) error {
		_, err := s.Get(t.Context(), []model.Hash{storetest.Record(7).Hash})
		for _, failed := range s.AllRecords(t.Context()) {
			err = errors.Join(err, failed)
		}
		_, failures := s.AllFailures(t.Context())
		_, runs := s.Runs(t.Context())
		_, annotations := s.Annotations(t.Context())
		_, sets := s.Dataset(t.Context(), store.KeyOf([]byte(`{"name":"set"}`)))
		return errors.Join(err, failures, runs, annotations, sets)
	}
	for _, change := range []string{
		`UPDATE calls SET response = replace(response, 'answer 7:', 'answer 8:')`,
		`UPDATE calls SET hash = zeroblob(32) WHERE id = 8`,
		`UPDATE calls SET checksum = checksum + 1 WHERE id = 8`,
		`UPDATE failures SET kind = 'refused'`,
		`UPDATE failures SET kind = kind || 's', message = substr(message, 2)`,
		`UPDATE datasets SET prompts = prompts + 1`,
		`UPDATE runs SET config = '{"limit":1}'`,
		`UPDATE runs SET saved = saved + 1`,
		`UPDATE annotations SET annotation = replace(annotation, 'ana', 'ben')`,
	} {
		path := keptStore(t)
		s := mustOpen(t, path)
		if err := read(s); err != nil {
			t.Fatalf("a sound store: %v", err)
		}
		if _, err := s.write.Exec(change); err != nil {
			t.Fatal(err)
		}
		if err := read(s); !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "orbench store check") {
			t.Errorf("%s: reading says %v", change, err)
		}
		if h, err := Check(t.Context(), path, ""); err != nil || h.Sound() {
			t.Errorf("%s: a check says %+v, %v", change, h, err)
		}
	}
}

// TestDamageIsSaid has a read of a damaged page say what to do.
func TestDamageIsSaid(t *testing.T) {
	t.Parallel()
	path := keptStore(t)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(content[5*4096 : len(content)-4096])
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, path)
	for _, err = range s.AllRecords(t.Context()) {
		if err != nil {
			break
		}
	}
	if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), "orbench store check") {
		t.Errorf("got %v", err)
	}
}
