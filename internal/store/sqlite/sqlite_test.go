package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
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
	"golang.org/x/sync/errgroup"
)

func mustOpen(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	database := func(name, statements string) string {
		path := filepath.Join(dir, name)
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(statements); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct{ path, want string }{
		"not a database":  {file("x.db", strings.Repeat("prompt,category\n", 100)), "is not an orbench store, or its first page is damaged"},
		"another program": {database("y.db", `CREATE TABLE t (a)`), "another program"},
		"a newer schema":  {database("z.db", `PRAGMA application_id = 0x6f72626e; PRAGMA user_version = 99`), "newer orbench"},
		"no folder":       {filepath.Join(dir, "none", "a.db"), "folder"},
		"a folder":        {dir, "is a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			before, _ := os.ReadFile(c.path)
			_, err := Open(context.Background(), c.path)
			if !errors.Is(err, orbench.ErrInput) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an input error with %q", err, c.want)
			}
			if after, _ := os.ReadFile(c.path); string(after) != string(before) {
				t.Error("the file was changed")
			}
		})
	}
}

// TestOpenAtOnce has several make one store at the same time, as processes that
// start together do.
func TestOpenAtOnce(t *testing.T) {
	t.Parallel()
	for range 20 {
		path := filepath.Join(t.TempDir(), "m.db")
		var opening errgroup.Group
		for range 6 {
			opening.Go(func() error {
				s, err := Open(context.Background(), path)
				if err != nil {
					return err
				}
				return s.Close()
			})
		}
		if err := opening.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkRemember(b *testing.B) {
	m := store.New(mustOpen(b, filepath.Join(b.TempDir(), "m.db")))
	b.SetParallelism(16)
	var n int
	records := make([]store.Record, b.N)
	for i := range records {
		records[i] = storetest.Record(i)
		records[i].Response.Text = strings.Repeat("An answer of some length. ", 40)
	}
	next := make(chan store.Record, 64)
	go func() {
		defer close(next)
		for _, r := range records {
			next <- r
		}
	}()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := m.Remember(<-next); err != nil {
				b.Error(err)
			}
		}
	})
	b.StopTimer()
	n, _ = m.Count(context.Background())
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkClaim claims calls by the numbers in which fill does, among 20,000 others.
func BenchmarkClaim(b *testing.B) {
	for _, together := range []int{16, 256} {
		b.Run(fmt.Sprint(together), func(b *testing.B) {
			s := mustOpen(b, filepath.Join(b.TempDir(), "m.db"))
			var records []store.Record
			for i := range 20_000 {
				records = append(records, storetest.Record(i))
			}
			if err := s.Put(b.Context(), records); err != nil {
				b.Fatal(err)
			}
			hashes := make([]model.Hash, together)
			n := 20_000
			for b.Loop() {
				for i := range hashes {
					n++
					binary.BigEndian.PutUint64(hashes[i][:], uint64(n)*0x9e3779b97f4a7c15)
				}
				c, err := s.Claim(b.Context(), hashes, time.Minute, 0)
				if err == nil {
					err = s.Release(b.Context(), []int64{c.ID})
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*together), "µs/call")
		})
	}
}

func BenchmarkGet(b *testing.B) {
	s := mustOpen(b, filepath.Join(b.TempDir(), "m.db"))
	const n = 20000
	var records []store.Record
	var hashes []model.Hash
	for i := range n {
		records = append(records, storetest.Record(i))
		records[i].Response.Text = strings.Repeat("An answer of some length. ", 40)
		hashes = append(hashes, records[i].Hash)
	}
	if err := s.Put(context.Background(), records); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		got, err := s.Get(context.Background(), hashes)
		if err != nil || len(got) != n {
			b.Fatal(len(got), err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// olderStore copies a store of an earlier schema, and gives the copy's file.
func olderStore(t *testing.T, name string) string {
	t.Helper()
	old, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.db")
	if err := os.WriteFile(path, old, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOlderStore opens stores of earlier schemas, as orbench wrote them: their calls,
// runs and annotations are there, and they take annotations and datasets.
func TestOlderStore(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		run                          string
		calls, annotations, datasets int
	}{
		"schema1.db": {"first", 3, 0, 0},
		"schema2.db": {"first", 36, 8, 0},
		"schema4.db": {"first", 6, 4, 1},
	} {
		s := mustOpen(t, olderStore(t, name))
		n, err := s.Count(t.Context())
		if err != nil || n != want.calls {
			t.Errorf("%s: %d calls, %v; want %d", name, n, err, want.calls)
		}
		r, err := s.Run(t.Context(), want.run)
		if err != nil || r.Datasets == nil || len(r.Datasets) != want.datasets {
			t.Errorf("%s: the datasets of the run are %v, %v; want %d", name, r.Datasets, err, want.datasets)
		}
		before, err := s.Annotations(t.Context())
		if err != nil || len(before) != want.annotations {
			t.Errorf("%s: %d annotations, %v; want %d", name, len(before), err, want.annotations)
		}
		said := orbench.Annotation{Subject: orbench.Subject{1}, Class: orbench.Refusal, By: "ana", At: time.Unix(1, 0).UTC()}
		if err := s.Annotate(t.Context(), []orbench.Annotation{said}); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Annotations(t.Context()); err != nil || !slices.Equal(got, append([]orbench.Annotation{said}, before...)) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		prompt := orbench.NewPrompt("How?", "", orbench.Safe)
		if err := s.PutDataset(t.Context(), []byte("{}"), func(yield func(orbench.Prompt, error) bool) { yield(prompt, nil) }); err != nil {
			t.Fatal(err)
		}
		for got, err := range s.Prompts(t.Context(), store.KeyOf([]byte("{}"))) {
			if err != nil || got.ID != prompt.ID {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		}
	}
}
