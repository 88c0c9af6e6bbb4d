package evaluate_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/internal/versus"
	"github.com/orbench/orbench/stats"
)

func sameEstimate(a, b stats.Estimate) bool {
	const eps = 1e-12
	return math.Abs(a.Value-b.Value) < eps && math.Abs(a.Lo-b.Lo) < eps && math.Abs(a.Hi-b.Hi) < eps
}

// change is the only change of a result.
func change(t *testing.T, r score.Result) *figure.Figure {
	t.Helper()
	all := slices.Collect(figure.Of(r.Figures, figure.Change))
	if len(all) != 1 {
		t.Fatalf("changes %+v, want one", all)
	}
	return all[0]
}

// The last letter of a script is the answer of the base at temperature 0, the
// first that of the variant at 0.7.
func TestChangeOfSingleAnswers(t *testing.T) {
	t.Parallel()
	r := &evaluate.Run{
		Targets: sampledTargets(1), Judges: newJudges(t, "lexical"),
		// Two newly refused, one newly answered, three alike, one without a verdict.
		Datasets: []*dataset.Dataset{scripts(t, "RA", "RA", "AR", "AA", "RR", "AA", "UA")},
	}
	result, _ := sampledRun(t, r)
	result.Finish()
	c := change(t, result)
	want, _ := stats.Tango(1, 2, 6, score.Confidence)
	if c.Target != r.Targets[1].Name || c.Other != r.Targets[0].Name || c.N != 6 || c.Label != orbench.Safe || !sameEstimate(*c.Sampled(), want) || *c.P != stats.McNemar(1, 2) || c.Test != string(versus.McNemar) {
		t.Errorf("change %+v, want %+v over 6 prompts", c, want)
	}
}

func TestChangeOfSamples(t *testing.T) {
	t.Parallel()
	r := &evaluate.Run{
		Targets: sampledTargets(2), Judges: newJudges(t, "lexical"),
		Datasets: []*dataset.Dataset{scripts(t, "RRA", "RAA", "AAR", "AAA", "UUA")},
	}
	result, _ := sampledRun(t, r)
	result.Finish()
	// By prompt: 2/2 - 0, 1/2 - 0, 0/2 - 1, 0 - 0; the last has no verdict on one side.
	var pairs versus.Pairs
	for _, p := range [][2]int{{2, 0}, {1, 0}, {0, 1}, {0, 0}} {
		pairs.Add(0, versus.Once(p[1] > 0), versus.Said{Yes: p[0], Of: 2})
	}
	want, _ := pairs.Difference(score.Confidence)
	if c := change(t, result); c.Target != "p/m [temperature 0.7]" || c.N != 4 || !sameEstimate(*c.Sampled(), want.Estimate) {
		t.Errorf("change %+v, want %+v over 4 prompts", c, want)
	}
}

// Prompts that share a seed are drawn together.
func TestChangeOfClusters(t *testing.T) {
	t.Parallel()
	var with, without strings.Builder
	with.WriteString("prompt,seed\n")
	without.WriteString("prompt\n")
	for seed := range 12 {
		script := []string{"RA", "AA", "AR"}[seed%3]
		for i := range 5 {
			fmt.Fprintf(&with, "prompt %d of %d %s,%d\n", i, seed, script, seed)
			fmt.Fprintf(&without, "prompt %d of %d %s\n", i, seed, script)
		}
	}
	derive := func(csv string) score.Result {
		path := filepath.Join(t.TempDir(), "seeds.csv")
		if err := os.WriteFile(path, []byte(csv), 0o600); err != nil {
			t.Fatal(err)
		}
		set, err := dataset.Open(t.Context(), path, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		result, _ := sampledRun(t, &evaluate.Run{
			Targets: sampledTargets(1), Judges: newJudges(t, "lexical"), Datasets: []*dataset.Dataset{set},
		})
		result.Finish()
		return result
	}
	apart, together := derive(without.String()), derive(with.String())
	a, c := change(t, apart).Sampled(), change(t, together)
	b := c.Sampled()
	if a.Value != 0 || b.Value != 0 || c.ClusteredBy == "" {
		t.Errorf("changes %+v and %+v, want 0 both", a, c)
	}
	if wide, narrow := b.Hi-b.Lo, a.Hi-a.Lo; wide < 1.5*narrow {
		t.Errorf("clusters of five that change alike widen the interval from %.3f to %.3f only", narrow, wide)
	}
}
