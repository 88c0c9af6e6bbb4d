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
// 69:371-386, the expanded percentile interval). If no resample differs from the data,
// the bootstrap gives no information, and each method says what it does instead.
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

// Rate estimates the rate k/n of n independent prompts. If k is 0 or n it gives Wilson's
// interval. It reports false if n is 0.
func (b Bootstrap) Rate(k, n int) (Estimate, bool) {
	checkCounts("Bootstrap.Rate", k, n)
	if n == 0 {
		return Estimate{}, false
	}
	return b.ratio([]kind{{Cluster{1, 1}, k}, {Cluster{0, 1}, n - k}}, b.wilson), true
}

// ClusteredRate estimates the share of prompts refused when clusters of prompts, not
// single prompts, were drawn. It draws whole clusters. The rate is the sum of the
// resample's refusals over the sum of its prompts. If all clusters have the same rate, it
// gives Wilson's interval with the clusters as trials, which is wide. Below about thirty
// refusals, or answers, the interval is too narrow, and that of WilsonClustered is
// better. It reports false without clusters, and panics unless 0 <= Sum <= N for each.
func (b Bootstrap) ClusteredRate(clusters []Cluster) (Estimate, bool) {
	for _, c := range clusters {
		checkCounts("Bootstrap.ClusteredRate", c.Sum, c.N)
	}
	if len(clusters) == 0 {
		return Estimate{}, false
	}
	return b.ratio(kindsOf(clusters), b.wilson), true
}

// PairedDifference estimates the difference between the rates of two runs over the same n
// prompts, like the function PairedDifference. It gives that function's interval if there
// are no discordant prompts or all are discordant the same way. It reports false if n is
// 0.
func (b Bootstrap) PairedDifference(onlyFirst, onlySecond, n int) (Estimate, bool) {
	checkPairs(float64(onlyFirst), float64(onlySecond), float64(n))
	if n == 0 {
		return Estimate{}, false
	}
	kinds := []kind{{Cluster{1, 1}, onlySecond}, {Cluster{-1, 1}, onlyFirst}, {Cluster{0, 1}, n - onlyFirst - onlySecond}}
	return b.ratio(kinds, b.bonettPrice), true
}

// ClusteredDifference estimates the difference between the rates of two runs over the
// same prompts when clusters of prompts were drawn. If all clusters differ by the same
// rate, it gives the interval of the function PairedDifference with the clusters as
// pairs. It reports false without clusters, and panics unless -N <= Sum <= N for each.
func (b Bootstrap) ClusteredDifference(clusters []Cluster) (Estimate, bool) {
	for _, c := range clusters {
		checkCounts("Bootstrap.ClusteredDifference", max(c.Sum, -c.Sum), c.N)
	}
	if len(clusters) == 0 {
		return Estimate{}, false
	}
	return b.ratio(kindsOf(clusters), b.bonettPrice), true
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
	if b.Resamples == 0 {
		b.Resamples = 2000
	}
	if b.Confidence == 0 {
		b.Confidence = 0.95
	}
	checkConfidence(b.Confidence)
	if b.Resamples < 2 {
		panic(fmt.Sprintf("stats: a bootstrap of %d resamples", b.Resamples))
	}
	return b
}

// random gives the source of the draws. Its second word is an arbitrary constant.
func (b Bootstrap) random() *rand.Rand { return rand.New(b.source()) }

func (b Bootstrap) source() rand.Source { return rand.NewPCG(b.Seed, 0x6f7262656e6368) }

// kind is a number of identical clusters.
type kind struct {
	Cluster
	count int
}

// kindsOf counts identical clusters, in a fixed order.
func kindsOf(clusters []Cluster) []kind {
	counts := map[Cluster]int{}
	for _, c := range clusters {
		c.check()
		counts[c]++
	}
	kinds := make([]kind, 0, len(counts))
	for c, n := range counts {
		kinds = append(kinds, kind{c, n})
	}
	// The most common come first, since a draw ends once all clusters are assigned.
	slices.SortFunc(kinds, func(a, b kind) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.N, b.N), cmp.Compare(a.Sum, b.Sum))
	})
	return kinds
}

// ratio estimates sum over n of the clusters. A resample does not draw cluster by cluster
// but draws how many there are of each kind. Those counts are multinomial, and are drawn
// as binomials, each from what the earlier kinds have left. The time depends on the
// number of kinds, which hardly grows with the number of prompts.
func (b Bootstrap) ratio(kinds []kind, alike func(sum, n, clusters int) Estimate) Estimate {
	b = b.withDefaults()
	var units, sum, n int
	for _, k := range kinds {
		units += k.count
		sum += k.count * k.Sum
		n += k.count * k.N
	}
	source := b.source()
	values := make([]float64, b.Resamples)
	for i := range values {
		left, of := units, units
		var s, m int
		for _, k := range kinds {
			drawn := binomial(left, k.count, of, source)
			s += drawn * k.Sum
			m += drawn * k.N
			left -= drawn
			of -= k.count
			if left == 0 {
				break
			}
		}
		values[i] = float64(s) / float64(m)
	}
	slices.Sort(values)
	if same(values) {
		return alike(sum, n, units)
	}
	return b.interval(float64(sum)/float64(n), values, b.expandedTail(units))
}

// binomial draws the number of successes in n trials, each with probability part/whole.
func binomial(n, part, whole int, source rand.Source) int {
	switch {
	case n == 0 || part == 0:
		return 0
	case part == whole:
		return n
	}
	return int(distuv.Binomial{N: float64(n), P: float64(part) / float64(whole), Src: source}.Rand())
}

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

// wilson is the interval of a rate that is the same in all clusters.
func (b Bootstrap) wilson(sum, n, clusters int) Estimate {
	value := float64(sum) / float64(n)
	lo, hi := Wilson(int(math.Round(value*float64(clusters))), clusters, b.withDefaults().Confidence)
	return estimate(value, lo, hi, 0, 1)
}

// bonettPrice is the interval of a difference that is the same in all clusters.
func (b Bootstrap) bonettPrice(sum, n, clusters int) Estimate {
	value := float64(sum) / float64(n)
	alike := int(math.Round(value * float64(clusters)))
	e, _ := PairedDifference(max(0, -alike), max(0, alike), clusters, b.withDefaults().Confidence)
	return estimate(value, e.Lo, e.Hi, -1, 1)
}
