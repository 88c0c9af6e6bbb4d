package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// McNemar tests whether two runs over the same prompts refuse equally often. Only the
// discordant prompts count: onlyFirst were refused in the first run alone, onlySecond in
// the second alone (McNemar 1947). It returns the two-sided mid-p value, which counts the
// observed table by half. The exact p-value is too large with few discordant prompts.
// Mid-p hardly ever exceeds its level, is much more powerful there, and is very close to
// the chi-square test without continuity correction if there are many (Fagerland,
// Lydersen and Laake 2013, BMC Medical Research Methodology 13:91). Without discordant
// prompts the p-value is 1.
func McNemar(onlyFirst, onlySecond int) float64 {
	checkPairs(onlyFirst, onlySecond, onlyFirst+onlySecond)
	n := onlyFirst + onlySecond
	if n == 0 {
		return 1
	}
	b := distuv.Binomial{N: float64(n), P: 0.5}
	least := float64(min(onlyFirst, onlySecond))
	tail := b.CDF(least)
	if onlyFirst == onlySecond {
		// The two tails meet in the observed table, which counts once.
		return 1 - b.Prob(least)/2
	}
	return 2*tail - b.Prob(least)
}

// McNemarClustered is McNemar for prompts that share clusters, which are drawn as a
// whole. Only the clusters that changed count, each with its Sum: how many more of its
// prompts were refused the second time. If the runs do not differ, each cluster is as
// likely to have changed by its Sum as by the opposite. The p-value is the share of all
// choices of signs whose sum is at least as large as the observed change, in either
// direction (Fisher's randomization test of paired data, 1935, with clusters for the
// pairs; Gail and others 1996, Statistics in Medicine 15:1069-1092). With many clusters
// it comes close to Obuchowski's statistic (1998, Statistics in Medicine 17:1495-1507).
// If no Sum is beyond ±1 it is McNemar of the clusters.
//
// As in McNemar, the observed change counts by half, so K clusters that changed give no
// p-value below 1 / 2^K. It panics unless -N <= Sum <= N for each.
func McNemarClustered(clusters []Cluster) float64 {
	var change, most int
	for _, c := range clusters {
		checkCounts("McNemarClustered", max(c.Sum, -c.Sum), c.N)
		change += c.Sum
		most += max(c.Sum, -c.Sum)
	}
	if most == 0 {
		return 1
	}
	// up[t] is the chance that, among the clusters so far, those that went up sum to t.
	up := make([]float64, most+1)
	up[0] = 1
	reached := 0
	for _, c := range clusters {
		size := max(c.Sum, -c.Sum)
		if size == 0 {
			continue
		}
		reached += size
		for t := reached; t >= size; t-- {
			up[t] = (up[t] + up[t-size]) / 2
		}
		for t := range size {
			up[t] /= 2
		}
	}
	observed := max(change, -change)
	var beyond, same float64
	for t, chance := range up {
		// The others went down.
		switch size := max(2*t-most, most-2*t); {
		case size > observed:
			beyond += chance
		case size == observed:
			same += chance
		}
	}
	return math.Min(1, beyond+same/2)
}

// FisherExact tests whether two independent groups refuse equally often, given k1
// refusals among n1 and k2 among n2 (Fisher 1935). The two-sided p-value adds the
// probabilities of all tables with the same margins that are no likelier than the
// observed one. Like R's fisher.test, it uses a tolerance of 1e-7 for tables that are
// equally likely except for rounding. If a margin is zero there is only one table, and
// the p-value is 1.
func FisherExact(k1, n1, k2, n2 int) float64 {
	checkCounts("FisherExact", k1, n1)
	checkCounts("FisherExact", k2, n2)
	// x, the number of refusals in the first group, is hypergeometric. Every probability
	// is computed from that of the mode by ratios, so that none overflows.
	refused := k1 + k2
	low, high := max(0, refused-n2), min(refused, n1)
	mode := int(float64(refused+1) * float64(n1+1) / float64(n1+n2+2))
	mode = min(high, max(low, mode))
	weights := make([]float64, high-low+1)
	weights[mode-low] = 1
	for x := mode; x < high; x++ {
		up := float64(n1-x) * float64(refused-x)
		down := float64(x+1) * float64(n2-refused+x+1)
		weights[x+1-low] = weights[x-low] * up / down
	}
	for x := mode; x > low; x-- {
		up := float64(x) * float64(n2-refused+x)
		down := float64(n1-x+1) * float64(refused-x+1)
		weights[x-1-low] = weights[x-low] * up / down
	}
	limit := weights[k1-low] * (1 + 1e-7)
	// Add the smallest first, to keep the rounding error low.
	slices.Sort(weights)
	var all, extreme float64
	for _, w := range weights {
		all += w
		if w <= limit {
			extreme += w
		}
	}
	return extreme / all
}

// Holm corrects p-values for multiple testing. Each result is the lowest level at which
// that test is still rejected, if the level bounds the chance of any false rejection
// (Holm 1979, Scandinavian Journal of Statistics 6:65-70). The results are in the order
// of the input, which does not change. Holm panics on a p-value outside [0, 1].
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			panic(fmt.Sprintf("stats: Holm with a p-value of %v", v))
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	adjusted := make([]float64, len(p))
	largest := 0.0
	for rank, i := range order {
		largest = math.Max(largest, math.Min(1, float64(len(p)-rank)*p[i]))
		adjusted[i] = largest
	}
	return adjusted
}
