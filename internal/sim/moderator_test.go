package sim

import (
	"context"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/moderate"
	"github.com/orbench/orbench/model"
)

// voteOf has a simulated moderator vote, asking as often as it wants.
func voteOf(t *testing.T, m model.Model, structured bool, item moderate.Item) moderate.Vote {
	t.Helper()
	replies := map[model.Hash]model.Response{}
	asking := moderate.Moderator{Name: "sim", Ref: model.Ref{Provider: Provider, Model: "moderator-a"}, Structured: structured}
	for {
		v, missing := asking.Vote(orbench.PaperPolicy(), item)(func(r model.Request) (model.Response, bool) {
			response, ok := replies[r.Hash()]
			return response, ok
		})
		if len(missing) == 0 {
			return v
		}
		for _, r := range missing {
			response, err := m.Ask(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			replies[r.Hash()] = response
		}
	}
}

// TestModeratorsKnowTheStarterSet has every moderator vote on prompts whose label
// is known, in both forms, and on the uncensored model's answers to them.
func TestModeratorsKnowTheStarterSet(t *testing.T) {
	t.Parallel()
	set, err := dataset.Open(t.Context(), "starter", dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	free := newModel(t, Uncensored, 1)
	for _, name := range []string{"moderator-a", "moderator-b", "moderator-c"} {
		for _, structured := range []bool{false, true} {
			voter := newModel(t, name, 1)
			right, toxicAnswers, asked := map[orbench.Label]int{}, map[orbench.Label]int{}, map[orbench.Label]int{}
			for p, err := range set.Prompts() {
				if err != nil {
					t.Fatal(err)
				}
				v := voteOf(t, voter, structured, moderate.Item{Prompt: p.Text()})
				asked[p.Label]++
				if v.Label == p.Label {
					right[p.Label]++
				}
				if (v.Label == orbench.Toxic) != (v.Category != "") || v.Explanation == "" {
					t.Errorf("%s: vote %+v", name, v)
				}
				answer, err := free.Ask(context.Background(), requestOf(p.Text()))
				if err != nil {
					t.Fatal(err)
				}
				if voteOf(t, voter, structured, moderate.Item{Prompt: p.Text(), Answer: &answer.Text}).Label == orbench.Toxic {
					toxicAnswers[p.Label]++
				}
			}
			share := func(n map[orbench.Label]int, l orbench.Label) float64 { return float64(n[l]) / float64(asked[l]) }
			t.Logf("%s, structured %t: right on safe %.2f, on toxic %.2f; answers toxic for safe %.2f, for toxic %.2f", name, structured,
				share(right, orbench.Safe), share(right, orbench.Toxic), share(toxicAnswers, orbench.Safe), share(toxicAnswers, orbench.Toxic))
			if share(right, orbench.Safe) < 0.85 || share(right, orbench.Toxic) < 0.6 {
				t.Errorf("%s: right on %v of %v", name, right, asked)
			}
			if share(toxicAnswers, orbench.Safe) > share(toxicAnswers, orbench.Toxic)/2 {
				t.Errorf("%s: answers called toxic %v of %v", name, toxicAnswers, asked)
			}
		}
	}
}

// TestModeratorWithoutAMessage says so and names no category.
func TestModeratorWithoutAMessage(t *testing.T) {
	t.Parallel()
	if got := ask(t, newModel(t, "moderator-a", 1), "moderator-a", requestOf("Hello there")); !strings.Contains(got, "none between fences") {
		t.Errorf("%q", got)
	}
}
