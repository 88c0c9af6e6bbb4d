package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/dataset"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/judge"
	"github.com/orbench/orbench/model"
	"github.com/orbench/orbench/stats"
)

// TestClusters counts made-up rows and holds the clustered intervals, over all
// prompts and by category, to those of a plain count of the same rows.
func TestClusters(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	lexical, err := judge.Parse("lexical", judge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := &Design{
		Targets:  []Target{{Name: "a"}, {Name: "b"}},
		Datasets: []*dataset.Dataset{{Name: "x", ClusteredBy: "seed"}},
		Judges:   []judge.Judge{lexical, lexical},
	}
	type key struct {
		target, judge int
		category      orbench.Category
	}
	want := map[key]map[string]stats.Cluster{}
	count := func(k key, cluster string, refused int) {
		if want[k] == nil {
			want[k] = map[string]stats.Cluster{}
		}
		c := want[k][cluster]
		want[k][cluster] = stats.Cluster{N: c.N + 1, Sum: c.Sum + refused}
	}
	classes := []orbench.Class{orbench.Refusal, orbench.FullAnswer, orbench.FullAnswer}
	tally := NewTally(*run)
	for i := range 600 {
		chunk := Chunk{Rows: make([][][]AnswerRow, len(run.Targets))}
		for target := range run.Targets {
			// Clusters spread over categories now and then.
			cluster := fmt.Sprint("s", i/6)
			category := orbench.PaperCategories[(i/6+i%7/6)%len(orbench.PaperCategories)]
			row := AnswerRow{Prompt: orbench.NewPrompt(fmt.Sprint("p", i), category, orbench.Safe), Status: Answered}
			row.Prompt.Cluster = cluster
			if rng.IntN(20) == 0 {
				row.Status = Failed
			} else {
				for j := range run.Judges {
					class := classes[rng.IntN(len(classes))]
					if rng.IntN(20) == 0 {
						class = orbench.Unjudged
					}
					row.Verdicts = append(row.Verdicts, JudgeVerdict{Judge: "lexical", Verdict: orbench.Verdict{Class: class}})
					if class == orbench.Unjudged {
						continue
					}
					refused := 0
					if class.Refused() {
						refused = 1
					}
					count(key{target, j, ""}, cluster, refused)
					count(key{target, j, category}, cluster, refused)
				}
			}
			chunk.Prompts, chunk.Rows[target] = []orbench.Prompt{row.Prompt}, [][]AnswerRow{{row}}
		}
		tally.Add(chunk)
	}
	intervalOf := func(k key) [2]float64 {
		var clusters []stats.Cluster
		for _, c := range want[k] {
			clusters = append(clusters, c)
		}
		e, _ := stats.WilsonClustered(clusters, Confidence)
		return [2]float64{e.Lo, e.Hi}
	}
	effective := func(clusters map[string]stats.Cluster) float64 {
		var n, k, squares float64
		for _, c := range clusters {
			n, k = n+float64(c.N), k+float64(c.Sum)
		}
		for _, c := range clusters {
			d := float64(c.Sum) - k/n*float64(c.N)
			squares += d * d
		}
		m := float64(len(clusters))
		return math.Min(n, k/n*(1-k/n)/(m/(m-1)*squares/n/n))
	}
	same := func(what string, got *stats.Interval, want [2]float64) {
		t.Helper()
		if got == nil || math.Abs(got.Lo-want[0]) > 1e-12 || math.Abs(got.Hi-want[1]) > 1e-12 {
			t.Errorf("%s: the interval is %v, want %v", what, got, want)
		}
	}
	run.Datasets[0].Count = 600
	result, err := tally.Result()
	if err != nil {
		t.Fatal(err)
	}
	for target, r := range result.Runs {
		if r.ClusteredBy != "seed" || r.Clusters != 100 || r.N != 600 {
			t.Errorf("%d prompts in %d clusters by %q", r.N, r.Clusters, r.ClusteredBy)
		}
		for i, j := range r.Judges {
			same(r.Target, j.Rate.Sampling, intervalOf(key{target, i, ""}))
			said := &tally.saying.datasets[0]
			of, by := said.outcomes(&said.Columns[target*len(r.Judges)+i], r.Label, tally.saying.categories[0])
			j.finishClustered(of, by, "seed", 1)
			if effect := j.effect(of, 1); j.Rate.ClusteredBy != "seed" || effect < 1 || math.Abs(float64(j.Judged)/effect-effective(want[key{target, i, ""}])) > 1e-9 {
				t.Errorf("the design effect is %v", effect)
			}
			for f := range figure.Of(j.Figures, figure.RateOf(r.Label)) {
				same(string(f.Category), f.Sampling, intervalOf(key{target, i, f.Category}))
			}
		}
	}
}

// TestNoClusters leaves intervals alone where every prompt stands for itself, and
// where all of them are one cluster.
func TestNoClusters(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		clusters []string
		want     int
	}{
		"unknown":  {[]string{"", "", ""}, 0},
		"distinct": {[]string{"1", "2", "3"}, 0},
		"one":      {[]string{"1", "1", "1"}, 1},
	} {
		lexical, err := judge.Parse("lexical", judge.Options{})
		if err != nil {
			t.Fatal(err)
		}
		run := &Design{Targets: []Target{{Name: "a"}}, Datasets: []*dataset.Dataset{{Name: "x"}}, Judges: []judge.Judge{lexical}}
		if test.clusters[0] != "" {
			run.Datasets[0].ClusteredBy = "seed"
		}
		tally := NewTally(*run)
		for i, cluster := range test.clusters {
			p := orbench.NewPrompt(fmt.Sprint(i), "hate", orbench.Safe)
			p.Cluster = cluster
			tally.Add(Chunk{Prompts: []orbench.Prompt{p}, Rows: [][][]AnswerRow{{{{Prompt: p, Status: Answered, Response: model.Response{Text: "Yes."}, Verdicts: []JudgeVerdict{
				{Judge: "lexical", Verdict: orbench.Verdict{Class: orbench.FullAnswer}},
			}}}}}})
		}
		run.Datasets[0].Count = len(test.clusters)
		result, err := tally.Result()
		if err != nil {
			t.Fatal(err)
		}
		r := result.Runs[0]
		j, alone := r.Judges[0], stats.RateOf(0, 3).Estimate()
		if *j.Rate.Sampled() != *alone || *j.Figures[0].Sampled() != *alone || j.Rate.ClusteredBy != "" || r.Clusters != test.want {
			t.Errorf("%s: %d clusters, the rate is %+v", name, r.Clusters, j.Rate)
		}
	}
}

// TestClusteredTradeOff widens J by the side that is clustered.
func TestClusteredTradeOff(t *testing.T) {
	t.Parallel()
	r := Result{Runs: helpedSides("a", 30, 90, nil, "")}
	r.Runs[0].Judges[0].Rate.Sampling = &stats.Interval{Lo: 0.2, Hi: 0.45}
	r.Finish()
	got, toxic := r.Figures[0], r.Runs[1].Judges[0].Rate.Sampling
	if got.Measure != figure.YoudenJ || math.Abs(got.Sampling.Lo-(0.6-math.Hypot(0.15, 0.9-toxic.Lo))) > 1e-12 || math.Abs(got.Sampling.Hi-(0.6+math.Hypot(0.1, toxic.Hi-0.9))) > 1e-12 {
		t.Errorf("the clustered trade-off is %+v", got)
	}
}
