package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/postgres"
	"github.com/orbench/orbench/internal/store/sqlite"
	"github.com/orbench/orbench/internal/store/storetest"
	"github.com/orbench/orbench/model"
)

// TestBackends holds every backend to what is expected of it: what is put is found again by
// another handle, records are never changed, two writers lose nothing, and a Store over the
// backend groups its commits.
func TestBackends(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]struct {
		address func(t *testing.T) string
		open    func(ctx context.Context, address string) (store.Backend, error)
	}{
		"SQLite": {
			// A path with the characters that a URI could misread.
			func(t *testing.T) string { return filepath.Join(t.TempDir(), "a b?c#d%20.db") },
			func(ctx context.Context, path string) (store.Backend, error) { return sqlite.Open(ctx, path) },
		},
		"Postgres": {
			func(t *testing.T) string { return storetest.Database(t) },
			func(ctx context.Context, address string) (store.Backend, error) { return postgres.Open(ctx, address) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testBackend(t, func(t *testing.T) (store.Backend, func() store.Backend) {
				address := at.address(t)
				reopen := func() store.Backend {
					s, err := at.open(context.Background(), address)
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
				return reopen(), reopen
			})
		})
	}
}

// testBackend tests the stores that open returns. Each call of open gives a fresh
// store, and reopen another handle on the same one, as a second process has.
func testBackend(t *testing.T, open func(t *testing.T) (s store.Backend, reopen func() store.Backend)) {
	ctx := context.Background()

	t.Run("get what was put", func(t *testing.T) {
		t.Parallel()
		s, reopen := open(t)
		blocked := storetest.Record(2)
		blocked.Response = model.Response{Finish: model.Blocked, Block: &model.Block{Kind: model.PromptFilter, Detail: "X"}}
		put(t, s, storetest.Record(1), blocked)
		for name, s := range map[string]store.Backend{"same handle": s, "other handle": reopen()} {
			got, err := s.Get(ctx, []model.Hash{storetest.Record(1).Hash, blocked.Hash, storetest.Record(3).Hash})
			if err != nil {
				t.Fatal(err)
			}
			want := map[model.Hash]model.Response{storetest.Record(1).Hash: storetest.Record(1).Response, blocked.Hash: blocked.Response}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", name, d)
			}
		}
	})

	t.Run("long requests are packed, and come back", func(t *testing.T) {
		t.Parallel()
		s, reopen := open(t)
		long := storetest.Record(1)
		long.Request = model.Request{Provider: "test", Model: "m", Messages: []orbench.Message{{Role: orbench.User, Content: strings.Repeat("How do tides move a boat? ", 400)}}}.Canonical()
		long.Hash = model.HashCanonical(long.Request)
		want := []store.Record{long, storetest.Record(2)}
		put(t, s, want...)
		got, err := reopen().Records(ctx, []model.Hash{long.Hash, want[1].Hash})
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, d)
		}
	})

	t.Run("many look-ups of what is not there are not made", func(t *testing.T) {
		t.Parallel()
		s, _ := open(t)
		var hashes []model.Hash
		for n := range 400 {
			r := storetest.Record(n)
			if hashes = append(hashes, r.Hash); n%2 == 0 {
				put(t, s, r)
			}
		}
		want, err := s.Get(ctx, hashes)
		if err != nil || len(want) != 200 {
			t.Fatalf("%d found, %v", len(want), err)
		}
		for lookups, most := range map[int]int{100: 400, 1_000_000: 201} {
			counted := &countingReader{Reader: s}
			m, err := store.Filtered(ctx, counted, lookups)
			if err != nil {
				t.Fatal(err)
			}
			got := map[model.Hash]model.Response{}
			for piece := range slices.Chunk(hashes, 7) {
				found, err := m.Get(ctx, piece)
				if err != nil {
					t.Fatal(err)
				}
				maps.Copy(got, found)
			}
			if d := cmp.Diff(want, got); d != "" || counted.n < 200 || counted.n > most {
				t.Errorf("for %d look-ups, %d were made, at most %d (-want +got):\n%s", lookups, counted.n, most, d)
			}
		}
	})

	t.Run("a store has a name of its own", func(t *testing.T) {
		t.Parallel()
		s, reopen := open(t)
		other, _ := open(t)
		id, err := s.ID(ctx)
		if err != nil || len(id) < 26 {
			t.Fatalf("the ID is %q, %v", id, err)
		}
		if again, err := reopen().ID(ctx); err != nil || again != id {
			t.Errorf("another handle says %q, %v, want %q", again, err, id)
		}
		if another, err := other.ID(ctx); err != nil || another == id {
			t.Errorf("another store has the ID %q too (%v)", another, err)
		}
	})

	t.Run("marks stay where they are", func(t *testing.T) {
		t.Parallel()
		s, reopen := open(t)
		marks := func(s store.Backend, rows ...int64) []store.Mark {
			t.Helper()
			found, err := s.Marks(ctx, rows)
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		if none := marks(s, 1, math.MaxInt64); none[0] != (store.Mark{}) || none[1] != (store.Mark{}) {
			t.Errorf("an empty store has the marks %v", none)
		}
		put(t, s, storetest.Record(1), storetest.Record(2), storetest.Record(3))
		before := marks(s, math.MaxInt64, 0)
		last := before[0]
		if last.Row < 3 || before[1] != (store.Mark{}) {
			t.Errorf("the marks are %v", before)
		}
		put(t, s, storetest.Record(4), storetest.Record(1))
		after := marks(reopen(), last.Row, last.Row-1, math.MaxInt64)
		if after[0] != last || after[1].Row >= last.Row || after[1].Sum == last.Sum || after[2].Row <= last.Row {
			t.Errorf("%v, and with more calls %v", last, after)
		}
		other, _ := open(t)
		put(t, other, storetest.Record(3), storetest.Record(2), storetest.Record(1))
		if marks(other, last.Row)[0] == last {
			t.Error("other calls have the same mark")
		}
	})

	t.Run("a record is never changed", func(t *testing.T) {
		t.Parallel()
		s, _ := open(t)
		put(t, s, storetest.Record(1))
		other := storetest.Record(1)
		other.Response.Text = "another answer"
		put(t, s, other, storetest.Record(2), other)
		got, err := s.Get(ctx, []model.Hash{other.Hash})
		if err != nil {
			t.Fatal(err)
		}
		if got[other.Hash].Text != storetest.Record(1).Response.Text {
			t.Errorf("got %q, want the first answer", got[other.Hash].Text)
		}
		count(t, s, 2)
	})

	t.Run("whole records", func(t *testing.T) {
		t.Parallel()
		s, reopen := open(t)
		var want []store.Record
		for i := range 600 {
			want = append(want, storetest.Record(i))
		}
		put(t, s, want...)
		var all []store.Record
		for r, err := range reopen().AllRecords(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
		if d := cmp.Diff(want, all); d != "" {
			t.Errorf("all records (-want +got):\n%s", d)
		}
		for r := range s.AllRecords(ctx) {
			if r.Hash != want[0].Hash {
				t.Error("the first record is another")
			}
			break
		}
		got, err := s.Records(ctx, []model.Hash{storetest.Record(7).Hash, storetest.Record(3).Hash, storetest.Record(1000).Hash})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(got, func(a, b store.Record) int { return strings.Compare(a.Response.Text, b.Response.Text) })
		if d := cmp.Diff([]store.Record{storetest.Record(3), storetest.Record(7)}, got); d != "" {
			t.Errorf("some records (-want +got):\n%s", d)
		}
		if got, err := s.Records(ctx, nil); err != nil || len(got) > 0 {
			t.Errorf("no records: %v, %v", got, err)
		}
	})

	t.Run("annotations", func(t *testing.T) {
		t.Parallel()
		s, reopen := open(t)
		early := time.Date(2026, 11, 1, 12, 0, 0, 5, time.UTC)
		prompt := []orbench.Message{{Role: orbench.User, Content: "prompt"}}
		answer := orbench.AnswerSubject(prompt, "answer \x00 \U0001F642")
		drawn := orbench.Annotation{Subject: answer, At: early, Design: "d", Chance: 0.25}
		said := orbench.Annotation{Subject: answer, Class: orbench.Partial, By: "ana", At: early.Add(time.Second), Note: "half"}
		labeled := orbench.Annotation{Subject: orbench.PromptSubject(prompt), Label: orbench.Toxic, By: "ben", At: early.Add(time.Minute)}
		for _, add := range [][]orbench.Annotation{{labeled, said}, {drawn, said}, nil} {
			if err := s.Annotate(ctx, add); err != nil {
				t.Fatal(err)
			}
		}
		for name, s := range map[string]store.Backend{"same handle": s, "other handle": reopen()} {
			got, err := s.Annotations(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]orbench.Annotation{drawn, said, labeled}, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", name, d)
			}
		}
	})

	t.Run("wherever they lie", func(t *testing.T) {
		t.Parallel()
		const n = 1000
		seed := rand.Uint64()
		random := rand.New(rand.NewPCG(seed, 0))
		// Records of others lie between, some were never put, some came late.
		s, _ := open(t)
		var here []store.Record
		want := map[model.Hash]model.Response{}
		for i := range 2 * n {
			if random.IntN(20) > 0 {
				here = append(here, storetest.Record(i))
			}
			if i < n && len(here) > 0 && here[len(here)-1].Hash == storetest.Record(i).Hash {
				want[storetest.Record(i).Hash] = storetest.Record(i).Response
			}
		}
		for range len(here) / 50 {
			i := random.IntN(len(here))
			here[i], here[len(here)-1] = here[len(here)-1], here[i]
		}
		put(t, s, here...)
		hashes := make([]model.Hash, n)
		for i := range hashes {
			hashes[i] = storetest.Record(i).Hash
		}
		for _, order := range []string{"as put", "at random"} {
			for _, size := range []int{n, 300, 64, 20, 1} {
				got := map[model.Hash]model.Response{}
				for group := range slices.Chunk(hashes, size) {
					found, err := s.Get(ctx, group)
					if err != nil {
						t.Fatal(err)
					}
					for h := range found {
						if !slices.Contains(group, h) {
							t.Errorf("seed %d, %s, %d at a time: %s was not asked for", seed, order, size, h)
						}
					}
					maps.Copy(got, found)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("seed %d, %s, %d at a time (-want +got):\n%s", seed, order, size, d)
				}
			}
			random.Shuffle(n, func(i, j int) { hashes[i], hashes[j] = hashes[j], hashes[i] })
		}
	})

	t.Run("many at once", func(t *testing.T) {
		t.Parallel()
		s, _ := open(t)
		const n = 3000
		var records []store.Record
		var hashes []model.Hash
		for i := range n {
			records = append(records, storetest.Record(i))
			hashes = append(hashes, records[i].Hash)
		}
		put(t, s, records...)
		count(t, s, n)
		got, err := s.Get(ctx, hashes)
		if err != nil || len(got) != n {
			t.Fatalf("Get found %d, %v; want %d", len(got), err, n)
		}
		has, err := s.Has(ctx, append(hashes, storetest.Record(n).Hash))
		if err != nil || len(has) != n {
			t.Fatalf("Has found %d, %v; want %d", len(has), err, n)
		}
	})

	t.Run("nothing asked, nothing found", func(t *testing.T) {
		t.Parallel()
		s, _ := open(t)
		put(t, s)
		got, err := s.Get(ctx, nil)
		if err != nil || len(got) != 0 {
			t.Errorf("Get: %v, %v", got, err)
		}
		count(t, s, 0)
	})

	t.Run("two writers", func(t *testing.T) {
		t.Parallel()
		s, reopen := open(t)
		stores := []store.Backend{s, reopen()}
		var wg sync.WaitGroup
		for w := range stores {
			wg.Go(func() {
				for i := range 200 {
					// Every second record is put by both.
					n := i
					if i%2 == 1 {
						n = 1000*(w+1) + i
					}
					if err := stores[w].Put(ctx, []store.Record{storetest.Record(n)}); err != nil {
						t.Errorf("writer %d: %v", w, err)
						return
					}
				}
			})
		}
		wg.Wait()
		count(t, s, 300)
	})

	t.Run("claims", func(t *testing.T) {
		t.Parallel()
		s, reopen := open(t)
		other := reopen()
		hash := func(n ...int) (hs []model.Hash) {
			for _, n := range n {
				hs = append(hs, storetest.Record(n).Hash)
			}
			return hs
		}
		// No handle claims here what it has itself put since its last claim.
		seen := map[store.Backend]int64{}
		claim := func(s store.Backend, term time.Duration, answered, taken []model.Hash, n ...int) int64 {
			t.Helper()
			c, err := s.Claim(ctx, hash(n...), term, seen[s])
			if err != nil {
				t.Fatal(err)
			}
			seen[s] = c.Seen
			if len(c.Answered) != len(answered) || len(c.Taken) != len(taken) || (c.ID == 0) != (len(n) == len(answered)+len(taken)) {
				t.Errorf("claim %d of %v: %d answered, %d taken; want %d and %d", c.ID, n, len(c.Answered), len(c.Taken), len(answered), len(taken))
			}
			for _, h := range answered {
				if !c.Answered[h] {
					t.Errorf("claim of %v: %s is not answered", n, h)
				}
			}
			for _, h := range taken {
				if !c.Taken[h] {
					t.Errorf("claim of %v: %s is not taken", n, h)
				}
			}
			return c.ID
		}
		held := func(s store.Backend, want ...int64) {
			t.Helper()
			got, err := s.Renew(ctx, time.Hour)
			slices.Sort(got)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("renewed %v, %v; want %v", got, err, want)
			}
		}
		release := func(s store.Backend, claims ...int64) {
			t.Helper()
			if err := s.Release(ctx, claims); err != nil {
				t.Fatal(err)
			}
		}
		put(t, s, storetest.Record(1))
		first := claim(s, time.Hour, hash(1), nil, 1, 2, 3)
		claim(other, time.Hour, hash(1), hash(2, 3), 3, 2, 1)
		second := claim(other, time.Hour, nil, hash(3), 3, 4)
		put(t, s, storetest.Record(2))
		claim(other, time.Hour, hash(2), hash(3), 2, 3)
		// What a handle holds itself is no reason not to give it.
		third := claim(s, time.Hour, nil, hash(4), 3, 4, 5)
		held(s, first, third)
		held(other, second)
		release(s, third)
		held(s, first)
		claim(other, time.Hour, nil, nil, 5)
		claim(other, time.Hour, nil, hash(3), 3)
		release(s, first)
		release(s, first)
		release(s)
		claim(other, time.Hour, nil, nil, 3)
		claim(s, time.Hour, nil, hash(3, 4), 3, 4)
		// One that is over is taken over, and is then lost to who held it.
		over := claim(s, time.Nanosecond, nil, nil, 6)
		time.Sleep(time.Millisecond)
		if got, err := s.Renew(ctx, time.Hour); err != nil || !slices.Contains(got, over) {
			t.Errorf("renewed %v, %v; want %d too, which nobody has taken over", got, err, over)
		}
		release(s, over)
		over = claim(s, time.Nanosecond, nil, nil, 6)
		time.Sleep(time.Millisecond)
		// Without a clock for all, who sees it for the first time cannot know that it is over.
		if _, err := other.Claim(ctx, hash(6), time.Hour, 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
		claim(other, time.Millisecond, nil, nil, 6)
		if got, err := s.Renew(ctx, time.Hour); err != nil || slices.Contains(got, over) {
			t.Errorf("renewed %v, %v; %d was taken over", got, err, over)
		}
		// One that is closed holds nothing.
		gone := reopen()
		claim(gone, time.Hour, nil, nil, 7)
		claim(s, time.Hour, nil, hash(7), 7)
		if err := gone.Close(); err != nil {
			t.Fatal(err)
		}
		claim(s, time.Hour, nil, nil, 7)
		claim(s, time.Hour, nil, nil)
	})

	t.Run("shares", func(t *testing.T) {
		t.Parallel()
		s, reopen := open(t)
		other := reopen()
		one := store.Share{
			ID: "one", Began: time.Unix(1, 2).UTC(), Judging: true, Answers: store.Amount{Requests: 1, Tokens: 2, USD: 0.1}, Failed: store.Amount{USD: 1}, Charged: 3,
			Unpriced: true, Held: store.Amount{Tokens: 5}, Live: true,
		}
		before, two := store.Share{Answers: store.Amount{USD: 7}}, store.Share{ID: "two", Began: time.Unix(2, 0).UTC(), Live: true}
		change := func(s store.Backend, term time.Duration, want, put []store.Share, drop ...string) {
			t.Helper()
			var got []store.Share
			err := s.ChangeShares(ctx, "study", term, func(all []store.Share) ([]store.Share, []string) { got = all; return put, drop })
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%v: the shares are %+v, want %+v", err, got, want)
			}
		}
		change(s, time.Hour, nil, []store.Share{two, one, before})
		all := []store.Share{before, one, two}
		if got, err := other.Shares(ctx, "study"); err != nil || !slices.Equal(got, all) {
			t.Errorf("%v: the shares are %+v, want %+v", err, got, all)
		}
		if got, err := other.Shares(ctx, "another"); err != nil || len(got) != 0 {
			t.Errorf("%v: another study has %+v", err, got)
		}
		one.Held, one.Live = store.Amount{}, false
		change(other, time.Hour, all, []store.Share{one}, "", "two")
		change(other, time.Nanosecond, []store.Share{one}, []store.Share{two})
		time.Sleep(time.Millisecond)
		if _, err := s.Shares(ctx, "study"); err != nil { // who sees it for the first time cannot know it
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
		two.Live = false // its term is over
		change(s, time.Millisecond, []store.Share{one, two}, nil, "one", "two")
		change(s, time.Hour, nil, nil)
		// Each of many at once sees what the one before has put.
		var counting sync.WaitGroup
		for i := range 20 {
			counting.Go(func() {
				err := []store.Backend{s, other}[i%2].ChangeShares(ctx, "count", time.Hour, func(all []store.Share) ([]store.Share, []string) {
					n := store.Share{ID: "n"}
					if len(all) > 0 {
						n = all[0]
					}
					n.Charged++
					return []store.Share{n}, nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		counting.Wait()
		if got, err := s.Shares(ctx, "count"); err != nil || len(got) != 1 || got[0].Charged != 20 {
			t.Errorf("%v: 20 changes give %+v", err, got)
		}
	})

	t.Run("batches", func(t *testing.T) {
		t.Parallel()
		s, reopen := open(t)
		calls := func(n ...int) (calls []store.BatchCall) {
			for _, n := range n {
				calls = append(calls, store.BatchCall{Hash: storetest.Record(n).Hash, Request: storetest.Record(n).Request})
			}
			return calls
		}
		hashes := func(calls []store.BatchCall) (hs []model.Hash) {
			for _, c := range calls {
				hs = append(hs, c.Hash)
			}
			return hs
		}
		save := func(id byte, about string, open bool, n ...int) {
			t.Helper()
			if err := s.PutBatch(ctx, store.Batch{ID: store.BatchID{id}, About: []byte(about), Open: open}, calls(n...)); err != nil {
				t.Fatal(err)
			}
		}
		// out checks which calls a batch has, and that a claim tells that they are out.
		out := func(s store.Backend, id byte, n ...int) {
			t.Helper()
			want := calls(n...)
			slices.SortFunc(want, func(a, b store.BatchCall) int { return bytes.Compare(a.Hash[:], b.Hash[:]) })
			var got []store.BatchCall
			for c, err := range s.AllBatchCalls(ctx, store.BatchID{id}) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, c)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("batch %d has %d calls, want %d", id, len(got), len(want))
			}
			found, err := s.BatchCalls(ctx, store.BatchID{id}, append(hashes(want), storetest.Record(999).Hash))
			if err != nil || len(found) != len(want) {
				t.Errorf("found %d calls of batch %d, %v; want %d", len(found), id, err, len(want))
			}
		}
		save(1, "first", true, 1, 2, 3)
		save(2, "second", true, 3, 4)
		out(s, 1, 1, 2, 3)
		out(s, 2, 4) // what is out in one batch is not in another
		many := make([]int, 600)
		for i := range many {
			many[i] = 1000 + i
		}
		save(3, "third", true, many...)
		out(s, 3, many...)
		put(t, s, storetest.Record(1))
		c, err := s.Claim(ctx, hashes(calls(1, 2, 4, 5)), time.Hour, 0)
		if err != nil || c.ID == 0 || !c.Answered[storetest.Record(1).Hash] || len(c.Batched) != 2 || !c.Batched[storetest.Record(2).Hash] || !c.Batched[storetest.Record(4).Hash] {
			t.Errorf("claimed %+v, %v; want the second and the fourth as out", c, err)
		}
		// Further calls, and another word on it.
		save(1, "more", true, 6)
		out(s, 1, 1, 2, 3, 6)
		save(1, "done", false)
		out(s, 1)
		save(1, "late", true, 7) // what is over stays so
		out(s, 1)
		other := reopen()
		out(other, 2, 4)
		if c, err := other.Claim(ctx, hashes(calls(3, 7)), time.Hour, 0); err != nil || len(c.Batched) != 0 {
			t.Errorf("claimed %+v, %v; want none that is out", c, err)
		}
		all, err := other.Batches(ctx)
		want := []store.Batch{
			{ID: store.BatchID{1}, About: []byte("done")}, {ID: store.BatchID{2}, About: []byte("second"), Open: true}, {ID: store.BatchID{3}, About: []byte("third"), Open: true},
		}
		if err != nil || !reflect.DeepEqual(all, want) {
			t.Errorf("got %+v, %v; want %+v", all, err, want)
		}
	})

	t.Run("each call is one handle's", func(t *testing.T) {
		t.Parallel()
		s, reopen := open(t)
		stores := []store.Backend{s, reopen(), reopen()}
		const n = 300
		hashes := make([]model.Hash, n)
		for i := range hashes {
			hashes[i] = storetest.Record(i).Hash
		}
		var mu sync.Mutex
		mine := map[model.Hash]int{}
		var wg sync.WaitGroup
		for _, s := range stores {
			wg.Go(func() {
				for at := 0; at < n; at += 10 {
					c, err := s.Claim(ctx, hashes[at:at+10], time.Hour, 0)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					for _, h := range hashes[at : at+10] {
						if !c.Taken[h] {
							mine[h]++
						}
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		for i, h := range hashes {
			if mine[h] != 1 {
				t.Errorf("call %d is for %d handles to make, want 1", i, mine[h])
			}
		}
	})

	t.Run("failures", func(t *testing.T) {
		t.Parallel()
		s, _ := open(t)
		a, b := storetest.Record(1), storetest.Record(2)
		fail := func(h model.Hash, kind model.Kind, msg string) store.Failure {
			return store.Failure{Hash: h, Kind: kind, Message: msg}
		}
		for _, f := range []store.Failure{
			fail(a.Hash, model.Timeout, "first"), fail(a.Hash, model.Transient, "second"), fail(b.Hash, model.Invalid, "no"),
		} {
			if err := s.PutFailures(ctx, []store.Failure{f}); err != nil {
				t.Fatal(err)
			}
		}
		put(t, s, b)
		got, err := s.Failures(ctx, []model.Hash{a.Hash, b.Hash, storetest.Record(3).Hash})
		if err != nil {
			t.Fatal(err)
		}
		want := map[model.Hash]store.Failure{a.Hash: fail(a.Hash, model.Transient, "second")}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("a response outlives its failure; (-want +got):\n%s", d)
		}
		all, err := s.AllFailures(ctx)
		if d := cmp.Diff([]store.Failure{want[a.Hash]}, all); err != nil || d != "" {
			t.Errorf("all failures, %v (-want +got):\n%s", err, d)
		}
	})

	t.Run("runs", func(t *testing.T) {
		t.Parallel()
		s, _ := open(t)
		if _, err := s.Run(ctx, ""); !errors.Is(err, store.ErrNoRun) {
			t.Errorf("Run of an empty store: %v, want ErrNoRun", err)
		}
		for _, r := range []store.Run{
			{Name: "a", Config: []byte(`{"v":1}`)},
			{Name: "b", Config: []byte(`{}`)},
			{Name: "a", Config: []byte(`{"v":2}`), Datasets: []store.Key{{1}, {2}}, Made: []byte(`{"by":"c"}`)},
			{Name: "old", Config: []byte(`{"v":3}`), Saved: time.Date(2020, 1, 2, 3, 4, 5, 6, time.UTC)},
		} {
			if err := s.SaveRun(ctx, r); err != nil {
				t.Fatal(err)
			}
		}
		for name, want := range map[string]string{"": `{"v":2}`, "a": `{"v":2}`, "b": `{}`, "old": `{"v":3}`} {
			r, err := s.Run(ctx, name)
			if err != nil || string(r.Config) != want {
				t.Errorf("Run(%q) = %s, %v; want %s", name, r.Config, err, want)
			}
		}
		if _, err := s.Run(ctx, "c"); !errors.Is(err, store.ErrNoRun) {
			t.Errorf("Run(c): %v, want ErrNoRun", err)
		}
		runs, err := s.Runs(ctx)
		if err != nil || len(runs) != 3 || runs[0].Name != "a" || runs[1].Name != "b" || runs[2].Name != "old" {
			t.Fatalf("Runs = %v, %v; want a, b, old", runs, err)
		}
		if d := cmp.Diff([]store.Key{{1}, {2}}, runs[0].Datasets); d != "" || len(runs[1].Datasets) > 0 {
			t.Errorf("the datasets of runs (-want +got):\n%s%v", d, runs[1].Datasets)
		}
		if string(runs[0].Made) != `{"by":"c"}` || len(runs[1].Made) > 0 {
			t.Errorf("the runs were made by %q and %q", runs[0].Made, runs[1].Made)
		}
		if saved := runs[2].Saved; saved.Nanosecond() != 6 || saved.Year() != 2020 {
			t.Errorf("a run that was saved earlier is of %v", saved)
		}
	})

	t.Run("datasets", func(t *testing.T) {
		t.Parallel()
		s, reopen := open(t)
		// More than are read together, with a text that two datasets share.
		const n = 1300
		var prompts []orbench.Prompt
		for i := range n {
			p := orbench.NewPrompt(fmt.Sprintf("prompt %d \x00 \U0001F642", i), "violence", orbench.Safe)
			if i%3 == 0 {
				p.Cluster, p.Pair, p.Label = fmt.Sprint("seed ", i/2), fmt.Sprint("pair ", i/2), orbench.Toxic
			}
			prompts = append(prompts, p)
		}
		other := orbench.NewPrompt("prompt 5 \x00 \U0001F642", "", orbench.Controversial)
		dialog := []orbench.Message{{Role: orbench.System, Content: "s"}, {Role: orbench.User, Content: "u"}}
		others := []orbench.Prompt{{ID: orbench.PromptIDOf(dialog), Messages: dialog, Label: orbench.Safe}, other}
		for about, ps := range map[string][]orbench.Prompt{`{"a":1}`: prompts, `{"b":1}`: others} {
			if err := s.PutDataset(ctx, []byte(about), each(ps, nil)); err != nil {
				t.Fatal(err)
			}
		}
		unread := func(func(orbench.Prompt, error) bool) { t.Error("the prompts of a dataset that is present were read") }
		if err := s.PutDataset(ctx, []byte(`{"a":1}`), unread); err != nil {
			t.Error(err)
		}
		fault := errors.New("row 7 is no prompt")
		if err := s.PutDataset(ctx, []byte(`{"c":1}`), each(others, fault)); !errors.Is(err, fault) {
			t.Errorf("prompts that cannot be read: %v, want %v", err, fault)
		}
		keys, err := s.Datasets(ctx)
		if err != nil || len(keys) != 2 || !slices.Contains(keys, store.KeyOf([]byte(`{"a":1}`))) || !slices.Contains(keys, store.KeyOf([]byte(`{"b":1}`))) {
			t.Errorf("the datasets are %v, %v", keys, err)
		}
		for name, s := range map[string]store.Backend{"same handle": s, "other handle": reopen()} {
			for about, want := range map[string][]orbench.Prompt{`{"a":1}`: prompts, `{"b":1}`: others, `{"c":1}`: nil} {
				key, sum := store.KeyOf([]byte(about)), store.NewSum()
				for _, p := range want {
					sum.Add(nil, &p)
				}
				d, err := s.Dataset(ctx, key)
				if want == nil {
					if !errors.Is(err, store.ErrNoDataset) {
						t.Errorf("%s: what was not kept: %v, want ErrNoDataset", name, err)
					}
					continue
				}
				if d := cmp.Diff(store.Dataset{About: []byte(about), Prompts: len(want), Sum: sum.Of()}, d); err != nil || d != "" {
					t.Errorf("%s, %v (-want +got):\n%s", name, err, d)
				}
				var got []orbench.Prompt
				for p, err := range s.Prompts(ctx, key) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, p)
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s (-want +got):\n%s", name, d)
				}
				last := len(want) - 1
				some, err := s.PromptsAt(ctx, key, []int{0, last})
				if d := cmp.Diff([]orbench.Prompt{want[0], want[last]}, some); err != nil || d != "" {
					t.Errorf("%s, %v (-want +got):\n%s", name, err, d)
				}
				if _, err := s.PromptsAt(ctx, key, []int{last + 1}); !errors.Is(err, store.ErrDamaged) {
					t.Errorf("%s: a prompt beyond the last: %v", name, err)
				}
			}
			for _, err := range s.Prompts(ctx, store.Key{1}) {
				if !errors.Is(err, store.ErrNoDataset) {
					t.Errorf("%s: prompts of no dataset: %v", name, err)
				}
			}
		}
	})

	t.Run("two keep one dataset", func(t *testing.T) {
		t.Parallel()
		s, reopen := open(t)
		var ps []orbench.Prompt
		for i := range 100 {
			ps = append(ps, orbench.NewPrompt(fmt.Sprint("prompt ", i), "", orbench.Safe))
		}
		var wg sync.WaitGroup
		for _, s := range []store.Backend{s, reopen(), reopen()} {
			wg.Go(func() {
				for i := range 5 {
					about := fmt.Appendf(nil, `{"n":%d}`, i)
					if err := s.PutDataset(ctx, about, each(ps, nil)); err != nil {
						t.Error(err)
					}
					n := 0
					for _, err := range s.Prompts(ctx, store.KeyOf(about)) {
						if err != nil {
							t.Error(err)
						}
						n++
					}
					if n != len(ps) {
						t.Errorf("dataset %d has %d prompts, want %d", i, n, len(ps))
					}
				}
			})
		}
		wg.Wait()
	})

	t.Run("a store groups and loses nothing", func(t *testing.T) {
		t.Parallel()
		s, reopen := open(t)
		m := store.New(s)
		const writers, each = 16, 50
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					r := storetest.Record(w*each + i)
					if err := m.Remember(r); err != nil {
						t.Error(err)
						return
					}
					if has, err := m.Has(ctx, []model.Hash{r.Hash}); err != nil || !has[r.Hash] {
						t.Errorf("a remembered record is not there: %v", err)
					}
				}
			})
		}
		wg.Wait()
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		count(t, reopen(), writers*each)
		if err := m.Remember(storetest.Record(-1)); !errors.Is(err, store.ErrClosed) {
			t.Errorf("Remember after Close: %v, want ErrClosed", err)
		}
	})
}

// countingReader counts the hashes that are looked up.
type countingReader struct {
	store.Reader
	n int
}

func (c *countingReader) Get(ctx context.Context, hashes []model.Hash) (map[model.Hash]model.Response, error) {
	c.n += len(hashes)
	return c.Reader.Get(ctx, hashes)
}

// each streams prompts, and then an error if there is one.
func each(prompts []orbench.Prompt, err error) iter.Seq2[orbench.Prompt, error] {
	return func(yield func(orbench.Prompt, error) bool) {
		for _, p := range prompts {
			if !yield(p, nil) {
				return
			}
		}
		if err != nil {
			yield(orbench.Prompt{}, err)
		}
	}
}

func put(t *testing.T, s store.Backend, records ...store.Record) {
	t.Helper()
	if err := s.Put(context.Background(), records); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, s store.Backend, want int) {
	t.Helper()
	if n, err := s.Count(context.Background()); err != nil || n != want {
		t.Errorf("Count = %d, %v; want %d", n, err, want)
	}
}
