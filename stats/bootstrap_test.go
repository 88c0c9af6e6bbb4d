package stats_test

import (
	"math"
	"testing"

	"github.com/orbench/orbench/stats"
)

// repeated gives every cluster as often as its count says, in no fixed order:
// the order must not matter.
func repeated(counts map[stats.Cluster]int) []stats.Cluster {
	var clusters []stats.Cluster
	for c, n := range counts {
		for range n {
			clusters = append(clusters, c)
		}
	}
	return clusters
}

// The percentiles come from NumPy 2.4.6 and scipy.stats.rankdata, 400,000
// resamples of the same twelve points: the 1.0756615th and its opposite for
// Pearson, where scipy.stats.t and scipy.stats.norm 1.17.1 expand the 2.5th so
// far, and the 2.5th for Spearman.
func TestBootstrapCorrelation(t *testing.T) {
	t.Parallel()
	x := []float64{.4, .4, 1.0, 1.5, 3.3, 4.6, 12.7, 20, 21, 25, 31, 40}
	y := []float64{.6, 1.9, 3.5, 10, 21.3, 27.2, 37.9, 22, 30, 55, 40, 41}
	tests := []struct {
		name           string
		measure        stats.Correlation
		lo, hi, spread float64
	}{
		{"Pearson", stats.Pearson, 0.5952858, 0.9561999, 0.0730},
		{"Spearman", stats.Spearman, 0.7275985663082437, 1.0, 0.0737},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := stats.Bootstrap{Seed: 3, Resamples: 40_000}.Correlation(x, y, tt.measure)
			if !ok {
				t.Fatal("undefined")
			}
			if value, _ := tt.measure(x, y); got.Value != value {
				t.Errorf("value %v, want that of the points, %v", got.Value, value)
			}
			if within := tt.spread / 10; math.Abs(got.Lo-tt.lo) > within || math.Abs(got.Hi-tt.hi) > within {
				t.Errorf("seed 3: [%v, %v], want [%v, %v] within %v", got.Lo, got.Hi, tt.lo, tt.hi, within)
			}
		})
	}
	straight := []float64{1, 2, 3, 4, 5, 6, 7}
	if got, ok := (stats.Bootstrap{}).Correlation(straight, straight, stats.Spearman); ok {
		t.Errorf("points in perfect order have the interval %+v, want none", got)
	}
}

// The intervals come from statsmodels 0.15.0,
// proportion_confint(p*n, n, method="wilson") with the effective n worked out in
// NumPy 2.4.6 and scipy.stats.t.ppf of SciPy 1.17.1.
func TestWilsonClustered(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                      string
		clusters                  map[stats.Cluster]int
		confidence, value, lo, hi float64
	}{
		{"uneven", map[stats.Cluster]int{{0, 5}: 120, {1, 5}: 30, {2, 5}: 20, {5, 5}: 15, {3, 4}: 10, {1, 1}: 5}, 0.95, 0.18556701030927836, 0.14708604458208024, 0.23138427645890008},
		{"few", map[stats.Cluster]int{{0, 5}: 6, {3, 5}: 4, {5, 5}: 2}, 0.95, 0.36666666666666664, 0.1665074451233773, 0.6265623731353761},
		{"99%", map[stats.Cluster]int{{0, 5}: 6, {3, 5}: 4, {5, 5}: 2}, 0.99, 0.36666666666666664, 0.12015448053801364, 0.7105137871988871},
		{"single prompts", map[stats.Cluster]int{{0, 1}: 87, {1, 1}: 13}, 0.95, 0.13, 0.07687542399410337, 0.2114279383065194},
		{"clusters more even than chance", map[stats.Cluster]int{{2, 5}: 10, {3, 5}: 10}, 0.95, 0.5, 0.39756838549608475, 0.6024316145039152},
		{"nothing refused", map[stats.Cluster]int{{0, 5}: 20}, 0.95, 0.0, 0, 0.16112515805281938},
		{"all refused", map[stats.Cluster]int{{4, 4}: 9}, 0.95, 1.0, 0.7008549515804559, 1},
		{"half of each", map[stats.Cluster]int{{2, 4}: 20}, 0.95, 0.5, 0.2992980081982123, 0.7007019918017877},
		{"a single cluster", map[stats.Cluster]int{{1, 3}: 1}, 0.95, 0.3333333333333333, 0.025336243646501055, 0.9058139848944198},
	}
	for _, tt := range tests {
		got, ok := stats.WilsonClustered(repeated(tt.clusters), tt.confidence)
		if !ok {
			t.Fatalf("%s: undefined", tt.name)
		}
		nearEstimate(t, tt.name, got, tt.value, tt.lo, tt.hi)
	}
	if got, ok := stats.WilsonClustered(nil, 0.95); ok {
		t.Errorf("without clusters the rate is %+v", got)
	}
}
