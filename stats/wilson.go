package stats

import (
	"fmt"
	"math"
)

// Wilson gives the score interval of a proportion with k positives in n trials (Wilson
// 1927, without continuity correction; the form in Brown, Cai and DasGupta 2001, section
// 3.1.1). The confidence is a share such as 0.95.
//
// The bounds lie within [0, 1]. A bound is exactly 0 if k is 0 and exactly 1 if k is n.
// Without trials nothing is known, and the interval is [0, 1].
//
// Wilson panics unless 0 <= k <= n and 0 < confidence < 1.
func Wilson(k, n int, confidence float64) (lo, hi float64) {
	checkCounts("Wilson", k, n)
	checkConfidence(confidence)
	if n == 0 {
		return 0, 1
	}
	return WilsonShare(float64(k)/float64(n), float64(n), confidence)
}

// WilsonShare is Wilson for a share p from 0 to 1 in n > 0 trials, of which there need not be
// a whole number, as where weighted labels say as much as n equal ones.
func WilsonShare(p, n, confidence float64) (lo, hi float64) {
	z := zOf(confidence)
	scale := 1 + z*z/n
	center := (p + z*z/(2*n)) / scale
	half := z / scale * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	// At the ends one bound is exact in theory but has a rounding error in floating
	// point.
	lo, hi = 0, 1
	if p > 0 {
		lo = math.Max(0, center-half)
	}
	if p < 1 {
		hi = math.Min(1, center+half)
	}
	return lo, hi
}

// WilsonFinite gives Wilson's interval for the rate of a whole population, of which n were
// drawn without replacement. positive of the draws were positive; it may be a fraction if a
// draw is itself a share. The result of unknown draws is not known. These count as negative
// for the lower end and as positive for the upper. The n draws carry as much information as
// n (population-1) / (population-n) draws from an infinite population (the finite-population
// correction; Cochran 1977, Sampling Techniques, section 3.2), so the interval closes as the
// population runs out. Its ends are rounded outward to whole members of the population:
// without that it holds in 87% for 4 positive of 400.
//
// It panics unless positive + unknown <= n <= population, none is negative, and
// 0 < confidence < 1.
func WilsonFinite(positive float64, unknown, n, population int, confidence float64) (lo, hi float64) {
	checkCounts("WilsonFinite", n, population)
	checkConfidence(confidence)
	if !(positive >= 0) || unknown < 0 || positive+float64(unknown) > float64(n)+1e-9 {
		panic(fmt.Sprintf("stats: WilsonFinite: %g positive and %d unknown of %d", positive, unknown, n))
	}
	if n == 0 {
		return 0, 1
	}
	low, high := positive/float64(n), math.Min(1, (positive+float64(unknown))/float64(n))
	if n == population {
		return low, high
	}
	effective := float64(n) * float64(population-1) / float64(population-n)
	lo, _ = WilsonShare(low, effective, confidence)
	_, hi = WilsonShare(high, effective, confidence)
	// Rounding errors must not move an end by a whole one.
	const slack = 1e-9
	all := float64(population)
	return math.Floor(lo*all+slack) / all, math.Ceil(hi*all-slack) / all
}

// WilsonClustered estimates the share of prompts refused when clusters of prompts, not
// single prompts, were drawn. It is Wilson's interval at the effective number of prompts:
// how many independent ones would give the rate the variance of the clusters, but at most
// the actual number. This is reduced further by the square of Student's t over the normal
// quantile, since the variance is itself estimated (Korn and Graubard 1998, Survey
// Methodology 24:193-201; Dean and Pagano 2015, Journal of Survey Statistics and
// Methodology 3:484-503, find this adjustment good for Wilson's interval too). If all
// clusters have the same rate, it is the number of clusters.
//
// It reports false without clusters, and panics unless 0 <= Sum <= N for each.
func WilsonClustered(clusters []Cluster, confidence float64) (Estimate, bool) {
	z := zOf(confidence)
	if len(clusters) == 0 {
		return Estimate{}, false
	}
	p, _, effective, differ := effectivePrompts("WilsonClustered", clusters)
	if differ {
		t := tOf(confidence, len(clusters))
		effective *= (z / t) * (z / t)
	}
	lo, hi := WilsonShare(p, effective, confidence)
	return estimate(p, lo, hi, 0, 1), true
}

// DesignEffect is the factor by which clusters increase the variance of a rate: that
// many prompts carry as much information as one independent prompt. It is at least 1,
// and 1 without clusters. Counts divided by it can go into a test for independent
// prompts (Rao and Scott 1992, Biometrics 48:577-585). If all clusters have the same
// rate, it is the mean number of prompts in a cluster.
//
// It panics unless 0 <= Sum <= N for each.
func DesignEffect(clusters []Cluster) float64 {
	if len(clusters) == 0 {
		return 1
	}
	_, prompts, effective, _ := effectivePrompts("DesignEffect", clusters)
	return prompts / effective
}

// effectivePrompts gives the rate over all clusters, the number of prompts, the effective
// number of prompts, and whether the clusters' rates differ at all. The effective number
// is how many independent prompts would give the rate the variance of the clusters, but
// at most the actual number. If the rates do not differ, each cluster counts as one
// prompt.
func effectivePrompts(who string, clusters []Cluster) (p, prompts, effective float64, differ bool) {
	var refused float64
	for _, c := range clusters {
		checkCounts(who, c.Sum, c.N)
		c.check()
		refused += float64(c.Sum)
		prompts += float64(c.N)
	}
	m := float64(len(clusters))
	p = refused / prompts
	var squares float64
	for _, c := range clusters {
		d := float64(c.Sum) - p*float64(c.N)
		squares += d * d
	}
	// Below this the clusters differ only by rounding.
	if squares <= 1e-18*prompts*prompts {
		return p, prompts, m, false
	}
	variance := m / (m - 1) * squares / (prompts * prompts)
	return p, prompts, math.Min(prompts, p*(1-p)/variance), true
}
