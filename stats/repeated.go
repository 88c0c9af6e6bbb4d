package stats

import "gonum.org/v1/gonum/stat/distuv"

// MeanRate estimates the mean over clusters of Sum/N: the per-prompt refusal rate of
// prompts that were each asked several times. Every prompt has equal weight, however many
// of its answers were judged. The interval is that of WilsonClustered, with the variance
// of the clusters' own rates. If all N are equal, MeanRate equals WilsonClustered.
//
// It reports false without clusters, and panics unless 0 <= Sum <= N for each.
func MeanRate(clusters []Cluster, confidence float64) (Estimate, bool) {
	checkConfidence(confidence)
	var trials float64
	rates := make([]float64, len(clusters))
	for i, c := range clusters {
		checkCounts("MeanRate", c.Sum, c.N)
		c.check()
		rates[i] = float64(c.Sum) / float64(c.N)
		trials += float64(c.N)
	}
	return meanShare(rates, trials, confidence)
}

// meanOf is the mean of some values and the variance of that mean. The variance is 0 if
// the values are equal except for rounding.
func meanOf(values []float64) (mean, variance float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	var squares float64
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	if squares < 1e-18*n*n {
		return mean, 0
	}
	return mean, squares / (n * (n - 1))
}

// tOf is the number of standard errors that an interval at this confidence extends to
// each side, if the standard error was estimated from n values, at least 2.
func tOf(confidence float64, n int) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile((1 + confidence) / 2)
}
