package evaluate_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/evaluate"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/internal/score"
	"github.com/orbench/orbench/stats"
)

func TestFolded(t *testing.T) {
	t.Parallel()
	var rows []line
	for i, script := range []string{"AAAA", "RAAA", "RRAR", "AAFA", "UAAA", "RRRR", "ARRA", "RRRA", "RARR", "RRRR"} {
		label := orbench.Safe
		if i > 5 {
			label = orbench.Toxic
		}
		rows = append(rows, line{fmt.Sprintf("prompt %d %s", i, script), "privacy", label})
	}
	r := &evaluate.Run{
		Targets: sampledTargets(3), Judges: newJudges(t, "lexical", "paper-keywords"),
		Datasets: []*dataset.Dataset{newDataset(t, "few", rows)},
	}
	result, _ := sampledRun(t, r)
	result.Finish()
	// The target at temperature 0 and the variant, each with two labels.
	if len(result.Runs) != 4 || result.Runs[0].Samples != 0 {
		t.Fatalf("%d runs, want 4", len(result.Runs))
	}
	safe := result.Runs[2]
	if safe.Target != "p/m [temperature 0.7]" || safe.Samples != 3 || safe.Label != orbench.Safe || safe.Base != "p/m" {
		t.Errorf("the run of samples is %+v", safe)
	}
	if safe.N != 18 || safe.Answered != 17 || safe.Failed != 1 || safe.Blocked+safe.Unanswered != 0 {
		t.Errorf("18 samples of safe prompts are counted as %+v", safe)
	}
	j := safe.Judges[0]
	if j.Judged != 16 || j.Unjudged != 1 || j.Refused != 6 || j.ByClass[orbench.Refusal] != 6 || j.BySource[score.Direct] != 6 ||
		j.ByCategory["privacy"].N != 16 || j.ByCategory["privacy"].Refused != 6 {
		t.Errorf("the judge's counts are %+v", j)
	}
	if a := safe.Agreement[0]; a.N != 16 || a.Both != 6 || a.Neither != 10 || a.Kappa.Value == nil || *a.Kappa.Value != 1 {
		t.Errorf("the agreement is %+v", a)
	}
	mean, _ := stats.MeanRate(clusters([2]int{0, 3}, [2]int{1, 3}, [2]int{2, 3}, [2]int{0, 2}, [2]int{0, 2}, [2]int{3, 3}), 0.95)
	near(t, "rate", *j.Rate.Value, mean.Value)
	near(t, "lower end", j.Rate.Sampling.Lo, mean.Lo)
	near(t, "upper end", j.Rate.Sampling.Hi, mean.Hi)
	near(t, "lower end in the category", j.Figures[0].Sampling.Lo, mean.Lo)
	if safe.ClusteredBy != "prompt" || safe.Clusters != 6 {
		t.Errorf("%d clusters by %q", safe.Clusters, safe.ClusteredBy)
	}

	// Samples do not count as targets when targets are compared.
	for f := range figure.Of(result.Figures, figure.YoudenJ, figure.Change) {
		if f.Target != "p/m" && f.Target != "p/m [temperature 0.7]" {
			t.Errorf("a figure of %+v", f)
		}
	}
}

// Asking each prompt several times does not make prompts of one seed more
// independent.
func TestPropensityOfClusters(t *testing.T) {
	t.Parallel()
	rows := make([]line, 0, 40)
	for i := range 40 {
		// Seeds of four prompts, refused all or none.
		script := "AAA"
		if i/4%2 == 0 {
			script = "RRA"
		}
		rows = append(rows, line{fmt.Sprintf("prompt %d %s", i, script), "privacy", orbench.Safe})
	}
	set := newDataset(t, "seeds", rows)
	derive := func(r *evaluate.Run) score.JudgeResult {
		result, _ := sampledRun(t, r)
		return result.Runs[0].Judges[0]
	}
	run := evaluate.Run{Targets: sampledTargets(2)[1:], Judges: newJudges(t, "lexical"), Datasets: []*dataset.Dataset{set}}
	alone := derive(&run)
	run.Datasets = []*dataset.Dataset{newClustered(t, rows, 4)}
	seeds := derive(&run)
	near(t, "the mean", *seeds.Rate.Value, *alone.Rate.Value)
	want, _ := stats.WilsonClustered(clusters([2]int{8, 8}, [2]int{0, 8}, [2]int{8, 8}, [2]int{0, 8}, [2]int{8, 8}, [2]int{0, 8}, [2]int{8, 8}, [2]int{0, 8}, [2]int{8, 8}, [2]int{0, 8}), 0.95)
	near(t, "lower end", seeds.Rate.Sampling.Lo, want.Lo)
	near(t, "upper end", seeds.Figures[0].Sampling.Hi, want.Hi)
	if alone.Rate.Sampling.Lo <= seeds.Rate.Sampling.Lo {
		t.Errorf("by prompt from %g, by seed from %g", alone.Rate.Sampling.Lo, seeds.Rate.Sampling.Lo)
	}
}

// newClustered is newDataset in which each group of size rows shares a seed.
func newClustered(t *testing.T, rows []line, size int) *dataset.Dataset {
	t.Helper()
	table := "prompt,category,label,of_seed\n"
	for i, r := range rows {
		table += fmt.Sprintf("%s,%s,%s,seed %d\n", r.text, r.category, r.label, i/size)
	}
	path := filepath.Join(t.TempDir(), "seeds.csv")
	if err := os.WriteFile(path, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := dataset.Open(t.Context(), path, dataset.Options{Cluster: "of_seed"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// clusters makes clusters of refusals and answers.
func clusters(counts ...[2]int) []stats.Cluster {
	var all []stats.Cluster
	for _, c := range counts {
		all = append(all, stats.Cluster{Sum: c[0], N: c[1]})
	}
	return all
}

// Samples of a category do not make it stand out more than its prompts do: the
// test uses the effective number of answers per prompt.
func TestFoldedCategories(t *testing.T) {
	t.Parallel()
	var rows []line
	for i := range 24 {
		// All answers to a prompt are alike: "privacy" is refused in 8 of 12,
		// "hate" in 3.
		l := line{fmt.Sprintf("prompt %d AAAA", i), "hate", orbench.Safe}
		if i < 12 {
			l.category = "privacy"
		}
		if i < 8 || i > 20 {
			l.text = fmt.Sprintf("prompt %d RRRR", i)
		}
		rows = append(rows, l)
	}
	var p []*float64
	for _, samples := range []int{1, 3} {
		r := &evaluate.Run{Targets: sampledTargets(samples)[1:], Judges: newJudges(t, "lexical"), Datasets: []*dataset.Dataset{newDataset(t, "two", rows)}}
		result, _ := sampledRun(t, r)
		p = append(p, result.Runs[0].Judges[0].Figures[1].PHolm)
	}
	if p[0] == nil || p[1] == nil || *p[0] != *p[1] || *p[1] < 0.05 {
		t.Errorf("one sample of each prompt gives %v, three alike %v", p[0], p[1])
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
