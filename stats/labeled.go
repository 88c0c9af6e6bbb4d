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
// (Cochran 1977, Sampling Techniques, section 12.2). Each has limits of its own: the prompts
// those of Jeffreys at all of the answers (Brown, Cai and DasGupta 2001, Statistical
// Science 16:101-133, section 3.1.2), and the labels of a stratum with the share w of the
// answers the quantiles of the beta distribution of refusals + w/4 and others + w/4. The
// distance of these from the stratum's mean counts w times, and its square by the part of
// the stratum that has no label (the finite population correction, Cochran, section 2.6).
// The squares are summed, on each side for itself, as by the method of variance estimates
// recovery (Zou and Donner 2008, Statistics in Medicine 27:1693-1702): where all labels say
// refusal the rate may be lower than it seems and not higher. Of the misses, 1 − confidence,
// each side has a half where both are as long, and else a share by the square of the other
// side's length, though never less than 28%: the truth is seldom as far off as the longer
// side. The interval has no width of zero. docs/labels.md says how often it holds the truth.
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
	rate, prompts := refused/n, n/math.Max(1, designEffect)
	// distance is how far from the rate the limit is beyond which, downward or upward, lies
	// a share miss of what is believed.
	distance := func(miss float64, downward bool) float64 {
		d := beyond(distuv.Beta{Alpha: rate*prompts + 0.5, Beta: (1-rate)*prompts + 0.5}, miss, downward, rate)
		squares := d * d
		for _, s := range strata {
			if s.Size == 0 || s.Labels >= float64(s.Size) {
				continue
			}
			share, unlabeled := float64(s.Size)/n, 1-s.Labels/float64(s.Size)
			believed := distuv.Beta{Alpha: s.Mean*s.Labels + share/4, Beta: (1-s.Mean)*s.Labels + share/4}
			d := share * beyond(believed, miss, downward, s.Mean)
			squares += d * d * unlabeled
		}
		return math.Sqrt(squares)
	}
	const leastOfMisses = 0.28
	misses := 1 - confidence
	below, above := distance(misses/2, true), distance(misses/2, false)
	ofAbove := below * below / (below*below + above*above)
	ofAbove = min(max(ofAbove, leastOfMisses), 1-leastOfMisses)
	lo, hi := rate-distance(misses*(1-ofAbove), true), rate+distance(misses*ofAbove, false)
	return estimate(rate, lo, hi, 0, 1), true
}

// beyond is how far from a mean, downward or upward, the quantile of what is believed lies
// beyond which there is a share miss of it; 0 where that is on the mean's other side.
func beyond(believed distuv.Beta, miss float64, downward bool, mean float64) float64 {
	if downward {
		return max(0, mean-believed.Quantile(miss))
	}
	return max(0, believed.Quantile(1-miss)-mean)
}
