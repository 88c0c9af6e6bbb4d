package stats_test

import (
	"math"
	"testing"

	"github.com/orbench/orbench/stats"
)

func nearEstimate(t *testing.T, what string, got stats.Estimate, value, lo, hi float64) {
	t.Helper()
	near(t, what, got.Value, value)
	near(t, what+", lower end", got.Lo, lo)
	near(t, what+", upper end", got.Hi, hi)
}

// The intervals come from statsmodels 0.15.0,
// statsmodels.stats.proportion.confint_proportions_2indep(k1, n1, k2, n2,
// method="newcomb", compare="diff", alpha=1-confidence).
func TestNewcombe(t *testing.T) {
	t.Parallel()
	tests := []struct {
		k1, n1, k2, n2     int
		confidence, lo, hi float64
	}{
		{56, 70, 48, 80, 0.95, 0.05243147240236498, 0.33387265403690614},
		{9, 10, 3, 10, 0.95, 0.1705227239345029, 0.809017973535488},
		{0, 10, 0, 20, 0.95, -0.1611251580528194, 0.27753279986288926},
		{10, 10, 0, 20, 0.95, 0.6790860371419145, 1},
		{10, 10, 10, 10, 0.95, -0.27753279986288937, 0.27753279986288937},
		{168, 1319, 205, 1319, 0.95, -0.05466859077284761, -0.0014410053920125704},
		{6, 7, 2, 7, 0.9, 0.13651580702986815, 0.7878085050513379},
		{1, 2, 1, 3, 0.99, -0.5152791599533337, 0.6938191724344782},
	}
	for _, tt := range tests {
		got, ok := stats.Newcombe(tt.k1, tt.n1, tt.k2, tt.n2, tt.confidence)
		if !ok {
			t.Fatalf("Newcombe(%+v) is undefined", tt)
		}
		nearEstimate(t, "Newcombe", got, float64(tt.k1)/float64(tt.n1)-float64(tt.k2)/float64(tt.n2), tt.lo, tt.hi)
	}
	for _, empty := range [][4]int{{0, 0, 1, 2}, {1, 2, 0, 0}, {0, 0, 0, 0}} {
		if got, ok := stats.Newcombe(empty[0], empty[1], empty[2], empty[3], 0.95); ok {
			t.Errorf("Newcombe(%v) = %+v, want it undefined", empty, got)
		}
	}
}

// The values come from Python: the likelihood of the flips for a given difference is
// maximized and the ends are found by bisection, in decimals of 40 digits.
func TestTango(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		first, second, n, lo, hi float64
	}{
		{3, 0, 80, -0.10454720090045116, 0.010036309393109382},
		{0, 0, 80, -0.045818129535527115, 0.045818129535527115},
		{2, 9, 40, 0.01442573115236497, 0.3390234027746241},
		{40, 61, 1319, 0.0010053594035479803, 0.03128400721340089},
		{12, 8, 2000, -0.006923153009094927, 0.0026108615182379286},
		{7, 0, 7, -1, -0.2913391298666251},
		{1, 1, 2, -0.8109375885315385, 0.8109375885315385},
	} {
		got, ok := stats.Tango(tt.first, tt.second, tt.n, 0.95)
		if !ok {
			t.Fatalf("Tango(%+v) is undefined", tt)
		}
		nearEstimate(t, "Tango", got, (tt.second-tt.first)/tt.n, tt.lo, tt.hi)
	}
	if got, ok := stats.Tango(0, 0, 0, 0.95); ok {
		t.Errorf("Tango without prompts is %+v", got)
	}
}

// Clusters that say as much as independent items have Tango's interval, but for t; p is
// below 5% where the interval leaves out 0.
func TestTangoClustered(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ first, second, n, effect, clusters, lo, hi, p float64 }{
		{2, 9, 40, 1, 1e9, 0.01442573115236497, 0.3390234027746241, 0.034808},
		{4, 18, 80, 2, 1e9, 0.01442573115236497, 0.3390234027746241, 0.034808},
		{2, 9, 40, 1, 5, -0.068467, 0.410788, 0.102424},
		{2, 9, 40, 1, 1, -1, 1, 1},
		{0, 0, 80, 1, 80, -0.0471868, 0.0471868, 1},
	} {
		d := (tt.second - tt.first) / tt.n
		e, p, ok := stats.TangoClustered(tt.first, tt.second, tt.n, tt.effect*((tt.first+tt.second)/tt.n-d*d)/tt.n, tt.clusters, 0.95)
		if !ok || math.Abs(e.Lo-tt.lo) > 1e-5 || math.Abs(e.Hi-tt.hi) > 1e-5 || e.Value != d || math.Abs(p-tt.p) > 1e-5 {
			t.Errorf("%+v: %+v, p %v", tt, e, p)
		}
	}
	if e, _, ok := stats.TangoClustered(0, 0, 0, 0, 0, 0.95); ok {
		t.Errorf("without items it is %+v", e)
	}
}

// The intervals are the published formula worked out in mpmath 1.3 with 40
// digits.
func TestRatio(t *testing.T) {
	t.Parallel()
	tests := []struct {
		k1, n1, k2, n2            int
		confidence, value, lo, hi float64
	}{
		{4, 25, 72, 75, 0.95, 0.16666666666666667, 0.066685921618554798, 0.36282608330708873},
		{0, 25, 72, 75, 0.95, 0, 0, 0.13912434047551255},
		{25, 25, 1, 75, 0.95, 75, 13.787929674005613, 424.16895372353553},
		{3, 30, 9, 40, 0.95, 0.44444444444444444, 0.13929721362449165, 1.3776135630584374},
		{168, 1319, 205, 1319, 0.95, 0.81951219512195122, 0.67846623755234436, 0.98988944761153242},
		{5, 10, 5, 10, 0.9, 1, 0.48677609575019528, 2.0543325950688876},
		{1, 100, 1, 200, 0.95, 2, 0.1735556608596641, 22.700229964550877},
	}
	for _, tt := range tests {
		got, ok := stats.Ratio(tt.k1, tt.n1, tt.k2, tt.n2, tt.confidence)
		if !ok {
			t.Fatalf("Ratio(%+v) is undefined", tt)
		}
		nearEstimate(t, "Ratio", got, tt.value, tt.lo, tt.hi)
	}
	for _, undefined := range [][4]int{{0, 0, 1, 2}, {1, 2, 0, 0}, {1, 2, 0, 5}} {
		if got, ok := stats.Ratio(undefined[0], undefined[1], undefined[2], undefined[3], 0.95); ok {
			t.Errorf("Ratio(%v) = %+v, want it undefined", undefined, got)
		}
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	over := stats.Interval{Lo: 0.1, Hi: 0.15}
	if !over.Holds(0.12) || over.Holds(0.2) || !over.Holds(over.Hi) {
		t.Error("Holds does not say what lies within")
	}
}
