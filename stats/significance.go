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
	n := onlyFirst + onlySecond
	checkPairs(float64(onlyFirst), float64(onlySecond), float64(n))
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
