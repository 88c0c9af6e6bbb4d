package stats_test

import (
	"math"
	"testing"

	"github.com/orbench/orbench/stats"
)

// The ends come from NumPy 2.4.6: the percentiles of 4,000,000 multinomial (for
// correlations 400,000) resamples of the same data, at the level that
// scipy.stats.t and norm of SciPy 1.17.1 give for the expanded interval. spread is
// the standard deviation of those resamples; an end may miss by a twelfth of it
// for the error of 100,000 resamples on both sides, or by the step of a discrete
// rate.
func TestBootstrap(t *testing.T) {
	t.Parallel()
	b := stats.Bootstrap{Seed: 7, Resamples: 100_000}
	uneven := repeated(map[stats.Cluster]int{
		{Sum: 0, N: 5}: 120, {Sum: 1, N: 5}: 30, {Sum: 2, N: 5}: 20, {Sum: 5, N: 5}: 15, {Sum: 3, N: 4}: 10, {Sum: 1, N: 1}: 5,
	})
	few := repeated(map[stats.Cluster]int{{Sum: 0, N: 5}: 6, {Sum: 3, N: 5}: 4, {Sum: 5, N: 5}: 2})
	changes := repeated(map[stats.Cluster]int{{Sum: 2, N: 5}: 20, {Sum: -1, N: 5}: 30, {Sum: 0, N: 5}: 150})
	tests := []struct {
		name                  string
		estimate              func() (stats.Estimate, bool)
		value, lo, hi, spread float64
		step                  float64
	}{
		{
			"rate", func() (stats.Estimate, bool) { return b.Rate(168, 1319) },
			168.0 / 1319, 0.10993176648976498, 0.14556482183472327, 0.0091842, 1.0 / 1319,
		},
		{
			"small rate", func() (stats.Estimate, bool) { return b.Rate(5, 100) },
			0.05, 0.01, 0.1, 0.0217945, 0.01,
		},
		{
			"high rate", func() (stats.Estimate, bool) { return b.Rate(652, 655) },
			652.0 / 655, 0.9893129770992366, 1, 0.0026382, 1.0 / 655,
		},
		{
			"clustered rate", func() (stats.Estimate, bool) { return b.ClusteredRate(uneven) },
			0.18556701030927836, 0.14477766287487073, 0.22916666666666666, 0.021352717861448732, 0.001,
		},
		{
			"few clusters", func() (stats.Estimate, bool) { return b.ClusteredRate(few) },
			0.36666666666666664, 0.13333333333333333, 0.6333333333333333, 0.11259024443665235, 1.0 / 60,
		},
		{
			"paired difference", func() (stats.Estimate, bool) { return b.PairedDifference(20, 60, 1319) },
			0.030326004548900682, 0.017437452615617893, 0.04397270659590599, 0.006728973407446945, 1.0 / 1319,
		},
		{
			"clustered difference", func() (stats.Estimate, bool) { return b.ClusteredDifference(changes) },
			0.01, -0.01, 0.031, 0.010463574122740172, 0.001,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := tt.estimate()
			if !ok {
				t.Fatal("undefined")
			}
			near(t, "value", got.Value, tt.value)
			within := tt.spread/12 + tt.step
			if math.Abs(got.Lo-tt.lo) > within || math.Abs(got.Hi-tt.hi) > within {
				t.Errorf("seed %d: [%v, %v], want [%v, %v] within %v", b.Seed, got.Lo, got.Hi, tt.lo, tt.hi, within)
			}
			if again, _ := tt.estimate(); again != got {
				t.Errorf("the same seed gave %+v and %+v", got, again)
			}
		})
	}
}

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

// Where every resample is like the data, the intervals are those of the functions
// that the doc comments name.
func TestBootstrapWithoutVariation(t *testing.T) {
	t.Parallel()
	var b stats.Bootstrap
	alike := func(c stats.Cluster, n int) []stats.Cluster { return repeated(map[stats.Cluster]int{c: n}) }
	wilson := func(k, n int) [2]float64 {
		lo, hi := stats.Wilson(k, n, 0.95)
		return [2]float64{lo, hi}
	}
	paired := func(first, second, n int) [2]float64 {
		e, _ := stats.PairedDifference(first, second, n, 0.95)
		return [2]float64{e.Lo, e.Hi}
	}
	tests := []struct {
		name     string
		estimate func() (stats.Estimate, bool)
		value    float64
		interval [2]float64
	}{
		{"nothing refused", func() (stats.Estimate, bool) { return b.Rate(0, 50) }, 0, wilson(0, 50)},
		{"all refused", func() (stats.Estimate, bool) { return b.Rate(50, 50) }, 1, wilson(50, 50)},
		{"no cluster refused", func() (stats.Estimate, bool) { return b.ClusteredRate(alike(stats.Cluster{N: 5}, 20)) }, 0, wilson(0, 20)},
		{"half of each refused", func() (stats.Estimate, bool) { return b.ClusteredRate(alike(stats.Cluster{Sum: 2, N: 4}, 20)) }, 0.5, wilson(10, 20)},
		{"a single cluster", func() (stats.Estimate, bool) { return b.ClusteredRate(alike(stats.Cluster{Sum: 9, N: 9}, 1)) }, 1, wilson(1, 1)},
		{"no flips", func() (stats.Estimate, bool) { return b.PairedDifference(0, 0, 50) }, 0, paired(0, 0, 50)},
		{"all flip", func() (stats.Estimate, bool) { return b.PairedDifference(50, 0, 50) }, -1, paired(50, 0, 50)},
		{"no cluster changes", func() (stats.Estimate, bool) { return b.ClusteredDifference(alike(stats.Cluster{N: 5}, 20)) }, 0, paired(0, 0, 20)},
	}
	for _, tt := range tests {
		got, ok := tt.estimate()
		if !ok {
			t.Fatalf("%s: undefined", tt.name)
		}
		nearEstimate(t, tt.name, got, tt.value, tt.interval[0], tt.interval[1])
	}
	undefined := map[string]func() (stats.Estimate, bool){
		"rate":                 func() (stats.Estimate, bool) { return b.Rate(0, 0) },
		"clustered rate":       func() (stats.Estimate, bool) { return b.ClusteredRate(nil) },
		"paired difference":    func() (stats.Estimate, bool) { return b.PairedDifference(0, 0, 0) },
		"clustered difference": func() (stats.Estimate, bool) { return b.ClusteredDifference(nil) },
	}
	for name, f := range undefined {
		if got, ok := f(); ok {
			t.Errorf("%s of nothing is %+v", name, got)
		}
	}
}

func TestBootstrapSeed(t *testing.T) {
	t.Parallel()
	clusters := drawnClusters(400)
	one, _ := stats.Bootstrap{Seed: 1, Resamples: 200}.ClusteredRate(clusters)
	two, _ := stats.Bootstrap{Seed: 2, Resamples: 200}.ClusteredRate(clusters)
	if one == two {
		t.Errorf("seeds 1 and 2 gave the same interval %+v", one)
	}
	wide, _ := stats.Bootstrap{Seed: 1, Confidence: 0.99}.ClusteredRate(clusters)
	usual, _ := stats.Bootstrap{Seed: 1}.ClusteredRate(clusters)
	if !(wide.Lo < usual.Lo && wide.Hi > usual.Hi) {
		t.Errorf("99%% is %+v, 95%% is %+v", wide, usual)
	}
}

// drawnClusters gives clusters of 1 to 9 prompts with all numbers of refusals.
func drawnClusters(n int) []stats.Cluster {
	clusters := make([]stats.Cluster, n)
	for i := range clusters {
		size := 1 + i%9
		clusters[i] = stats.Cluster{Sum: i * 7 % (size + 1), N: size}
	}
	return clusters
}

// 80,000 prompts drawn 2,000 times.
func BenchmarkBootstrap(b *testing.B) {
	var boot stats.Bootstrap
	b.Run("Rate", func(b *testing.B) {
		for b.Loop() {
			boot.Rate(4000, 80000)
		}
	})
	b.Run("PairedDifference", func(b *testing.B) {
		for b.Loop() {
			boot.PairedDifference(900, 1100, 80000)
		}
	})
	b.Run("ClusteredRate", func(b *testing.B) {
		clusters := drawnClusters(16000)
		for b.Loop() {
			boot.ClusteredRate(clusters)
		}
	})
	// Few clusters are alike: the slowest kind of data.
	b.Run("ClusteredRateAllDifferent", func(b *testing.B) {
		var clusters []stats.Cluster
		prompts := 0
		for n := 1; prompts < 80000; n++ {
			for k := 0; k <= n && prompts < 80000; k++ {
				clusters = append(clusters, stats.Cluster{Sum: k, N: n})
				prompts += n
			}
		}
		b.ReportMetric(float64(len(clusters)), "clusters")
		for b.Loop() {
			boot.ClusteredRate(clusters)
		}
	})
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
