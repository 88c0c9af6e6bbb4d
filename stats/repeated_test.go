package stats_test

import (
	"testing"

	"github.com/orbench/orbench/stats"
)

// The even and the uneven answers of some prompts that were asked several times.
var (
	evenly   = []stats.Cluster{{0, 5}, {1, 5}, {5, 5}, {2, 5}, {0, 5}, {4, 5}}
	unevenly = []stats.Cluster{{0, 5}, {1, 4}, {3, 3}, {2, 5}, {0, 1}, {4, 5}, {5, 5}}
	halves   = []stats.Cluster{{1, 2}, {1, 2}, {1, 2}, {0, 2}, {2, 2}}
)

// The values come from NumPy 2 and SciPy 1.17.1: the mean and scipy.stats.sem of
// the clusters' rates, scipy.stats.t.ppf and norm.ppf, put into Wilson's formula.
func TestMeanRate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		clusters      []stats.Cluster
		value, lo, hi float64
	}{
		{"even", evenly, 0.4, 0.114185772037, 0.775172184962},
		{"uneven", unevenly, 0.492857142857, 0.180045132098, 0.811363609945},
		{"halves", halves, 0.5, 0.170112089667, 0.829887910333},
		// Wilson's interval with the clusters as trials, as in TestWilson.
		{"never refused", []stats.Cluster{{0, 5}, {0, 3}, {0, 5}, {0, 5}, {0, 5}, {0, 5}, {0, 5}, {0, 5}, {0, 5}, {0, 5}}, 0, 0, 0.2775327998628892},
		{"one prompt", []stats.Cluster{{3, 3}}, 1, 0.20654931437723745, 1},
	}
	for _, tt := range tests {
		got, ok := stats.MeanRate(tt.clusters, 0.95)
		if !ok {
			t.Fatalf("%s: undefined", tt.name)
		}
		nearEstimate(t, tt.name, got, tt.value, tt.lo, tt.hi)
	}
	if got, ok := stats.MeanRate(nil, 0.95); ok {
		t.Errorf("without clusters the mean is %+v", got)
	}
	clustered, _ := stats.WilsonClustered(evenly, 0.95)
	mean, _ := stats.MeanRate(evenly, 0.95)
	nearEstimate(t, "clusters of one size", mean, clustered.Value, clustered.Lo, clustered.Hi)
}
