package construct

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/benchmark"
	"github.com/orbench/orbench/internal/generator"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/similar"
)

// TestVariety builds with a generator that heeds what it is asked for. 1,000 prompts of the
// full set vary at least as much as OR-Bench-Hard-1K (a Self-BLEU of 0.44 in its paper).
// Generators are shown what was made, and every form that was asked for is there.
func TestVariety(t *testing.T) {
	if os.Getenv("ORBENCH_LONG") == "" {
		t.Skip("a long proof: set ORBENCH_LONG=1, as .ci/run does")
	}
	t.Parallel()
	w := newWorld()
	c := small(t, 25)
	c.Hard.Selectors = nil
	b := w.builder(c)
	made, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	var texts []string
	forms := map[generator.Form]int{}
	for _, p := range made.Sets[benchmark.FullSet] {
		texts = append(texts, p.Text())
		forms[generator.FormOf(p.Text())]++
	}
	bleu, n := similar.SelfBLEU(texts, 1000, 1)
	t.Logf("Self-BLEU of %d prompts: %.3f; forms: %v", n, bleu, forms)
	if n < 1000 || bleu > 0.44 {
		t.Errorf("Self-BLEU of %d prompts is %.3f", n, bleu)
	}
	for _, f := range []generator.Form{generator.Translation, generator.Summary, generator.Writing, generator.Role, generator.Explanation, generator.Asking} {
		if share := float64(forms[f]) / float64(len(texts)); share < 0.05 || share > 0.6 {
			t.Errorf("%.3f of the prompts are a %s", share, f)
		}
	}
	shown := map[string]int{}
	for _, call := range w.replies {
		text := call.request.Messages[len(call.request.Messages)-1].Content
		switch {
		case strings.Contains(text, " such requests, as users") && strings.Contains(text, " MADE BEFORE OPENS>>"):
			shown["seeds"]++
		case strings.Contains(text, " new requests that stay close") && strings.Contains(text, " MADE BEFORE OPENS>>"):
			shown["rewrites"]++
		}
	}
	// All but the first four seeds of each category are rewritten with what was made.
	if shown["rewrites"] < 10*21 {
		t.Errorf("what was made is shown in %v", shown)
	}
}

// A build of an earlier release, whose configuration names no wording, asks by the first.
func TestFirstWording(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := small(t, 2)
	c.Wording, c.Rewrites.Examples = 0, generator.Examples(1)
	b := w.builder(c)
	if made, err := b.Build(t.Context()); err != nil {
		t.Fatal(err)
	} else if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	hot := 1.0
	seeds := generator.SeedRequest(b.Refs["sim/generator"], generator.Params{Temperature: &hot, MaxTokens: c.Seeds.MaxTokens},
		orbench.Definition{Category: c.Policy[0].Category, Text: c.Policy[0].Text}, c.Seeds.Batch, 0)
	if _, ok := w.replies[seeds.Hash().String()]; !ok {
		t.Error("seeds are asked for in other words")
	}
	for _, call := range w.replies {
		if strings.Contains(call.request.Messages[0].Content, "Forms of the new requests") {
			t.Fatal("rewrites are asked for by the second wording")
		}
	}
}

// The hard set is drawn across clusters: rewrites of a seed with many come no more often
// than those of others, while there are others.
func TestHardSetAcrossClusters(t *testing.T) {
	t.Parallel()
	var entries []entry
	for seed := range 20 {
		for i := range 1 + 10*(seed%4) {
			text := fmt.Sprintf("word%d other%d thing%d place%d", seed, i, seed*100+i, i*7+seed)
			entries = append(entries, entry{Record: &benchmark.Record{ID: orbench.PromptID(fmt.Sprint(seed, "/", i)), SeedID: orbench.PromptID(fmt.Sprint(seed)), Text: text}})
		}
	}
	r := &run{Builder: &Builder{Config: benchmark.BuildConfig{Wording: 2, Sampling: 1}}, clusters: clusters(entries)}
	for _, most := range []int{10, 20, 30, 200} {
		counts := map[orbench.PromptID]int{}
		for _, e := range r.across(entries, most) {
			counts[e.SeedID]++
		}
		for seed := range 20 {
			has := 1 + 10*(seed%4)
			n := counts[orbench.PromptID(fmt.Sprint(seed))]
			for _, other := range counts {
				if other > n+1 && n < has {
					t.Errorf("of %d, %d of a seed with %d and %d of another", most, n, has, other)
				}
			}
		}
	}
	if got := r.across(entries, 0); len(got) != len(entries) {
		t.Errorf("%d of %d", len(got), len(entries))
	}
}

// TestOpenings builds with one rewriter that varies and one that has a template, in which
// three words are always the same. No opening has a tenth of a category that is not small,
// and the card warns of the small ones.
func TestOpenings(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := small(t, 20)
	c.Policy = c.Policy[:2]
	c.Hard.Selectors = nil
	c.Rewrites.Rewriters = []string{"sim/generator", "sim/template"}
	b := w.builder(c)
	words := strings.Fields("garden harbour kitchen market station library window bridge tower ferry cellar orchard lobby chapel quarry studio tunnel clinic")
	var mu sync.Mutex
	b.Ask = func(ctx context.Context, r model.Request) (model.Response, bool, error) {
		if r.Model != "template" {
			return w.ask(ctx, r)
		}
		mu.Lock()
		defer mu.Unlock()
		var lines strings.Builder
		for i := range 5 {
			at := func(n int) string { return words[int(draw(1, fmt.Sprint(i, n), r.Hash().String())%uint64(len(words)))] }
			fmt.Fprintf(&lines, "[[What do thieves %s %s and %s in the %s %s about %s and %s?]]\n", at(0), at(1), at(2), at(3), at(4), at(5), at(6))
		}
		return model.Response{Text: lines.String(), Finish: model.Stop, Model: "template"}, true, nil
	}
	made, err := b.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	made.Quality.Diversity = made.diversity()
	for _, category := range c.Policy {
		d := made.Quality.Diversity[benchmark.FullSet][category.Category]
		t.Logf("%s: %d prompts, %q has %.1f%%", category.Category, d.Texts, d.TopOpener, 100*d.TopOpenerShare)
		if d.Texts >= 60 && d.TopOpenerShare > commonOpening {
			t.Errorf("%q has %.3f of %d", d.TopOpener, d.TopOpenerShare, d.Texts)
		}
		warned := strings.Contains(fmt.Sprint(repetitionWarnings(made.Manifest)), string(category.Category))
		if warned != (d.TopOpenerShare > commonOpening) {
			t.Errorf("%.3f, and the card says %q", d.TopOpenerShare, repetitionWarnings(made.Manifest))
		}
	}
	i := slices.IndexFunc(made.Generators, func(g benchmark.Generator) bool { return g.Model == "sim/template" })
	if i < 0 || !strings.Contains(made.Generators[i].Fault(), "one template") && made.Funnel.Rewrites.Dropped[benchmark.CommonOpening] < 50 {
		t.Errorf("%+v, dropped %v", made.Generators, made.Funnel.Rewrites.Dropped)
	}
}

// The rules can be named as those of the published method.
func TestRulesAsPublished(t *testing.T) {
	t.Parallel()
	text := strings.Replace(Template, "  # rules: as-published ", "  rules: as-published ", 1)
	c, err := Parse("build.yaml", []byte(text))
	if err != nil || !slices.Equal(c.Rewrites.Rules, generator.PublishedRules()) {
		t.Errorf("%v, %v", c.Rewrites.Rules, err)
	}
	if _, err = Parse("build.yaml", []byte(strings.Replace(text, "rules: as-published", "rules: as-written", 1))); err == nil || !strings.Contains(err.Error(), `there are no rules called "as-written"`) {
		t.Errorf("another name: %v", err)
	}
}
