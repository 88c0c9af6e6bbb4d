package index_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/annotation"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/index"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/store"
)

// items are those of a run by an index, nil for a walk.
func (p *place) items(x *index.Index, r *run.Run) (all []annotation.Item) {
	p.t.Helper()
	for item, err := range x.Items(p.t.Context(), p.counted(), r, "", "", nil) {
		if err != nil {
			p.t.Fatal(err)
		}
		all = append(all, item)
	}
	return all
}

// study gives the rows of a run, and fails where there are none.
func (p *place) study(r *run.Run) *index.Study {
	p.t.Helper()
	s, err := p.index.Study(p.t.Context(), p.counted(), r, nil)
	if err != nil || s == nil {
		p.t.Fatalf("the rows of %s: %v, %v, %q", r.Name, s, err, p.said)
	}
	return s
}

// walk gives the rows of a run in the order of positions.
func (p *place) walk(r *run.Run) (rows []score.AnswerRow) {
	p.t.Helper()
	_, err := r.DeriveTo(p.t.Context(), p.store, evaluate.Sinks{Chunk: func(chunk score.Chunk) error {
		for i := range chunk.Prompts {
			for _, samples := range chunk.Rows {
				for _, of := range samples {
					rows = append(rows, of[i])
				}
			}
		}
		return nil
	}})
	if err != nil {
		p.t.Fatal(err)
	}
	return rows
}

// sameRows holds the rows that the index reads to those of a walk.
func (p *place) sameRows(r *run.Run) {
	p.t.Helper()
	want, s := p.walk(r), p.study(r)
	if s.Answers() != len(want) {
		p.t.Fatalf("%s has %d rows, want %d", r.Name, s.Answers(), len(want))
	}
	for from := 0; from < len(want); from += 37 {
		// Backwards, as a page may have them.
		var positions []int
		for at := min(from+37, len(want)) - 1; at >= from; at-- {
			positions = append(positions, at)
		}
		got, err := s.Read(p.t.Context(), p.store, positions)
		if err != nil {
			p.t.Fatal(err)
		}
		for i, at := range positions {
			g, _ := json.Marshal(got[i])
			w, _ := json.Marshal(want[at])
			if !bytes.Equal(g, w) {
				p.t.Fatalf("row %d of %s is\n%s\nwant\n%s", at, r.Name, g, w)
			}
			if at%37 != 0 {
				continue
			}
			id := got[i].Prompt.ID
			found, err := s.FindPrompts(p.t.Context(), got[i].Dataset, []orbench.PromptID{id, "p0"})
			first, _ := s.Prompt(at)
			if place, ok := found[id]; place != first || !ok || len(found) != 1 || err != nil {
				p.t.Fatalf("%s of %s is at %v, %v, want %d", id, got[i].Dataset, found, err, first)
			}
			of, err := s.OfPrompts(p.t.Context(), []string{string(id)})
			if err != nil {
				p.t.Fatal(err)
			}
			chosen, err := s.Choose(p.t.Context(), nil, of)
			if err != nil || !chosen.Has(at) {
				p.t.Fatalf("the prompt of row %d chooses others, %v", at, err)
			}
			total, _ := chosen.Count()
			if page, err := chosen.Page(p.t.Context(), index.Order{}, 0, len(want)); len(page) != total || !slices.Contains(page, at) || err != nil {
				p.t.Fatalf("the prompt of row %d chooses %d rows: %v, %v", at, total, page, err)
			}
		}
	}
}

// TestRows has the answers of runs of many kinds from their rows, as a walk has them.
func TestRows(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "m.db"))
	for _, text := range []string{rich, plain, until} {
		r := p.open(text)
		p.fill(r, everything)
		want := p.items(nil, r)
		p.study(r)
		r = p.find(r.Name)
		p.reads.Store(0)
		got := p.items(p.index, r)
		if n := p.reads.Load(); n > 0 {
			t.Errorf("%s: %d look-ups for its rows", r.Name, n)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) == 0 {
			t.Errorf("%s: answers (-walk +index):\n%s", r.Name, diff)
		}
		p.sameRows(r)
		p.wantWalk(r.Name+", whose rows came with figures", false, r)
	}
	r := p.find("plain")
	p.label(r, 12)
	want, _, err := (*index.Index)(nil).Drawn(t.Context(), p.store, r, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := p.index.Drawn(t.Context(), p.store, r, false, nil)
	if diff := cmp.Diff(want, got); diff != "" || err != nil || len(got) != 12 {
		t.Errorf("%d drawn answers, %v (-walk +index):\n%s", len(got), err, diff)
	}
}

// TestRowsOfARunBeingFilled has rows follow the store, and those of another run stay.
func TestRowsOfARunBeingFilled(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "m.db"))
	whole := p.open(plain)
	p.fill(whole, everything)
	p.study(whole)
	r := p.open(rich)
	for _, most := range []int{0, 90, 120} {
		if most > 0 {
			p.fill(r, most)
		}
		p.sameRows(r)
	}
	if err := p.store.PutFailures(t.Context(), []store.Failure{{Hash: p.lacking(r)[0], Kind: "server", Message: "no room"}}); err != nil {
		t.Fatal(err)
	}
	p.sameRows(r)
	p.fill(r, everything)
	p.sameRows(r)
	p.reads.Store(0)
	p.study(whole)
	p.study(r)
	if n := p.reads.Load(); n > 0 {
		t.Errorf("%d look-ups for rows that have not changed", n)
	}
}

// TestDamagedRows damages the file after its rows were kept: what is read is what a walk
// gives.
func TestDamagedRows(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m.db")
	p := newPlace(t, path)
	r := p.open(plain)
	p.fill(r, everything)
	want := p.items(p.index, r)
	p.index.Close()
	at := p.index.Path()
	content, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	for from := 4200; from < len(content); from += 1171 {
		hurt := bytes.Clone(content)
		for i := from; i < min(from+30, len(hurt)); i++ {
			hurt[i] ^= 0xaa
		}
		write(t, at, string(hurt))
		p.openIndex()
		if diff := cmp.Diff(want, p.items(p.index, r)); diff != "" {
			t.Errorf("damaged at %d (-want +got):\n%s", from, diff)
		}
		p.index.Close()
	}
}
