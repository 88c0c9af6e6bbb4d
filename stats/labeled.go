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
// whose mean is right however wrong the judge is, and whose interval is narrow
// where the judge is good.
//
// The interval counts the drawing of labels and that of the prompts, as for double
// sampling (Cochran 1977, Sampling Techniques, section 12.2): it is Jeffreys' (Brown,
// Cai and DasGupta 2001, Statistical Science 16:101-133, section 3.1.2) at the number of
// independent labeled prompts that would give the rate the same variance (as for surveys
// in Korn and Graubard 1998, Survey Methodology 24:193-201), which is at most all of
// them. Near 0 and 1 Wilson's is too narrow on one side and too wide on the other. So that strata in which all labels agree do not count as
// certain, each mean enters the variance with a quarter of a label added, half of it
// a refusal. The interval has no width of zero. designEffect is that of prompts that
// share clusters, 1 for independent ones.
//
// It reports false without answers, and where a stratum has no label. It panics
// where a mean is not between 0 and 1.
func StratifiedRate(strata []LabeledStratum, designEffect, confidence float64) (Estimate, bool) {
	checkConfidence(confidence)
	var n float64
	for _, s := range strata {
		if s.Size > 0 && s.Labels <= 0 {
			return Estimate{}, false
		}
		if !(s.Mean >= 0 && s.Mean <= 1) {
			panic(fmt.Sprintf("stats: StratifiedRate of the mean %v, which is no share", s.Mean))
		}
		n += float64(s.Size)
	}
	if n == 0 {
		return Estimate{}, false
	}
	const added = 0.25
	var rate, smooth, squares, variance float64
	for _, s := range strata {
		if s.Size == 0 {
			continue
		}
		share := float64(s.Size) / n
		p := (s.Mean*s.Labels + added/2) / (s.Labels + added)
		rate += share * s.Mean
		smooth += share * p
		squares += share * p * p
		variance += share * share * p * (1 - p) / s.Labels
	}
	variance += math.Max(0, squares-smooth*smooth) / n
	effective := smooth * (1 - smooth) / variance / math.Max(1, designEffect)
	lo, hi := jeffreys(rate, math.Min(n, effective), confidence)
	return estimate(rate, lo, hi, 0, 1), true
}

// jeffreys is the interval of Jeffreys for the rate p of n trials, which need be no whole
// number: the quantiles of what is believed of a share after them, with half a positive
// and half a negative believed before. A bound is 0 when p is, and 1 when p is.
func jeffreys(p, n, confidence float64) (lo, hi float64) {
	after := distuv.Beta{Alpha: p*n + 0.5, Beta: (1-p)*n + 0.5}
	lo, hi = 0, 1
	if p > 0 {
		lo = after.Quantile((1 - confidence) / 2)
	}
	if p < 1 {
		hi = after.Quantile((1 + confidence) / 2)
	}
	return lo, hi
}
