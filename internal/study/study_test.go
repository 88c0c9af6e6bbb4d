package study_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/store/sqlite"
	"github.com/orbench/orbench/internal/study"
)

// settings are those of a made-up study.
type settings struct {
	Kind  study.Kind `json:"kind,omitempty"`
	Asks  string     `json:"asks"`
	Limit int        `json:"limit"`
}

func newStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	m := store.New(s)
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func newStudy(t *testing.T, kind study.Kind, name, asks string) *study.Study {
	t.Helper()
	c := settings{Asks: asks}
	if kind != study.Eval {
		c.Kind = kind
	}
	s, err := study.New(kind, name, c, c)
	if err != nil {
		t.Fatal(err)
	}
	s.Keep = func(context.Context, store.Keeper) ([]store.Key, error) { return nil, nil }
	return s
}

// A study is found by its name and kind, goes on with its history, and takes no other's
// place.
func TestKept(t *testing.T) {
	t.Parallel()
	m := newStore(t)
	if _, err := study.Find(t.Context(), m, ""); !errors.Is(err, orbench.ErrInput) {
		t.Errorf("an empty store gives %v", err)
	}
	run, vote := newStudy(t, study.Eval, "", "a"), newStudy(t, study.Moderate, "", "a")
	if !strings.HasPrefix(run.Name, "run-") || !strings.HasPrefix(vote.Name, "moderate-") {
		t.Errorf("they are called %s and %s", run.Name, vote.Name)
	}
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, s := range []*study.Study{run, vote} {
		if err := s.Start(t.Context(), m, provenance.Command{Line: "orbench " + string(s.Kind)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	share := store.Share{ID: "it", Began: began, Charged: 1, Failed: store.Amount{Requests: 2, USD: 3}, Held: store.Amount{Requests: 4, USD: 5}, Live: true}
	err := m.ChangeShares(t.Context(), vote.Name, time.Minute, func([]store.Share) ([]store.Share, []string) { return []store.Share{share}, nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		kinds []study.Kind
		want  string
	}{
		{"", nil, run.Name}, // the vote was saved last
		{"", []study.Kind{study.Moderate}, vote.Name},
		{vote.Name, nil, vote.Name},
		{vote.Name, []study.Kind{study.Eval}, ""},
		{"other", nil, ""},
	} {
		s, err := study.Find(t.Context(), m, tt.name, tt.kinds...)
		got := ""
		if err == nil {
			got = s.Name
		} else if !errors.Is(err, orbench.ErrInput) {
			t.Error(err)
		}
		if got != tt.want {
			t.Errorf("%q of %v is %q, %v; want %q", tt.name, tt.kinds, got, err, tt.want)
		}
	}
	all, err := study.List(t.Context(), m)
	if err != nil || len(all) != 2 || all[0].Name != vote.Name || all[0].Kind != study.Moderate {
		t.Errorf("listed are %v, %v", all, err)
	}
	again := newStudy(t, study.Moderate, vote.Name, "a")
	if _, err := again.Resume(t.Context(), m); err != nil || len(again.History.Commands) != 1 || again.History.Failed[0].Attempts != 1 {
		t.Errorf("again, the history is %+v, %v", again.History, err)
	}
	// Of one that is gone, all counts that it held. The next command keeps that, and counts anew.
	share.Live = false
	again = newStudy(t, study.Moderate, vote.Name, "a")
	err = m.ChangeShares(t.Context(), vote.Name, time.Minute, func([]store.Share) ([]store.Share, []string) { return []store.Share{share}, nil })
	if err == nil {
		err = again.Start(t.Context(), m, provenance.Command{Line: "again"}, nil)
	}
	if err == nil {
		_, err = again.Account(t.Context(), m, false, true)
	}
	kept, failed := m.Run(t.Context(), vote.Name)
	if err != nil || failed != nil || !strings.Contains(string(kept.Made), `"attempts":5,"cut_off":4,"usd":8,"free":1`) {
		t.Errorf("%v: what one held that is gone is not kept: %s", errors.Join(err, failed), kept.Made)
	}
	if left, err := m.Shares(t.Context(), vote.Name); err != nil || len(left) != 1 || !left[0].Live || left[0].Held != (store.Amount{}) {
		t.Errorf("%v: the shares are %+v", err, left)
	}
	for _, other := range []*study.Study{newStudy(t, study.Moderate, vote.Name, "b"), newStudy(t, study.Eval, vote.Name, "a")} {
		if _, err := other.CheckName(t.Context(), m); !errors.Is(err, orbench.ErrInput) {
			t.Errorf("%s %s takes the name of another: %v", other.Kind, other.Config, err)
		}
	}
}

// Two stores have one study where its settings are the same, with the commands of both.
func TestUnion(t *testing.T) {
	t.Parallel()
	kept := func(asks, line string, saved int64) store.Run {
		s := newStudy(t, study.Moderate, "it", asks)
		s.History.Start(provenance.Command{Line: line, Date: time.Unix(saved, 0)})
		s.Saved = time.Unix(saved, 0)
		r, err := s.Stored()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one, differ, err := study.Union(kept("a", "first", 1), kept("a", "second", 2))
	if err != nil || differ != nil {
		t.Fatal(differ, err)
	}
	s, err := study.Of(one)
	if err != nil || len(s.History.Commands) != 2 || !s.Saved.Equal(time.Unix(2, 0)) {
		t.Errorf("together they are %+v, %v", s, err)
	}
	if _, differ, err = study.Union(kept("a", "first", 1), kept("b", "second", 2)); err != nil || !slices.Equal(differ, []string{"asks"}) {
		t.Errorf("others differ in %v, %v", differ, err)
	}
}
