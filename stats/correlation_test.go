package stats_test

import (
	"testing"

	"github.com/orbench/orbench/stats"
)

// The correlations come from SciPy 1.17.1: pearsonr, spearmanr and kendalltau
// (whose default is tau-b). The curves come from NumPy 2.4.6, polyfit(x, y, 2).
func TestCorrelationAndFit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                       string
		x, y                       []float64
		pearson, spearman, kendall float64
		fit                        *stats.Quadratic
	}{
		{
			"neighbors swapped",
			[]float64{1, 2, 3, 4, 5},
			[]float64{2, 1, 4, 3, 5},
			0.8, 0.8, 0.6,
			&stats.Quadratic{A: 1.6, B: -0.05714285714285882, C: 0.14285714285714313},
		},
		{
			"ties on both sides",
			[]float64{1, 2, 2, 3, 5, 5, 5},
			[]float64{7, 6, 6, 1, 0, 2, 2},
			-0.8619778371253509, -0.8193821290142088, -0.7233393492970543,
			&stats.Quadratic{A: 11.797413793103459, B: -4.385775862068971, C: 0.4547413793103455},
		},
		{
			"Toxic and AdvBench",
			[]float64{.4, .4, 1.0, 1.5, 3.3, 4.6, 12.7},
			[]float64{.6, 1.9, 3.5, 10, 21.3, 27.2, 37.9},
			0.9136463998108171, 0.991031208965115, 0.9759000729485333,
			&stats.Quadratic{A: -2.5288290990265914, B: 8.427345417092797, C: -0.4129386611920755},
		},
		{"three points with ties", []float64{1, 1, 2}, []float64{1, 2, 2}, 0.5, 0.5, 0.5, nil},
		{"opposite order", []float64{1, 2, 3}, []float64{3, 2, 1}, -1, -1, -1, &stats.Quadratic{A: 4, B: -1}},
		{"two points", []float64{1, 2}, []float64{5, 9}, 1, 1, 1, nil},
		{
			"digits of pi and e",
			[]float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5},
			[]float64{2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4},
			0.09422924859889797, 0.1384567651467695, 0.14757295747452434,
			&stats.Quadratic{A: 8.465083798882679, B: -2.379073556797019, C: 0.26966945996275565},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range []struct {
				name    string
				measure stats.Correlation
				want    float64
			}{{"Pearson", stats.Pearson, tt.pearson}, {"Spearman", stats.Spearman, tt.spearman}, {"Kendall", stats.KendallTauB, tt.kendall}} {
				got, ok := c.measure(tt.x, tt.y)
				if !ok {
					t.Errorf("%s is undefined", c.name)
				}
				near(t, c.name, got, c.want)
			}
			fit, ok := stats.FitQuadratic(tt.x, tt.y)
			if ok != (tt.fit != nil) {
				t.Fatalf("the curve is defined: %v", ok)
			}
			if ok {
				near(t, "A", fit.A, tt.fit.A)
				near(t, "B", fit.B, tt.fit.B)
				near(t, "C", fit.C, tt.fit.C)
				near(t, "At(2)", fit.At(2), fit.A+2*fit.B+4*fit.C)
			}
		})
	}
}

func TestUndefinedCorrelations(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ x, y []float64 }{
		"no points":           {nil, nil},
		"one point":           {[]float64{1}, []float64{2}},
		"x is constant":       {[]float64{1, 1, 1}, []float64{1, 2, 3}},
		"y is constant":       {[]float64{1, 2, 3}, []float64{7, 7, 7}},
		"both constant":       {[]float64{7, 7}, []float64{7, 7}},
		"squares that vanish": {[]float64{0, 1e-200}, []float64{0, 1e-200}},
	}
	for name, tt := range tests {
		for _, measure := range []stats.Correlation{stats.Pearson, stats.Spearman, stats.KendallTauB} {
			if name == "squares that vanish" {
				measure = stats.Pearson
			}
			if got, ok := measure(tt.x, tt.y); ok {
				t.Errorf("%s: correlation %v, want it undefined", name, got)
			}
			if got, ok := (stats.Bootstrap{}).Correlation(tt.x, tt.y, measure); ok {
				t.Errorf("%s: bootstrap %+v, want it undefined", name, got)
			}
		}
		if got, ok := stats.FitQuadratic(tt.x, tt.y); ok && name != "y is constant" {
			t.Errorf("%s: the curve is %+v, want it undefined", name, got)
		}
	}
}
