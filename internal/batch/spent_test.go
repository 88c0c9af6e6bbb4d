package batch_test

import (
	"math"
	"testing"
	"time"

	"github.com/orbench/orbench/internal/batch"
	"github.com/orbench/orbench/internal/fill"
	"github.com/orbench/orbench/internal/price"
	"github.com/orbench/orbench/internal/provenance"
	"github.com/orbench/orbench/internal/run"
	"github.com/orbench/orbench/internal/store"
	"github.com/orbench/orbench/internal/study"
	"github.com/orbench/orbench/model"
)

// spent is what the run has spent.
func (a *account) spent(t *testing.T) study.Spent {
	t.Helper()
	d := a.desk(t, nil)
	s, err := batch.Spent(t.Context(), d.Store, d.Study, d.Job, d.Prices)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What is out is reserved at the most that it can take; what came back counts at what it was,
// at half the price; what failed by batch costs nothing. Failed attempts that were charged
// count, and who judges has a bound of judging alone.
func TestSpent(t *testing.T) {
	t.Parallel()
	a := newAccount(t, "openai", 6)
	a.more = `judges: ["llm:openai/gpt-4o"]` + "\n"
	if s := a.spent(t); s.Requests() != 0 || *s.USD != 0 || s.Line(fill.Budget{USD: 1}) != "" {
		t.Errorf("nothing is spent, and told of is %+v", s)
	}
	a.submit(t, 1)
	target, _ := price.Default().Price("openai", models["openai"])
	out := a.spent(t)
	// Answers may have 1,000 tokens each.
	if out.Out != 6 || out.Tokens < 6000 || out.Tokens > 6600 || *out.USD < target.Cost(model.Usage{Output: 6000})/2 {
		t.Errorf("out: %+v, $%g", out, *out.USD)
	}
	a.end("completed", 4, 0)
	a.collect(t, 4, 2, 2)
	back := a.spent(t)
	if want := target.Cost(model.Usage{Input: 400, Output: 200}) / 2; back.Replies != 4 || back.Out != 0 || back.Tokens != 600 || math.Abs(*back.USD-want) > 1e-12 {
		t.Errorf("back: %+v, $%g; want $%g for 4 replies", back, *back.USD, want)
	}
	// Attempts of a command: three that failed, of which two may have been charged.
	d := a.desk(t, nil)
	share := store.Share{ID: "it", Began: time.Unix(1, 0), Charged: 2, Failed: store.Amount{Requests: 3, Tokens: 500, USD: 0.25}}
	err := d.Store.ChangeShares(t.Context(), "main", time.Minute, func([]store.Share) ([]store.Share, []string) { return []store.Share{share}, nil })
	if err != nil {
		t.Fatal(err)
	}
	stored, err := run.Find(t.Context(), d.Store, "main")
	if err != nil {
		t.Fatal(err)
	}
	r, err := stored.Open(t.Context(), d.Store, "")
	if err != nil {
		t.Fatal(err)
	}
	r.Recorded = false
	s, err := batch.Spent(t.Context(), d.Store, r.Study, r.Job(), d.Prices)
	if err != nil || s.FailedAttempts != 3 || s.Requests() != 7 || s.Tokens != 1100 || math.Abs(*s.USD-*back.USD-0.25) > 1e-12 {
		t.Errorf("with failures: %+v, $%g, %v", s, *s.USD, err)
	}
	limits := fill.Budget{Requests: 10, Tokens: 5000, USD: 5}
	if got, want := s.Line(limits), "spent by earlier commands: $0.2501 of `max-cost=5`, 1,100 of `max-total-tokens=5,000`, 7 of `max-requests=10`, for 4 replies and 3 attempts without a reply"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	// What is judged is another matter: nothing is spent on judges.
	r.Recorded = true
	if s, err := batch.Spent(t.Context(), d.Store, r.Study, r.Job(), d.Prices); err != nil || s.Requests() != 0 {
		t.Errorf("judges: %+v, %v", s, err)
	}
	// Of a failure without a price the dearest of the run is taken; of an older program's
	// nothing is known, which is not nothing.
	r.Recorded = false
	share.ID, share.Began, share.Unpriced = "other", time.Unix(2, 0), true
	err = d.Store.ChangeShares(t.Context(), "main", time.Minute, func([]store.Share) ([]store.Share, []string) { return []store.Share{share}, nil })
	if err != nil {
		t.Fatal(err)
	}
	s, err = batch.Spent(t.Context(), d.Store, r.Study, r.Job(), d.Prices)
	if judge, _ := price.Default().Price("openai", "gpt-4o"); err != nil || math.Abs(*s.USD-*back.USD-0.25-500*judge.Output/1e6) > 1e-12 {
		t.Errorf("without a price: %+v, $%g, %v", s, *s.USD, err)
	}
	r.History.Failed = append(r.History.Failed, provenance.Failed{Began: time.Unix(3, 0), Attempts: 1})
	s, err = batch.Spent(t.Context(), d.Store, r.Study, r.Job(), d.Prices)
	if err != nil || s.USD != nil || len(s.Unpriced) != 1 {
		t.Errorf("unknown: %+v, %v", s, err)
	}
	if _, err := s.Of(limits); err == nil {
		t.Error("a bound of money is kept of an unknown sum")
	}
	if _, err := s.Of(fill.Budget{Requests: 10}); err != nil {
		t.Errorf("a bound of requests: %v", err)
	}
}
