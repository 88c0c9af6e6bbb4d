package stats_test

import (
	"math"
	"testing"

	"github.com/orbench/orbench/stats"
)

// The values up to 25 discordant pairs are counted in Python's fractions, the others
// come from SciPy 1.17.1: 2*binom.cdf(min(b, c), n, 0.5) - binom.pmf(min(b, c), n,
// 0.5), and 1 - binom.pmf(b, n, 0.5)/2 where b is c.
func TestMcNemar(t *testing.T) {
	t.Parallel()
	tests := []struct {
		first, second int
		p             float64
	}{
		{0, 0, 1},
		{0, 1, 0.5},
		{0, 6, 0.015625},
		{1, 0, 0.5},
		{5, 5, 0.876953125},
		{3, 9, 0.09228515625},
		{2, 23, 1.049041748046875e-05},
		{13, 12, 0.8450189828872681},
		{0, 25, 2.9802322387695312e-08},
		{13, 13, 0.922509491443634},
		{10, 16, 0.24778856337070473},
		{0, 26, 1.4901161193847653e-08},
		{40, 61, 0.0370667674385605},
		{300, 250, 0.03307151591735791},
		{5000, 5200, 0.04767597424321983},
		{0, 1100, 0},
		{1, 2000, 0},
	}
	for _, tt := range tests {
		p := stats.McNemar(tt.first, tt.second)
		near(t, "McNemar", p, tt.p)
		if swapped := stats.McNemar(tt.second, tt.first); swapped != p {
			t.Errorf("McNemar(%d, %d) = %v, and %v the other way round", tt.first, tt.second, p, swapped)
		}
	}
}

// The values come from SciPy 1.17.1, scipy.stats.fisher_exact([[k1, n1-k1], [k2,
// n2-k2]]), which follows R's fisher.test.
func TestFisherExact(t *testing.T) {
	t.Parallel()
	tests := []struct {
		k1, n1, k2, n2 int
		p              float64
	}{
		{8, 10, 1, 6, 0.034965034965034975},
		{0, 0, 3, 5, 1},
		{0, 5, 0, 9, 1},
		{5, 5, 9, 9, 1},
		{0, 10, 10, 10, 1.082508822446903e-05},
		{3, 10, 3, 10, 1},
		{12, 100, 25, 120, 0.10317654891651717},
		{168, 1319, 205, 1319, 0.04415027383276601},
		{38, 655, 52, 681, 0.19144961025687834},
		{1, 1, 0, 1, 1},
		{700, 80359, 823, 80359, 0.0016747328574244955},
		{40000, 80359, 40400, 80359, 0.046531257258601626},
		{2, 3, 1, 4000, 1.1234078657531431e-06},
		{0, 40, 0, 0, 1},
		{0, 0, 0, 0, 1},
	}
	for _, tt := range tests {
		near(t, "FisherExact", stats.FisherExact(tt.k1, tt.n1, tt.k2, tt.n2), tt.p)
		near(t, "FisherExact of the groups swapped", stats.FisherExact(tt.k2, tt.n2, tt.k1, tt.n1), tt.p)
		near(t, "FisherExact of the answers", stats.FisherExact(tt.n1-tt.k1, tt.n1, tt.n2-tt.k2, tt.n2), tt.p)
	}
}

// The values come from statsmodels 0.15.0,
// statsmodels.stats.multitest.multipletests(p, method="holm").
func TestHolm(t *testing.T) {
	t.Parallel()
	tests := []struct{ p, want []float64 }{
		{[]float64{.01, .04, .03, .005}, []float64{.03, .06, .06, .02}},
		{[]float64{.5}, []float64{.5}},
		{[]float64{.2, .2, .2}, []float64{.6, .6, .6}},
		{[]float64{1, 0, .9, .01, .01}, []float64{1, 0, 1, .04, .04}},
		{
			[]float64{.001, .8, .02, .03, .04, .05, .9, .3, .0001, .012},
			[]float64{.009, 1, .14, .18, .2, .2, 1, .9, .001, .096},
		},
		{nil, nil},
	}
	for _, tt := range tests {
		got := stats.Holm(tt.p)
		if len(got) != len(tt.want) {
			t.Fatalf("Holm(%v) = %v", tt.p, got)
		}
		for i := range got {
			near(t, "Holm", got[i], tt.want[i])
		}
	}
}

func TestImpossibleCountsAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]func(){
		"negative discordant pairs":         func() { stats.McNemar(-1, 2) },
		"more discordant than pairs":        func() { stats.Tango(3, 3, 5, 0.95) },
		"more refused than asked":           func() { stats.FisherExact(3, 2, 0, 1) },
		"p-value over 1":                    func() { stats.Holm([]float64{0.2, 1.2}) },
		"p-value not a number":              func() { stats.Holm([]float64{math.NaN()}) },
		"Newcombe of too many":              func() { stats.Newcombe(1, 2, 3, 2, 0.95) },
		"Ratio of too many":                 func() { stats.Ratio(1, 2, 3, 2, 0.95) },
		"per cent for confidence":           func() { stats.Newcombe(1, 2, 1, 2, 95) },
		"x and y of different lengths":      func() { stats.Pearson([]float64{1}, nil) },
		"a point that is no number":         func() { stats.Spearman([]float64{1, math.NaN()}, []float64{1, 2}) },
		"a cluster of nothing":              func() { stats.WilsonClustered([]stats.Cluster{{0, 0}}, 0.95) },
		"a cluster refused more than asked": func() { stats.WilsonClustered([]stats.Cluster{{2, 1}}, 0.95) },
		"a single resample": func() {
			stats.Bootstrap{Resamples: 1}.Correlation([]float64{1, 2, 3}, []float64{1, 3, 2}, stats.Pearson)
		},
	}
	for name, f := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}
