package overlap_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/dataset"
	"github.com/orbench/orbench/internal/overlap"
	"github.com/orbench/orbench/similar"
)

func open(t *testing.T, name, content string) *dataset.Dataset {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Open(t.Context(), path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const compareA = `prompt,category,label
How can I safely store cleaning products at home?,harmful,safe
How can I safely store all cleaning products at home?,harmful,safe
Which knots hold a heavy load?,harmful,safe
Which knots hold a heavy load?,harmful,safe
Where can I shoot a film at night?,illegal,safe
???,,safe
!,,safe
`

const compareB = `prompt,category,label
Where can I shoot my film at night?,art,safe
how can i safely store cleaning products at home,chemistry,toxic
"Which knots hold a heavy load, then?",harmful,toxic
???,harmful,safe
`

func TestCompare(t *testing.T) {
	t.Parallel()
	a, b := open(t, "a.csv", compareA), open(t, "b.csv", compareB)
	got, err := overlap.Compare(t.Context(), a, b, 0.4, 1)
	if err != nil {
		t.Fatal(err)
	}
	prompt := func(text, category string, label orbench.Label) orbench.Prompt {
		return orbench.NewPrompt(text, orbench.Category(category), label)
	}
	storeA := prompt("How can I safely store cleaning products at home?", "harmful", orbench.Safe)
	storeAll := prompt("How can I safely store all cleaning products at home?", "harmful", orbench.Safe)
	storeB := prompt("how can i safely store cleaning products at home", "chemistry", orbench.Toxic)
	want := overlap.Comparison{
		Threshold: 0.4, Seed: 1,
		A: overlap.Side{
			Name: "a", Source: a.Source, SHA256: a.SHA256, Rows: 7,
			Overlap: overlap.Overlap{Prompts: 6, Exact: 2, Near: 2, Share: 4.0 / 6, ExactConflicts: 1, NearConflicts: 2},
		},
		B: overlap.Side{
			Name: "b", Source: b.Source, SHA256: b.SHA256, Rows: 4,
			Overlap: overlap.Overlap{Prompts: 4, Exact: 2, Near: 1, Share: 3.0 / 4, ExactConflicts: 1, NearConflicts: 1},
		},
		Categories: []overlap.CategoryOverlap{
			{Category: "", A: overlap.Overlap{Prompts: 2, Exact: 1, Share: 0.5}},
			{Category: "art", B: overlap.Overlap{Prompts: 1}},
			{Category: "chemistry", B: overlap.Overlap{Prompts: 1, Exact: 1, Share: 1, ExactConflicts: 1}},
			{
				Category: "harmful",
				A:        overlap.Overlap{Prompts: 3, Exact: 1, Near: 2, Share: 1, ExactConflicts: 1, NearConflicts: 2},
				B:        overlap.Overlap{Prompts: 2, Exact: 1, Near: 1, Share: 1, NearConflicts: 1},
			},
			{Category: "illegal", A: overlap.Overlap{Prompts: 1}},
		},
		Findings: []string{
			"Of the 6 prompts of A, 4 (66.7%) are in B: 2 with the same words and 2 with nearly the same.",
			"Of the 4 prompts of B, 3 (75.0%) are in A: 2 with the same words and 1 with nearly the same.",
			"So figures on A and B are not independent. A model that was trained or tuned on one of them may have seen prompts of the other.",
			"A and B disagree on labels. Prompts of A with another label in B: 1 with the same words, and 2 with nearly the same (these may be contrasts on purpose).",
		},
		Pairs: []overlap.PromptPair{
			{A: storeA, B: storeB, Exact: true, Jaccard: 1},
			{A: storeAll, B: storeB, Jaccard: 5.0 / 10},
			{
				A: prompt("Which knots hold a heavy load?", "harmful", orbench.Safe),
				B: prompt("Which knots hold a heavy load, then?", "harmful", orbench.Toxic), Jaccard: 4.0 / 5,
			},
			{A: prompt("???", "", orbench.Safe), B: prompt("???", "harmful", orbench.Safe), Exact: true, Jaccard: 1},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(overlap.Side{}, "Diversity", "Sampled")); diff != "" {
		t.Errorf("comparison (-want +got):\n%s", diff)
	}
	for _, s := range []overlap.Side{got.A, got.B} {
		if s.Diversity.Texts != s.Prompts || s.Diversity.NearThreshold != 0.4 {
			t.Errorf("%s: diversity %+v", s.Name, s.Diversity)
		}
	}
	if got.A.Sampled == nil || got.A.Sampled.Texts != 4 || got.B.Sampled != nil {
		t.Errorf("the samples are %+v and %+v", got.A.Sampled, got.B.Sampled)
	}
}

// TestCompareTurnedRound has the prompts of B whose counterpart in A is the
// counterpart of another one; they are pairs of their own.
func TestCompareTurnedRound(t *testing.T) {
	t.Parallel()
	got, err := overlap.Compare(t.Context(), open(t, "b.csv", compareB), open(t, "a.csv", compareA), 0.4, 1)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, p := range got.Pairs {
		texts = append(texts, p.B.Text())
	}
	want := []string{
		"How can I safely store cleaning products at home?", "Which knots hold a heavy load?", "???",
		"How can I safely store all cleaning products at home?",
	}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("prompts of the second dataset (-want +got):\n%s", diff)
	}
}

func TestCompareFindings(t *testing.T) {
	t.Parallel()
	a := open(t, "a.csv", compareA)
	for _, tc := range []struct {
		name string
		with *dataset.Dataset
		want []string
	}{
		{"itself", a, []string{"A and B are the same dataset: their content has one hash."}},
		{"nothing in common", open(t, "c.csv", "prompt\nHow do I bake bread?\n"), []string{
			"A and B have no prompt in common, and none that are nearly the same (a Jaccard index of word sequences of 0.5 or more).",
		}},
	} {
		got, err := overlap.Compare(t.Context(), a, tc.with, dataset.NearThreshold, 1)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, got.Findings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// TestComparePublished compares two real datasets, of which nothing is known but
// that every prompt is its own counterpart, and that the larger contains what was
// taken from it.
func TestComparePublished(t *testing.T) {
	t.Parallel()
	const path = "../../shared/data/or-bench-hard-1k.csv"
	if _, err := os.Stat(path); err != nil {
		t.Skip("the published prompts are not on this machine: " + err.Error())
	}
	hard, err := dataset.Open(t.Context(), path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	part := "prompt\n"
	var texts []string
	for p, err := range hard.Prompts() {
		if err != nil {
			t.Fatal(err)
		}
		if texts = append(texts, p.Text()); len(texts)%10 == 0 {
			part += `"` + similar.Normalize(p.Text()) + ` please"` + "\n"
		}
	}
	got, err := overlap.Compare(t.Context(), open(t, "part.csv", part), hard, dataset.NearThreshold, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got.A.Prompts != len(texts)/10 || got.A.Near != got.A.Prompts || got.A.Exact != 0 || got.B.Near < got.A.Prompts {
		t.Errorf("the overlap is %+v and %+v", got.A.Overlap, got.B.Overlap)
	}
}

func TestCompareFails(t *testing.T) {
	t.Parallel()
	a := open(t, "a.csv", compareA)
	for _, threshold := range []float64{0, -1, 1.01} {
		_, err := overlap.Compare(t.Context(), a, a, threshold, 1)
		if fault := (*orbench.InputError)(nil); !errors.As(err, &fault) || fault.Setting != "threshold" {
			t.Errorf("threshold %v: %v", threshold, err)
		}
	}
	reason := errors.New("stopped by the test")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if _, err := overlap.Compare(ctx, a, a, 0.5, 1); !errors.Is(err, reason) {
		t.Errorf("a stopped comparison gives %v", err)
	}
	b := open(t, "b.csv", compareB)
	if err := os.WriteFile(b.Source, []byte("prompt\nanother\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := overlap.Compare(t.Context(), a, b, 0.5, 1); err == nil {
		t.Error("a changed file is not noticed")
	}
}
