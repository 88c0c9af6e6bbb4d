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

// TestCheckDamage overwrites pages of a store in turn. Each is found out, and the file is
// left as it is.
func TestCheckDamage(t *testing.T) {
	t.Parallel()
	path := keptStore(t)
	sound, err := Check(t.Context(), path)
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
	for n := 1; n < len(content)/page; n += 7 {
		hurt := slices.Clone(content)
		for i := range page {
			hurt[n*page+i] = byte(i*7 + n)
		}
		file := filepath.Join(t.TempDir(), "hurt.db")
		if err := os.WriteFile(file, hurt, 0o600); err != nil {
			t.Fatal(err)
		}
		if h, err := Check(t.Context(), file); err != nil || h.Sound() {
			t.Errorf("page %d: the damage is not found: %+v, %v", n, h, err)
		}
		if after, _ := os.ReadFile(file); !slices.Equal(after, hurt) {
			t.Errorf("page %d: the file was changed", n)
		}
	}
}

// TestCheckContent finds a request that is no longer what its hash says, pieces of prompts
// and datasets that are named and not there, and an older store sound.
func TestCheckContent(t *testing.T) {
	t.Parallel()
	path := keptStore(t)
	s := mustOpen(t, path)
	do := func(statement string) {
		t.Helper()
		if _, err := s.write.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	do(`UPDATE calls SET request = replace(request, 'prompt 7"', 'prompt 8"') WHERE id = 8`)
	do(`UPDATE pieces SET prompts = replace(prompts, 'safe', 'toxic')`)
	for _, c := range []struct {
		then             string
		pieces, datasets [2]int
	}{
		{"", [2]int{0, 1}, [2]int{1, 0}},
		{`DELETE FROM pieces`, [2]int{0, 1}, [2]int{1, 0}},
		{`DELETE FROM datasets`, [2]int{0, 0}, [2]int{0, 1}},
	} {
		do(c.then)
		h, err := Check(t.Context(), path)
		found := healthOf(h)
		if err != nil || found["calls"] != [2]int{checkedCalls - 1, 1} ||
			found["pieces of prompts"] != c.pieces || found["datasets"] != c.datasets || len(h.Faults) > 0 {
			t.Errorf("%s: got %+v, %v", c.then, h, err)
		}
	}
	for _, name := range []string{"schema1.db", "schema2.db", "schema4.db"} {
		older := olderStore(t, name)
		before, _ := os.ReadFile(older)
		h, err := Check(context.Background(), older)
		if err != nil || !h.Sound() || h.Kinds[0].Good == 0 {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
		if after, _ := os.ReadFile(older); !slices.Equal(after, before) {
			t.Errorf("%s was changed", name)
		}
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
		if h, err := Check(t.Context(), path); err != nil || h.Sound() {
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
