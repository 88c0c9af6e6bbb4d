package compare_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/compare"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/versus"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// row is the answer to the i-th prompt of a label, in one of two categories.
func row(i int, label orbench.Label, refused bool) score.AnswerRow {
	class := orbench.FullAnswer
	if refused {
		class = orbench.Refusal
	}
	return classed(i, label, class)
}

func classed(i int, label orbench.Label, class orbench.Class) score.AnswerRow {
	category := orbench.Category("hate")
	if i%4 > 1 {
		category = "privacy"
	}
	return score.AnswerRow{
		Target: "made/up", Prompt: orbench.NewPrompt(fmt.Sprintf("%s prompt %d", label, i), category, label), Status: score.Answered,
		Verdicts: []score.JudgeVerdict{{Judge: "made up", Verdict: orbench.Verdict{Class: class}}},
	}
}

// fated is a row without a verdict.
func fated(i int, status score.Status) score.AnswerRow {
	r := row(i, orbench.Safe, false)
	r.Status, r.Verdicts = status, nil
	return r
}

// many adds n rows with consecutive numbers from the given one.
func many(t *testing.T, add func(score.AnswerRow) error, from, n int, refused bool) {
	t.Helper()
	for i := range n {
		must(t, add(row(from+i, orbench.Safe, refused)))
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// TestPaired compares with counts by hand: of 40 shared prompts both refuse 5,
// only the base 2, only the candidate 9, and both answer 24.
func TestPaired(t *testing.T) {
	t.Parallel()
	c := compare.New("made up")
	many(t, c.AddBase, 0, 7, true)
	many(t, c.AddBase, 7, 33, false)
	many(t, c.AddCandidate, 0, 5, true)
	many(t, c.AddCandidate, 5, 2, false)
	many(t, c.AddCandidate, 7, 9, true)
	many(t, c.AddCandidate, 16, 24, false)
	r := c.Result(compare.Options{})
	m := r.Metrics[0]
	if !r.Paired || m.Base.N != 40 || m.Base.Refused != 7 || m.Candidate.Refused != 14 || m.OnlyBaseRefused != 2 || m.OnlyCandidateRefused != 9 {
		t.Errorf("counted %+v", m)
	}
	near(t, "the difference", m.Difference.Value, 7.0/40)
	// Mid-p: 2 × P(X ≤ 2) - P(X = 2), X of 11 fair coins = (2 × 67 - 55) / 2048.
	near(t, "p", *m.P, 79.0/2048)
	if m.Test != versus.McNemar {
		t.Errorf("the test is %s", m.Test)
	}
	var n, only int
	for _, by := range m.ByCategory {
		n, only = n+by.Base.N, only+by.OnlyCandidateRefused
		if *by.PHolm < *by.P {
			t.Errorf("%s: p corrected to %v is below %v", by.Category, *by.PHolm, *by.P)
		}
	}
	if len(m.ByCategory) != 2 || n != 40 || only != 9 {
		t.Errorf("the categories hold %d prompts and %d newly refused: %+v", n, only, m.ByCategory)
	}
	if toxic := r.Metrics[1]; toxic.Difference != nil || toxic.P != nil || toxic.Base.Share != nil || toxic.Test != "" {
		t.Errorf("figures of no prompt: %+v", toxic)
	}
	if r.Flips.Total != 11 || !r.Flips.Shown[0].NowRefused() || r.Flips.Shown[10].NowRefused() {
		t.Errorf("%d flips, want 11 with the newly refused first", r.Flips.Total)
	}
}

// TestConservation has a prompt of every kind and checks that all are counted.
func TestConservation(t *testing.T) {
	t.Parallel()
	c := compare.New("made up")
	sides := []func(score.AnswerRow) error{c.AddBase, c.AddCandidate}
	for _, add := range sides {
		many(t, add, 0, 10, true)
	}
	must(t, c.AddBase(fated(10, score.Failed)))
	must(t, c.AddCandidate(row(10, orbench.Safe, true)))
	must(t, c.AddBase(row(11, orbench.Safe, true)))
	must(t, c.AddCandidate(classed(11, orbench.Safe, orbench.Unjudged)))
	must(t, c.AddBase(fated(12, score.Unanswered)))
	must(t, c.AddCandidate(fated(12, score.Failed)))
	many(t, c.AddBase, 20, 3, true)
	many(t, c.AddCandidate, 30, 4, true)
	must(t, c.AddCandidate(fated(40, score.Unanswered)))
	must(t, c.AddBase(row(0, orbench.Safe, false))) // a repetition
	must(t, c.AddBase(row(50, orbench.Controversial, false)))
	// A prompt whose label changed is not a pair.
	must(t, c.AddBase(row(60, orbench.Toxic, true)))
	moved := row(60, orbench.Toxic, true)
	moved.Prompt.Label = orbench.Safe
	must(t, c.AddCandidate(moved))

	r := c.Result(compare.Options{})
	m := r.Metrics[0]
	if m.Prompts != 22 || m.Base.N != 10 || m.Excluded != 3 || m.OnlyInBase != 3 || m.OnlyInCandidate != 6 {
		t.Errorf("%d prompts = %d compared + %d excluded + %d + %d", m.Prompts, m.Base.N, m.Excluded, m.OnlyInBase, m.OnlyInCandidate)
	}
	if want := (compare.SideCounts{Prompts: 16, Judged: 14, Failed: 1, Unanswered: 1}); m.BaseCounts != want {
		t.Errorf("the base has %+v, want %+v", m.BaseCounts, want)
	}
	if want := (compare.SideCounts{Prompts: 19, Judged: 16, Unjudged: 1, Failed: 1, Unanswered: 1}); m.CandidateCounts != want {
		t.Errorf("the candidate has %+v, want %+v", m.CandidateCounts, want)
	}
	if r.Base.Repeated != 1 || r.Base.Other != 1 || r.Base.Prompts != 17 || r.Candidate.Prompts != 19 {
		t.Errorf("the sides are %+v and %+v", r.Base, r.Candidate)
	}
	if r.Metrics[1].OnlyInBase != 1 || r.Metrics[1].Base.N != 0 {
		t.Errorf("the toxic prompts are %+v", r.Metrics[1])
	}
}

// TestUnpaired compares 10 of 20 with 2 of 20 other prompts.
func TestUnpaired(t *testing.T) {
	t.Parallel()
	c := compare.New("made up")
	many(t, c.AddBase, 0, 2, true)
	many(t, c.AddBase, 2, 18, false)
	many(t, c.AddCandidate, 100, 10, true)
	many(t, c.AddCandidate, 110, 10, false)
	r := c.Result(compare.Options{})
	m := r.Metrics[0]
	if r.Paired || m.Test != compare.Fisher || r.Flips.Total != 0 {
		t.Errorf("paired %v, test %s, %d flips", r.Paired, m.Test, r.Flips.Total)
	}
	near(t, "the difference", m.Difference.Value, 0.4)
	// Both tails of the hypergeometric distribution, which is symmetric here:
	// 2 × Σ C(20,k) C(20,12-k) / C(40,12) for k = 0, 1, 2.
	near(t, "p", *m.P, 2*(125970+20*167960+190*184756)/5586853480.0)
}

// TestUnpairedOnDemand uses all verdicts of each side, pairs or not.
func TestUnpairedOnDemand(t *testing.T) {
	t.Parallel()
	c := compare.New("made up")
	many(t, c.AddBase, 0, 10, true)
	many(t, c.AddCandidate, 5, 10, false)
	must(t, c.AddBase(fated(5000, score.Failed)))
	r := c.Result(compare.Options{Unpaired: true})
	if m := r.Metrics[0]; r.Paired || m.Base.N != 10 || m.Candidate.N != 10 || m.OnlyBaseRefused != 0 || m.Excluded != 1 {
		t.Errorf("paired %v: %+v", r.Paired, m)
	}
	if m := c.Result(compare.Options{}).Metrics[0]; m.Base.N != 5 || m.OnlyBaseRefused != 5 {
		t.Errorf("paired: %+v", m)
	}
}

func TestOtherJudgeIsRefused(t *testing.T) {
	t.Parallel()
	if err := compare.New("another").AddBase(row(1, orbench.Safe, true)); err == nil {
		t.Error("a row without a verdict of the judge was taken")
	}
}
