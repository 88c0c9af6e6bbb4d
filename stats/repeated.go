package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

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

// MeanDifference estimates the mean over clusters of Sum/N, where Sum is how many more
// were refused the second time than the first. An example is a mean rate minus the single
// verdict at temperature 0. The interval is Student's t interval of the clusters' own
// differences. If all differences are equal, it is that of the function PairedDifference
// with the clusters as pairs.
//
// It reports false without clusters, and panics unless -N <= Sum <= N for each.
func MeanDifference(clusters []Cluster, confidence float64) (Estimate, bool) {
	checkConfidence(confidence)
	differences := make([]float64, len(clusters))
	for i, c := range clusters {
		checkCounts("MeanDifference", max(c.Sum, -c.Sum), c.N)
		c.check()
		differences[i] = float64(c.Sum) / float64(c.N)
	}
	if len(clusters) == 0 {
		return Estimate{}, false
	}
	d, variance := meanOf(differences)
	if variance == 0 {
		return Bootstrap{Confidence: confidence}.bonettPrice(clusters[0].Sum, clusters[0].N, len(clusters)), true
	}
	half := tOf(confidence, len(differences)) * math.Sqrt(variance)
	return estimate(d, d-half, d+half, -1, 1), true
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

// Intraclass is the intraclass correlation: how similar the answers within a cluster
// are. It uses the analysis of variance estimator, which is also valid for yes and no
// (Ridout, Demétrio and Firth 1999, Biometrics 55:137-148). It is 1 when every prompt
// is always or never refused, 0 when prompts do not differ beyond chance, and may be
// slightly below 0. It reports false with fewer than two clusters, when all answers
// are the same, and when no cluster has two answers.
func Intraclass(clusters []Cluster) (float64, bool) {
	var m, n, sum, within, sizes float64
	for _, c := range clusters {
		checkCounts("Intraclass", c.Sum, c.N)
		c.check()
		m++
		n += float64(c.N)
		sum += float64(c.Sum)
		within += float64(c.Sum) - float64(c.Sum)*float64(c.Sum)/float64(c.N)
		sizes += float64(c.N) * float64(c.N)
	}
	if m < 2 || n == m || sum == 0 || sum == n {
		return 0, false
	}
	between := sum - within - sum*sum/n
	size := (n - sizes/n) / (m - 1)
	between, within = between/(m-1), within/(n-m)
	return (between - within) / (between + (size-1)*within), true
}
