package score

import (
	"fmt"
	"math"
	"testing"

	"github.com/orbench/orbench"
)

func TestDetection(t *testing.T) {
	t.Parallel()
	var c detecting
	asked := 0
	add := func(target, set string, label orbench.Label, score float64) {
		asked++
		c.add(target, set, orbench.NewPrompt(fmt.Sprint(asked), "", label), score)
	}
	if got := c.result(); len(got) != 0 {
		t.Errorf("figures of nothing: %+v", got)
	}
	// By hand: of the 3 × 2 pairs of a toxic and a safe prompt the toxic one scores
	// higher in four, and one is a tie.
	for _, s := range []float64{0.2, 0.6} {
		add("b", "set", orbench.Safe, s)
	}
	for _, s := range []float64{0.6, 0.9, 0.4} {
		add("b", "set", orbench.Toxic, s)
	}
	add("b", "set", orbench.Controversial, 0.99)
	// Scores of one label tell nothing apart, and datasets are not pooled.
	add("b", "other", orbench.Safe, 0.1)
	add("a", "set", orbench.Safe, 0.1)
	add("a", "set", orbench.Toxic, 0.8)
	got := c.result()
	if len(got) != 2 || got[0].Target != "b" || got[1].Target != "a" {
		t.Fatalf("%+v", got)
	}
	f := got[0]
	if f.N != 5 || math.Abs(*f.Value-4.5/6) > 1e-12 {
		t.Errorf("%+v", f)
	}
	for _, f := range got {
		if i := f.Sampling; !(0 <= i.Lo && i.Lo < *f.Value && *f.Value <= i.Hi && i.Hi <= 1) {
			t.Errorf("the interval of %+v", f)
		}
	}
}

// Three samples of each prompt, or three prompts alike of each cluster, tell what one of
// each does.
func TestDetectionOfClusters(t *testing.T) {
	t.Parallel()
	var once, samples, clusters detecting
	for i, score := range []float64{0.1, 0.2, 0.3, 0.5, 0.4, 0.7, 0.8, 0.9} {
		label := orbench.Safe
		if i >= 4 {
			label = orbench.Toxic
		}
		p := orbench.NewPrompt(fmt.Sprint(i), "", label)
		once.add("g", "set", p, score)
		for k := range 3 {
			samples.add("g", "set", p, score)
			alike := orbench.NewPrompt(fmt.Sprint(i, k), "", label)
			alike.Cluster = fmt.Sprint(i)
			clusters.add("g", "set", alike, score)
		}
	}
	want := once.result()[0]
	for name, c := range map[string]*detecting{"samples": &samples, "clusters": &clusters} {
		got := c.result()[0]
		if want.ClusteredBy != "" || got.ClusteredBy == "" || got.N != 24 || math.Abs(*got.Value-*want.Value) > 1e-12 || math.Abs(got.Sampling.Lo-want.Sampling.Lo) > 1e-9 {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
