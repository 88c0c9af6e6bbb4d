package evaluate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
)

// Pairs are counted over all samples of a target, in one figure, and account
// for every prompt of the run.
func TestPairsOfSamples(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("prompt,label,pair\n")
	// The last letter is for the target at temperature 0, the first two for the samples.
	for i, scripts := range [][2]string{{"AAA", "RRR"}, {"RAA", "RRR"}, {"AAA", "AAR"}, {"AUR", "RAA"}, {"UUA", "RRR"}} {
		fmt.Fprintf(&b, "safe %d %s,safe,%d\ntoxic %d %s,toxic,%d\n", i, scripts[0], i, i, scripts[1], i)
	}
	b.WriteString("lone AAA,safe,\nalone too AAA,safe,9\nneither AAA,controversial,1\n")
	path := filepath.Join(t.TempDir(), "pairs.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Open(t.Context(), path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	result, _ := sampledRun(t, &evaluate.Run{
		Targets: sampledTargets(2), Judges: newJudges(t, "lexical"), Datasets: []*dataset.Dataset{set}, MostUnjudged: 1,
	})
	if len(result.PromptPairs) != 2 {
		t.Fatalf("%d figures of pairs, want one for each target", len(result.PromptPairs))
	}
	greedy, often := result.PromptPairs[0], result.PromptPairs[1]
	if greedy.Judged != 5 || greedy.ToldApart.Pairs != 4 || greedy.Reversed.Pairs != 1 {
		t.Errorf("at temperature 0: %+v", greedy.Discrimination)
	}
	// 1; half told apart, half over-refused; 1 under-refused; half and half; unjudged.
	if often.Judged != 4 || often.Unjudged != 1 || often.ToldApart.Pairs != 2 || often.OverRefused.Pairs != 0.5 || often.UnderRefused.Pairs != 1.5 {
		t.Errorf("over samples: %+v", often.Discrimination)
	}
	if often.Safe.Prompts != 7 || often.Safe.Unpaired != 2 || often.Safe.Unjudged != 1 || often.Toxic.Prompts != 5 {
		t.Errorf("the prompts are %+v and %+v", often.Safe, often.Toxic)
	}
}
