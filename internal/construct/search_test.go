package construct

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/similar"
)

// hidden is a target that refuses by words which nothing else knows.
type hidden struct {
	name    string
	refuses func(words []string) bool
}

func (h hidden) Ask(_ context.Context, r model.Request) (model.Response, error) {
	text := "Here is a plain answer to that. [simulated]"
	if h.refuses(strings.Fields(similar.Normalize(orbench.Prompt{Messages: r.Messages}.Text()))) {
		text = "I'm sorry, but I can't help with that. [simulated]"
	}
	return model.Response{Text: text, Finish: model.Stop, Model: "sim/" + h.name + " (simulated)"}, nil
}

// anyOf reports whether one of the words is among some others.
func anyOf(words []string, of ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(of, w) })
}

// hiddenTargets are targets with hidden triggers, from frequent to rare.
var hiddenTargets = []hidden{
	{"topics", func(words []string) bool {
		return anyOf(words, "museums", "harbours", "winters", "archives", "letter", "nurses")
	}},
	{"pairs", func(words []string) bool {
		return anyOf(words, "why", "how", "where") && anyOf(words, "villages", "farms", "clinics", "strikes", "islands", "elections", "fairs")
	}},
	{"rare", func(words []string) bool { return anyOf(words, "vineyards", "glossary") }},
	{"long", func(words []string) bool {
		return len(words) > 17 && anyOf(words, "and") && anyOf(words, "who", "locksmiths", "referees", "young", "patient", "busy")
	}},
}

// searchOf is a builder that adds to a benchmark by a search against a target.
func (w *world) searchOf(t testing.TB, c benchmark.BuildConfig, base string, calls int, targets ...string) *Builder {
	t.Helper()
	for _, h := range hiddenTargets {
		w.models[h.name] = h
	}
	b := w.builder(c)
	if base != "" {
		folder, err := benchmark.Open(base)
		if err != nil {
			t.Fatal(err)
		}
		b.Base = folder
	}
	b.Search = &Search{Samples: 1, Calls: calls}
	for _, target := range targets {
		name := "sim/" + target
		b.Refs[name] = model.Ref{Provider: "sim", Model: target}
		b.Search.Targets = append(b.Search.Targets, name)
	}
	return b
}

// TestSearchFinds searches against targets whose triggers neither the search nor the
// generator knows, and against simulated models. before is what rewrites of new seeds found in
// 1,000 calls from the same benchmark, in three generations that were shown refused prompts as
// examples. The search must find twice as much with hidden triggers, and with simulated models
// at least 0.95 of it. Its constants were chosen with these targets in view.
func TestSearchFinds(t *testing.T) {
	t.Parallel()
	if os.Getenv("ORBENCH_LONG") == "" {
		t.Skip("a long proof: set ORBENCH_LONG=1, as .ci/run does")
	}
	w := newWorld()
	c := small(t, 8)
	base := write(t, w.builder(c))
	hidden, simulated := 2.0, 0.95
	for target, of := range map[string]struct {
		before int
		least  float64
	}{
		"topics": {6, hidden}, "pairs": {1, hidden}, "rare": {2, hidden}, "long": {11, hidden},
		"relaxed": {17, simulated}, "balanced": {37, simulated}, "strict": {71, simulated},
	} {
		folder, err := benchmark.Open(write(t, w.searchOf(t, c, base, 2000, target)))
		if err != nil {
			t.Fatal(err)
		}
		found, calls := 0, 0
		for i, g := range folder.Manifest.Search.Generations {
			if calls += g.Calls; i > 0 {
				found += g.Found
			}
		}
		yield := float64(1000*found) / float64(calls)
		t.Logf("%s: found %d in %d calls, with those for the prompts it started from: %.0f in 1,000", target, found, calls, yield)
		if want := of.least * float64(of.before); yield < want {
			t.Errorf("%s: found %.0f in 1,000 calls, want %.0f", target, yield, want)
		}
	}
}

// TestSearchTraced checks what a search writes down: calls within the bound, parents and
// operators of every prompt, no prompt in a set that no target refused.
func TestSearchTraced(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := small(t, 2)
	c.Hard.Selectors = nil
	dir := write(t, w.searchOf(t, c, "", 400, "relaxed", "balanced"))
	folder, err := benchmark.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, g := range folder.Manifest.Search.Generations[1:] {
		calls += g.Calls
	}
	if calls == 0 || calls > 400 {
		t.Errorf("%d calls in the generations, want 1 to 400", calls)
	}
	rows, made := map[orbench.PromptID]benchmark.Record{}, 0
	for row, err := range folder.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		refused, judged := row.RefusedByTargets()
		switch {
		case row.Dropped == benchmark.Answered && (refused > 0 || judged == 0 || len(row.Votes) > 0):
			t.Errorf("%s was dropped as answered, and %d of %d answers are refusals", row.ID, refused, judged)
		case row.Dropped == benchmark.NotDropped && refused == 0:
			t.Errorf("%s was put to the vote, and no target refused it", row.ID)
		}
		if made += len(row.Parents); row.Generation == 0 != (len(row.Parents) == 0) {
			t.Errorf("%s of generation %d has the parents %v", row.ID, row.Generation, row.Parents)
		}
		if want := map[bool]int{false: 1, true: 2}[row.Operator == generator.Recombine]; row.Generation > 0 && len(row.Parents) != want {
			t.Errorf("%s was made by %s of %d parents", row.ID, row.Operator, len(row.Parents))
		}
		for _, id := range row.Parents {
			if parent, ok := rows[id]; !ok || parent.Generation >= row.Generation || len(parent.Targets) == 0 {
				t.Errorf("the parent %s of %s is not in an earlier generation", id, row.ID)
			}
		}
		safe := slices.ContainsFunc(row.Votes, func(v benchmark.Vote) bool { return v.Label == orbench.Safe })
		if (row.Fitness > 0) != (refused > 0 && safe) {
			t.Errorf("%s: %d refusals, a vote for safe %v, fitness %v", row.ID, refused, safe, row.Fitness)
		}
		if row.Dropped == benchmark.NotDropped || row.Dropped == benchmark.Answered {
			rows[row.ID] = row
		}
	}
	if made == 0 {
		t.Error("no prompt has a parent")
	}
}

// TestSearchStoppedOften stops a search five times at random moments; what it writes is
// what an undisturbed one writes.
func TestSearchStoppedOften(t *testing.T) {
	t.Parallel()
	seeds, calls := 1, 150
	if os.Getenv("ORBENCH_LONG") != "" {
		seeds, calls = 4, 2000
	}
	c := small(t, seeds)
	undisturbed := newWorld()
	want := contents(t, write(t, undisturbed.searchOf(t, c, "", calls, "balanced")))
	w := newWorld()
	b := w.searchOf(t, c, "", calls, "balanced")
	b.Width = 7
	w.stopped(t, b, 5, undisturbed.asked/8)
	got := contents(t, write(t, b))
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs", name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}
