package stats

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Bootstrap estimates intervals by resampling the data with replacement many times (Efron
// 1979). The same Bootstrap gives the same intervals for the same data on every machine.
// The zero value is ready for use.
//
// The intervals are percentile intervals. Except for rank correlations, the percentiles
// are moved outward by the ratio of Student's t to the normal quantile. This corrects
// most of the error with few units (Hesterberg 2015, The American Statistician
// 69:371-386, the expanded percentile interval).
type Bootstrap struct {
	// Resamples is the number of resamples; 0 means 2,000.
	Resamples int
	// Confidence is the intervals' level; 0 means 0.95.
	Confidence float64
	// Seed determines the draws.
	Seed uint64
}

// Cluster holds the counts of prompts that are not independent, such as the rewrites of
// one seed.
type Cluster struct {
	// Sum is the number of prompts that were refused. For a difference it is how many
	// more were refused the second time than the first.
	Sum int
	// N is the number of prompts, at least 1.
	N int
}

func (c Cluster) check() {
	if c.N < 1 {
		panic("stats: a cluster without prompts")
	}
}

// Correlation estimates a correlation by drawing points. It reports false if the
// correlation is undefined, and if no resample differs from the data, as with points in
// perfect order. Resamples in which it is undefined are drawn again.
//
// A rank correlation, such as Spearman and KendallTauB, has plain percentiles. A point
// drawn twice is a tie, which the data may not have, and these ties already widen the
// resamples enough.
func (b Bootstrap) Correlation(x, y []float64, measure Correlation) (Estimate, bool) {
	each := make([][]int, len(x))
	for i := range each {
		each[i] = []int{i}
	}
	return b.correlation(x, y, each, measure)
}

// ClusteredCorrelation estimates a correlation when points come in clusters, such as the
// models of one family. The bootstrap draws whole clusters, as many as there are. The
// i-th point is in the cluster of the i-th name. It reports false when Correlation does,
// and with fewer than two clusters. With few or unequal clusters the interval is too
// narrow, but less so than that of Correlation. It panics if the numbers of points and
// names differ.
func (b Bootstrap) ClusteredCorrelation(x, y []float64, cluster []string, measure Correlation) (Estimate, bool) {
	if len(cluster) != len(x) {
		panic(fmt.Sprintf("stats: %d points in %d clusters", len(x), len(cluster)))
	}
	at := map[string]int{}
	var groups [][]int
	for i, name := range cluster {
		k, known := at[name]
		if !known {
			k = len(groups)
			at[name] = k
			groups = append(groups, nil)
		}
		groups[k] = append(groups[k], i)
	}
	if len(groups) < 2 {
		return Estimate{}, false
	}
	return b.correlation(x, y, groups, measure)
}

// correlation draws whole groups of points.
func (b Bootstrap) correlation(x, y []float64, groups [][]int, measure Correlation) (Estimate, bool) {
	value, ok := measure(x, y)
	if !ok {
		return Estimate{}, false
	}
	b = b.withDefaults()
	random := b.random()
	values := make([]float64, 0, b.Resamples)
	var u, v []float64
	for len(values) < b.Resamples {
		u, v = u[:0], v[:0]
		for range groups {
			for _, k := range groups[random.IntN(len(groups))] {
				u, v = append(u, x[k]), append(v, y[k])
			}
		}
		if r, ok := measure(u, v); ok {
			values = append(values, r)
		}
	}
	slices.Sort(values)
	if same(values) {
		return Estimate{}, false
	}
	tail := b.expandedTail(len(groups))
	if ofRanks, ok := measure(ranks(x), ranks(y)); ok && ofRanks == value {
		tail = (1 - b.Confidence) / 2
	}
	return b.interval(value, values, tail), true
}

func (b Bootstrap) withDefaults() Bootstrap {
	b.Resamples = cmp.Or(b.Resamples, 2000)
	b.Confidence = cmp.Or(b.Confidence, 0.95)
	checkConfidence(b.Confidence)
	if b.Resamples < 2 {
		panic(fmt.Sprintf("stats: a bootstrap of %d resamples", b.Resamples))
	}
	return b
}

// random gives the source of the draws. Its second word is an arbitrary constant.
func (b Bootstrap) random() *rand.Rand { return rand.New(b.source()) }

func (b Bootstrap) source() rand.Source { return rand.NewPCG(b.Seed, 0x6f7262656e6368) }

// expandedTail is the share of resamples to leave out at each end for data of units
// units.
func (b Bootstrap) expandedTail(units int) float64 {
	tail := (1 - b.Confidence) / 2
	if units == 1 {
		return tail
	}
	df := float64(units - 1)
	t := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(tail)
	return distuv.UnitNormal.CDF(t * math.Sqrt(float64(units)/df))
}

// interval leaves out a share of the sorted values at each end.
func (b Bootstrap) interval(value float64, sorted []float64, tail float64) Estimate {
	lo := stat.Quantile(tail, stat.LinInterp, sorted, nil)
	hi := stat.Quantile(1-tail, stat.LinInterp, sorted, nil)
	return estimate(value, lo, hi, -1, 1)
}

// same reports whether sorted values are all equal, except for rounding.
func same(sorted []float64) bool { return sorted[len(sorted)-1]-sorted[0] < 1e-12 }
