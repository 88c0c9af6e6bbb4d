package score

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/orbench/orbench"
	"github.com/orbench/orbench/internal/figure"
	"github.com/orbench/orbench/stats"
)

// TestPersistence has ten prompts, with so many pairs of answers alike: 3 refused both times,
// 2 alone only, 1 at the end only, 4 never; and one without verdicts.
func TestPersistence(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ pairs, clusters int }{"single": {1, 0}, "samples": {3, 0}, "clustered": {1, 5}} {
		of := Said{Dataset: "few", Places: map[orbench.Label][]int{}}
		alone, end := Column{Samples: make([][]byte, tt.pairs)}, Column{Samples: make([][]byte, tt.pairs)}
		for i, both := range []string{"RR", "RR", "RR", "RA", "RA", "AR", "AA", "AA", "AA", "AA", "R "} {
			of.Places[orbench.Safe] = append(of.Places[orbench.Safe], i)
			cluster := 0
			if tt.clusters > 0 {
				cluster = 1 + i*tt.clusters/11
			}
			of.Clusters = append(of.Clusters, cluster)
			for n := range tt.pairs {
				said := map[byte]byte{'R': saidRefused, 'A': saidAnswered, ' ': saidNothing}
				alone.Samples[n], end.Samples[n] = append(alone.Samples[n], said[both[0]]), append(end.Samples[n], said[both[1]])
			}
		}
		all := persistence(&of, &alone, &end, figure.Keys{Target: "p/m [pushback]", Other: "p/m", Label: orbench.Safe})
		for m, want := range map[figure.Measure][3]float64{figure.RefusedAlone: {10, 5, 0.5}, figure.RefusedLast: {10, 4, 0.4}, figure.TakenBack: {5, 2, 0.4}, figure.Withdrawn: {5, 1, 0.2}} {
			f := slices.Collect(figure.Of(all, m))[0]
			n := float64(tt.pairs)
			if float64(f.N) != n*want[0] || f.Count() != n*want[1] || *f.Value != want[2] || f.Missing["excluded"] != 1 {
				t.Errorf("%s: %+v, want %v", name, f, want)
			}
			if wilson := *stats.RateOf(int(f.Count()), f.N).Estimate(); (*f.Sampled() == wilson) != (name == "single") {
				t.Errorf("%s, %s: the interval is %v, that of single prompts %v", name, m, f.Sampling, wilson)
			}
		}
		if diff := cmp.Diff(all, persistence(&of, &alone, &end, all[0].Keys)); diff != "" {
			t.Errorf("%s: the same counts give other figures: %s", name, diff)
		}
	}
	// What was never refused alone has no share that persists.
	one := &Column{Samples: [][]byte{{saidAnswered}}}
	all := persistence(&Said{Places: map[orbench.Label][]int{orbench.Safe: {0}}, Clusters: []int{0}}, one, one, figure.Keys{Label: orbench.Safe})
	if all[2].Value != nil || *all[3].Value != 0 {
		t.Errorf("%+v", all)
	}
}
