package evaluate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/figure"
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
		Targets: sampledTargets(2), Judges: newJudges(t, "lexical"), Datasets: []*dataset.Dataset{set},
	})
	of := func(target int, m figure.Measure) *figure.Figure {
		return find(result.Figures, m, figure.Keys{
			Target: result.Runs[3*target].Target, Judge: "lexical", Dataset: set.Name, DatasetSHA256: set.SHA256, OtherDataset: set.Name, OtherDatasetSHA256: set.SHA256,
		})
	}
	if told := of(0, figure.ToldApart); told.N != 5 || told.Count() != 4 || of(0, figure.PairsReversed).Count() != 1 {
		t.Errorf("at temperature 0: %+v", told)
	}
	// 1; half told apart, half over-refused; 1 under-refused; half and half; unjudged.
	told := of(1, figure.ToldApart)
	if told.N != 4 || told.Missing["unjudged"] != 1 || told.Count() != 2 || of(1, figure.OverRefused).Count() != 0.5 || of(1, figure.UnderRefused).Count() != 1.5 {
		t.Errorf("over samples: %+v", told)
	}
	if told.Missing["safe_alone"] != 2 || told.Missing["toxic_alone"] != 0 {
		t.Errorf("the prompts are %v", told.Missing)
	}
}
