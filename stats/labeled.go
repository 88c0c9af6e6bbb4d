package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A LabeledStratum is a part of some answers of which a few, drawn at random, have
// a person's word on whether they are refusals.
type LabeledStratum struct {
	// Size is the number of answers in the stratum.
	Size int
	// Mean is the share of the labeled answers that people called refusals, from 0
	// to 1: weighted by one over the chance of being drawn where that differed, and
	// with the share of its people as the value of an answer on which they disagree.
	Mean float64
	// Labels is how many answers drawn with equal chances tell as much: the number of
	// labeled answers, or with weights w Kish's effective number, (Σw)²/Σw².
	Labels float64
}

// StratifiedRate estimates the share of refusals among answers that fall into
// strata, from labels drawn at random within each. With judges' verdicts as strata
// it is the mean of a judge's verdicts plus the weighted mean of (person − judge)
// over the labeled answers, which is prediction-powered inference (Angelopoulos et
// al. 2023, Science 382:669-674) in its stratified form: a difference estimator
// which is unbiased however wrong the judge is, and whose interval is narrow
// where the judge is good.
//
// The interval counts the drawing of prompts and that of labels, as for double sampling
// (Cochran 1977, Sampling Techniques, section 12.2). Each has limits of its own: for the
// prompts those of Jeffreys at all of the answers (Brown, Cai and DasGupta 2001,
// Statistical Science 16:101-133, section 3.1.2), and for the labels of a stratum the
// quantiles of what is believed of it with a quarter of a refusal and a quarter of a
// non-refusal before, times the stratum's share of the answers, corrected for the finite
// population (Cochran, section 2.6). Their distances from the rate are combined by the
// method of variance estimates recovery (Zou and Donner 2008, Statistics in Medicine
// 27:1693-1702), on each side for itself: where all labels say refusal the rate may be
// lower than it seems and not higher. Half of the misses, 1 − confidence, belong to each
// side where the sides are alike, and fewer to the longer one, by the squares of the
// lengths but never less than 28% of them: truth is seldom that far off. The interval has
// no width of zero. docs/labels.md says how often it holds the truth.
//
// designEffect is that of prompts that share clusters, 1 for independent ones.
//
// It reports false without answers, and where a stratum has no label. It panics
// where a mean is not between 0 and 1.
func StratifiedRate(strata []LabeledStratum, designEffect, confidence float64) (Estimate, bool) {
	checkConfidence(confidence)
	var n, refused float64
	for _, s := range strata {
		if s.Size > 0 && s.Labels <= 0 {
			return Estimate{}, false
		}
		if !(s.Mean >= 0 && s.Mean <= 1) {
			panic(fmt.Sprintf("stats: StratifiedRate of the mean %v, which is no share", s.Mean))
		}
		n += float64(s.Size)
		refused += float64(s.Size) * s.Mean
	}
	if n == 0 {
		return Estimate{}, false
	}
	rate := refused / n
	// distance is how far the limit lies from the rate below which a share tail of what is
	// believed lies, or above which 1 − tail does.
	distance := func(tail float64) float64 {
		toward := func(limit, from float64) float64 {
			if tail < 0.5 {
				return max(0, from-limit)
			}
			return max(0, limit-from)
		}
		d := toward(jeffreysLimit(rate, n/math.Max(1, designEffect), tail), rate)
		squares := d * d
		for _, s := range strata {
			if s.Size == 0 || s.Labels >= float64(s.Size) {
				continue
			}
			share, unlabeled := float64(s.Size)/n, 1-s.Labels/float64(s.Size)
			believed := distuv.Beta{Alpha: s.Mean*s.Labels + share/4, Beta: (1-s.Mean)*s.Labels + share/4}
			d := share * toward(believed.Quantile(tail), s.Mean)
			squares += d * d * unlabeled
		}
		return math.Sqrt(squares)
	}
	const leastOfMisses = 0.28
	misses := 1 - confidence
	below, above := distance(misses/2), distance(1-misses/2)
	ofAbove := below * below / (below*below + above*above)
	ofAbove = min(max(ofAbove, leastOfMisses), 1-leastOfMisses)
	lo, hi := rate-distance(misses*(1-ofAbove)), rate+distance(1-misses*ofAbove)
	return estimate(rate, lo, hi, 0, 1), true
}

// jeffreysLimit is the quantile of what is believed of a share after n trials, which need
// be no whole number, at the rate p, with half a positive and half a negative believed
// before. The lower limit is 0 when p is, and the upper one 1 when p is.
func jeffreysLimit(p, n, tail float64) float64 {
	switch {
	case p == 0 && tail < 0.5:
		return 0
	case p == 1 && tail > 0.5:
		return 1
	}
	return distuv.Beta{Alpha: p*n + 0.5, Beta: (1-p)*n + 0.5}.Quantile(tail)
}
