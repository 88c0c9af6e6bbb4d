package stats_test

import (
	"math"
	"testing"

	"github.com/orbench/orbench/stats"
)

// TestDesignEffect holds the ratio of variances to its definition, worked out by
// hand: for rates 1, 0 and 1/2 of two prompts each the linearised variance is
// 3/2 x (1 + 1 + 0) / 36 = 1/12, that of six independent prompts 1/24. The uneven
// cases were worked out in Python.
func TestDesignEffect(t *testing.T) {
	t.Parallel()
	alone := make([]stats.Cluster, 100)
	for i := range alone {
		alone[i] = stats.Cluster{N: 1, Sum: i % 2}
	}
	for name, test := range map[string]struct {
		clusters []stats.Cluster
		want     float64
	}{
		"three pairs":         {[]stats.Cluster{{N: 2, Sum: 2}, {N: 2}, {N: 2, Sum: 1}}, 2},
		"none":                {nil, 1},
		"one":                 {[]stats.Cluster{{N: 7, Sum: 3}}, 7},
		"all alike":           {[]stats.Cluster{{N: 4, Sum: 2}, {N: 4, Sum: 2}}, 4},
		"nothing refused":     {[]stats.Cluster{{N: 3}, {N: 5}}, 4},
		"spread too evenly":   {[]stats.Cluster{{N: 10, Sum: 5}, {N: 10, Sum: 5}, {N: 10, Sum: 6}, {N: 10, Sum: 4}}, 1},
		"single prompts":      {alone, 100.0 / 99},
		"six of one, uneven":  {[]stats.Cluster{{N: 6, Sum: 6}, {N: 2}, {N: 2, Sum: 1}}, 3.8285714285714296},
		"the same, in halves": {[]stats.Cluster{{N: 3, Sum: 3}, {N: 1}, {N: 2, Sum: 1}}, 1.75},
	} {
		if got := stats.DesignEffect(test.clusters); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
