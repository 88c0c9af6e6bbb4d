package stats_test

import (
	"math"
	"testing"

	"github.com/orbench/orbench/stats"
)

// within is how far a value may lie from the independent one.
const within = 1e-9

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > within {
		t.Errorf("%s = %.17g, want %.17g", what, got, want)
	}
}

// The bounds come from statsmodels 0.15.0,
// statsmodels.stats.proportion.proportion_confint(k, n, alpha, method="wilson").
func TestWilson(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		k, n       int
		confidence float64
		lo, hi     float64
	}{
		{"none of ten", 0, 10, 0.95, 0, 0.2775327998628892},
		{"all of ten", 10, 10, 0.95, 0.7224672001371107, 1},
		{"one of one", 1, 1, 0.95, 0.20654931437723745, 1},
		{"none of one", 0, 1, 0.95, 0, 0.7934506856227626},
		{"half", 5, 10, 0.95, 0.236593090512564, 0.7634069094874361},
		{"thirteen per cent of a thousand", 130, 1000, 0.95, 0.11056377462484193, 0.1522680266544689},
		{"hard set", 168, 1319, 0.95, 0.11045316063528195, 0.14644947615058118},
		{"toxic set", 652, 655, 0.95, 0.9866213399476265, 0.9984411379991773},
		{"80K, near half", 40000, 80359, 0.95, 0.49430948616920267, 0.5012232750736416},
		{"80K, one", 1, 80359, 0.95, 2.1967026262859605e-06, 7.049185236572973e-05},
		{"99%", 7, 20, 0.99, 0.1463934413769388, 0.6283381789526871},
		{"90%", 7, 20, 0.9, 0.202260040056761, 0.5334873111515284},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lo, hi := stats.Wilson(tt.k, tt.n, tt.confidence)
			near(t, "lo", lo, tt.lo)
			near(t, "hi", hi, tt.hi)
		})
	}
}

func TestWilsonEnds(t *testing.T) {
	t.Parallel()
	for n := range 2000 {
		if lo, _ := stats.Wilson(0, n, 0.95); lo != 0 {
			t.Fatalf("Wilson(0, %d) starts at %g, not at exactly 0", n, lo)
		}
		if _, hi := stats.Wilson(n, n, 0.95); hi != 1 {
			t.Fatalf("Wilson(%d, %d) ends at %g, not at exactly 1", n, n, hi)
		}
	}
	if lo, hi := stats.Wilson(0, 0, 0.95); lo != 0 || hi != 1 {
		t.Errorf("without trials the interval is [%g, %g], want [0, 1]", lo, hi)
	}
}

// The interval is what the score test does not reject: each bound p0 solves
// (p - p0)^2 = z^2 p0 (1 - p0) / n.
func TestWilsonSolvesItsEquation(t *testing.T) {
	t.Parallel()
	const z95 = 1.959963984540054 // R: qnorm(0.975)
	for n := 1; n <= 60; n++ {
		for k := 1; k < n; k++ {
			p := float64(k) / float64(n)
			lo, hi := stats.Wilson(k, n, 0.95)
			if !(lo < p && p < hi) {
				t.Fatalf("Wilson(%d, %d) = [%g, %g] does not hold %g", k, n, lo, hi, p)
			}
			for _, b := range []float64{lo, hi} {
				near(t, "score equation", (p-b)*(p-b), z95*z95*b*(1-b)/float64(n))
			}
		}
	}
}

func TestMisuseIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]func(){
		"more positives than trials": func() { stats.Wilson(3, 2, 0.95) },
		"negative positives":         func() { stats.Wilson(-1, 2, 0.95) },
		"per cent for confidence":    func() { stats.Wilson(1, 2, 95) },
		"confidence not a number":    func() { stats.Wilson(1, 2, math.NaN()) },
		"oblong table":               func() { stats.CohenKappa([][]int{{1, 2, 3}, {4, 5, 6}}) },
		"negative cell":              func() { stats.CohenKappa([][]int{{1, -2}, {4, 5}}) },
		"uneven raters":              func() { stats.FleissKappa([][]int{{2, 1}, {1, 1}}) },
		"uneven classes":             func() { stats.FleissKappa([][]int{{2, 1}, {3}}) },
		"a single rater":             func() { stats.FleissKappa([][]int{{1, 0}, {0, 1}}) },
		"negative rating":            func() { stats.FleissKappa([][]int{{3, -1}, {1, 1}}) },
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

// The values come from scikit-learn 1.9.1 (accuracy_score, precision_score,
// recall_score, f1_score, cohen_kappa_score); the undefined ones are undefined
// by their formulas.
func TestConfusion(t *testing.T) {
	t.Parallel()
	type measure struct {
		value float64
		ok    bool
	}
	no := measure{}
	is := func(v float64) measure { return measure{v, true} }
	tests := []struct {
		name                                   string
		c                                      stats.Confusion
		accuracy, precision, recall, f1, kappa measure
	}{
		{
			"usual",
			stats.Confusion{TP: 90, FP: 10, FN: 20, TN: 330},
			is(0.9333333333333333), is(0.9), is(0.8181818181818182), is(0.8571428571428571), is(0.8137931034482759),
		},
		{
			"no false positives",
			stats.Confusion{TP: 1, FN: 3, TN: 6},
			is(0.7), is(1), is(0.25), is(0.4), is(0.2857142857142857),
		},
		{"nothing at all", stats.Confusion{}, no, no, no, no, no},
		{"nothing positive, nothing called", stats.Confusion{TN: 5}, is(1), no, no, no, no},
		{"nothing called positive", stats.Confusion{FN: 2, TN: 3}, is(0.6), no, is(0), is(0), is(0)},
		{"no positives", stats.Confusion{FP: 2, TN: 3}, is(0.6), is(0), no, is(0), is(0)},
		{"all right, all positive", stats.Confusion{TP: 4}, is(1), is(1), is(1), is(1), no},
		{"all wrong", stats.Confusion{FP: 1, FN: 1}, is(0), is(0), is(0), is(0), is(-1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check := func(what string, f func() (float64, bool), want measure) {
				t.Helper()
				got, ok := f()
				if ok != want.ok {
					t.Errorf("%s defined: %v, want %v", what, ok, want.ok)
				}
				near(t, what, got, want.value)
			}
			check("accuracy", tt.c.Accuracy, tt.accuracy)
			check("precision", tt.c.Precision, tt.precision)
			check("recall", tt.c.Recall, tt.recall)
			check("F1", tt.c.F1, tt.f1)
			check("kappa", func() (float64, bool) {
				k := tt.c.Kappa().Value
				if k == nil {
					return 0, false
				}
				return *k, true
			}, tt.kappa)
		})
	}
}

// The intervals are worked out in Python, of the variance in the form of Agresti,
// Categorical Data Analysis (2013), section 11.5.
func TestCohenKappaInterval(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		table         [][]int
		kappa, lo, hi float64
	}{
		{[][]int{{20, 5}, {10, 15}}, 0.4, 0.12499299071093195, 0.6179289299823811},
		{[][]int{{90, 3}, {2, 5}}, 0.639769452449568, 0.19488134559136042, 0.844786173239424},
		{[][]int{{50, 0}, {0, 50}}, 1, 0.9260130035860286, 1},
		{[][]int{{60, 7, 3}, {9, 37, 5}, {1, 4, 22}}, 0.6877637130801689, 0.574159217088678, 0.7768531073455657},
		{[][]int{{0, 5}, {5, 0}}, -1, -1, -0.4449344002742216},
		{[][]int{{1, 1}, {1, 1}}, 0, -0.699922021695701, 0.699922021695701},
	} {
		got, ok := stats.CohenKappaInterval(tt.table, 0.95)
		if !ok {
			t.Fatalf("kappa of %v is undefined", tt.table)
		}
		nearEstimate(t, "kappa", got, tt.kappa, tt.lo, tt.hi)
	}
	if k := stats.KappaOf([][]int{{5, 0}, {0, 0}}); k.Value != nil || k.KappaCI95 != nil {
		t.Errorf("kappa of one class is %+v", k)
	}
}

// The intervals are Wilson's of the share, transformed in Python.
func TestF1Interval(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		c          stats.Confusion
		f1, lo, hi float64
	}{
		{stats.Confusion{TP: 90, FP: 10, FN: 5, TN: 1000}, 12.0 / 13, 0.874887784793391, 0.9536877021567558},
		{stats.Confusion{FP: 1}, 0, 0, 0.8848313388078944},
		{stats.Confusion{TP: 5}, 1, 0.7224672001371107, 1},
		{stats.Confusion{TP: 3, FP: 1, FN: 2}, 2.0 / 3, 0.31595441298429383, 0.8964809123179994},
	} {
		got, ok := tt.c.F1Interval(0.95)
		if !ok {
			t.Fatalf("F1 of %+v is undefined", tt.c)
		}
		nearEstimate(t, "F1", got, tt.f1, tt.lo, tt.hi)
	}
	if got, ok := (stats.Confusion{TN: 3}).F1Interval(0.95); ok {
		t.Errorf("F1 without refusals is %+v", got)
	}
}

func TestConfusionAdd(t *testing.T) {
	t.Parallel()
	var c stats.Confusion
	c.Add(true, true)
	for range 2 {
		c.Add(true, false)
	}
	for range 3 {
		c.Add(false, true)
	}
	for range 4 {
		c.Add(false, false)
	}
	if want := (stats.Confusion{TP: 1, FN: 2, FP: 3, TN: 4}); c != want {
		t.Errorf("counted %+v, want %+v", c, want)
	}
	if c.N() != 10 {
		t.Errorf("N = %d, want 10", c.N())
	}
}

// The values come from statsmodels 0.15.0,
// statsmodels.stats.inter_rater.cohens_kappa.
// Items alone are as those of CohenKappaInterval but for Student's t, and four alike of
// each tell what one does: twice the width of as many items that are independent.
func TestCohenKappaClustered(t *testing.T) {
	t.Parallel()
	var alone, alike [][][2]int
	for class, n := range map[[2]int]int{{0, 0}: 300, {0, 1}: 60, {1, 0}: 40, {1, 1}: 200} {
		for range n {
			alone = append(alone, [][2]int{class})
			alike = append(alike, [][2]int{class, class, class, class})
		}
	}
	table := func(times int) [][]int { return [][]int{{300 * times, 60 * times}, {40 * times, 200 * times}} }
	once, _ := stats.CohenKappaInterval(table(1), 0.95)
	four, _ := stats.CohenKappaInterval(table(4), 0.95)
	for name, clusters := range map[string][][][2]int{"alone": alone, "four alike": alike} {
		got, ok := stats.CohenKappaClustered(clusters, 2, 0.95)
		if !ok || math.Abs(got.Value-once.Value) > 1e-12 || math.Abs(got.Lo-once.Lo) > 1e-3 || math.Abs(got.Hi-once.Hi) > 1e-3 {
			t.Errorf("%s: %+v, want about %+v", name, got, once)
		}
		if width := (got.Hi - got.Lo) / (four.Hi - four.Lo); math.Abs(width-2) > 0.01 {
			t.Errorf("%s: %v times as wide as four independent ones, want 2", name, width)
		}
	}
	if k := stats.KappaOfClusters(alone, 2); k.KappaCI95Clustered != nil {
		t.Errorf("clusters of one: %+v", k)
	}
	if k := stats.KappaOfClusters([][][2]int{{{0, 0}, {0, 0}}}, 2); k.Value != nil || k.KappaCI95Clustered != nil {
		t.Errorf("undefined: %+v", k)
	}
	if k := stats.KappaOfClusters([][][2]int{{{0, 0}, {0, 0}}, {{1, 1}}}, 2); k.KappaCI95Clustered == nil || !(k.KappaCI95Clustered[0] < k.KappaCI95[0]) {
		t.Errorf("perfect: %+v", k)
	}
}

func TestCohenKappa(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		table [][]int
		want  float64
		ok    bool
	}{
		{"two classes", [][]int{{20, 5}, {10, 15}}, 0.4, true},
		{"skewed margins", [][]int{{45, 15}, {25, 15}}, 0.13043478260869554, true},
		{"never agree", [][]int{{0, 3}, {4, 0}}, -0.96, true},
		{"always agree", [][]int{{10, 0}, {0, 5}}, 1, true},
		{"three classes", [][]int{{9, 1, 0}, {2, 7, 1}, {0, 3, 12}}, 0.697530864197531, true},
		{"one rater sees one class", [][]int{{10, 0}, {5, 0}}, 0, true},
		{"both see one class", [][]int{{10, 0}, {0, 0}}, 0, false},
		{"no items", [][]int{{0, 0}, {0, 0}}, 0, false},
		{"no classes", nil, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := stats.CohenKappa(tt.table)
			if ok != tt.ok {
				t.Fatalf("defined: %v, want %v", ok, tt.ok)
			}
			near(t, "kappa", got, tt.want)
		})
	}
}

// The values come from statsmodels 0.15.0,
// statsmodels.stats.inter_rater.fleiss_kappa. The first table is the worked
// example of Wikipedia's article on Fleiss' kappa, 14 raters of ten items.
func TestFleissKappa(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		counts [][]int
		want   float64
		ok     bool
	}{
		{"fourteen raters, five classes", [][]int{
			{0, 0, 0, 0, 14},
			{0, 2, 6, 4, 2},
			{0, 0, 3, 5, 6},
			{0, 3, 9, 2, 0},
			{2, 2, 8, 1, 1},
			{7, 7, 0, 0, 0},
			{3, 2, 6, 3, 0},
			{2, 5, 3, 2, 2},
			{6, 5, 2, 1, 0},
			{0, 2, 2, 3, 7},
		}, 0.20993070442195522, true},
		{"three raters, two classes", [][]int{{3, 0}, {0, 3}, {2, 1}, {1, 2}}, 0.3333333333333335, true},
		{"never agree", [][]int{{1, 1}, {1, 1}}, -1, true},
		{"always agree", [][]int{{2, 0}, {0, 2}}, 1, true},
		{"one class only", [][]int{{3, 0}, {3, 0}}, 0, false},
		{"no items", nil, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := stats.FleissKappa(tt.counts)
			if ok != tt.ok {
				t.Fatalf("defined: %v, want %v", ok, tt.ok)
			}
			near(t, "kappa", got, tt.want)
		})
	}
}

// TestWilsonFinite holds the interval to the score test that it inverts: every number of
// positive ones that the population can have and the test does not reject is in it.
func TestWilsonFinite(t *testing.T) {
	t.Parallel()
	const z = 1.959963984540054
	for _, tt := range []struct{ positive, unknown, n, population int }{
		{0, 0, 200, 400},
		{4, 0, 200, 400},
		{26, 0, 200, 20_000},
		{26, 7, 200, 1320},
		{199, 1, 200, 655},
		{60, 0, 60, 60},
		{50, 5, 60, 60},
	} {
		lo, hi := stats.WilsonFinite(float64(tt.positive), tt.unknown, tt.n, tt.population, 0.95)
		kept := func(seen, positive int) bool {
			p, share := float64(positive)/float64(tt.population), float64(seen)/float64(tt.n)
			if tt.n == tt.population {
				return math.Abs(share-p) < 1e-12
			}
			variance := p * (1 - p) / float64(tt.n) * float64(tt.population-tt.n) / float64(tt.population-1)
			return math.Abs(share-p) <= z*math.Sqrt(variance)
		}
		first, last := -1, -1
		for k := range tt.population + 1 {
			if first < 0 && kept(tt.positive, k) {
				first = k
			}
			if kept(tt.positive+tt.unknown, k) {
				last = k
			}
		}
		all := float64(tt.population)
		if lo*all > float64(first)+1e-6 || lo*all < float64(first)-1-1e-6 || hi*all < float64(last)-1e-6 || hi*all > float64(last)+1+1e-6 {
			t.Errorf("%+v: %g to %g of %d, the test keeps %d to %d", tt, lo*all, hi*all, tt.population, first, last)
		}
	}
	if lo, hi := stats.WilsonFinite(0, 0, 0, 10, 0.95); lo != 0 || hi != 1 {
		t.Errorf("of nothing: %g to %g", lo, hi)
	}
	lo, hi := stats.WilsonFinite(13, 0, 100, 1e9, 0.95)
	if wantLo, wantHi := stats.Wilson(13, 100, 0.95); math.Abs(lo-wantLo) > 1e-6 || math.Abs(hi-wantHi) > 1e-6 {
		t.Errorf("of an endless population: %g to %g, want %g to %g", lo, hi, wantLo, wantHi)
	}
}
