package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A LabeledStratum is a part of some answers. People have labeled a few of them, drawn at
// random, as refusals or not.
type LabeledStratum struct {
	// Size is the number of answers in the stratum.
	Size int
	// Mean is the share of the labeled answers that people called refusals, from 0 to 1.
	// If the chance of being drawn differed, answers are weighted by one over that
	// chance. If people disagree on an answer, its value is the share of people who
	// called it a refusal.
	Mean float64
	// Labels is the number of answers, drawn with equal chances, that would give as much
	// information. It is the number of labeled answers or, with weights w, Kish's
	// effective number (Σw)²/Σw².
	Labels float64
}

// StratifiedRate estimates the share of refusals among answers in strata, from labels
// drawn at random within each stratum. With judges' verdicts as strata, it is the mean of
// a judge's verdicts plus the weighted mean of (person − judge) over the labeled answers.
// This is prediction-powered inference (Angelopoulos et al. 2023, Science 382:669-674) in
// its stratified form: a difference estimator. It is unbiased however wrong the judge is,
// and its interval is narrow if the judge is good.
//
// The interval accounts for the drawing of prompts and of labels, as in double sampling
// (Cochran 1977, Sampling Techniques, section 12.2). Each has limits of its own. Those of
// the prompts are Jeffreys' at all of the answers (Brown, Cai and DasGupta 2001,
// Statistical Science 16:101-133, section 3.1.2). For the labels of a stratum with the
// share w of the answers, they are quantiles of the beta distribution with parameters
// refusals + w/4 and others + w/4. Their distance from the stratum's mean is multiplied
// by w, and its square by the unlabeled part of the stratum (the finite population
// correction, Cochran, section 2.6). The squares are summed separately on each side, as
// in the method of variance estimates recovery (Zou and Donner 2008, Statistics in
// Medicine 27:1693-1702): if all labels say refusal, the rate may be lower than it seems
// but not higher. The total miss probability is 1 − confidence. If both sides are equally
// long, each gets half of it. Otherwise each side gets a share in proportion to the
// square of the other side's length, but at least 28%: the truth is seldom as far off as
// the longer side. The interval never has a width of zero. docs/labels.md says how often
// it contains the truth.
//
// designEffect is the design effect of prompts that share clusters, 1 for independent
// ones.
//
// It reports false without answers, and if a stratum has no label. It panics if a mean is
// not between 0 and 1.
func StratifiedRate(strata []LabeledStratum, designEffect, confidence float64) (Estimate, bool) {
	const leastOfMisses = 0.28
	return stratified(strata, designEffect, confidence, leastOfMisses)
}

// ExpectedRate estimates the share of refusals among answers in strata, as StratifiedRate
// does, where a share of refusals is expected in each stratum before any label. It is for
// few labels of many strata, which a judge's score divides: the expected share counts as
// two labels in the variance of each stratum, and for a large stratum an unknown one
// counts besides, the less the more labels there are. The estimate is that of the labels
// alone. The variance of prompts is added, and the interval is that of a beta
// distribution, with Jeffreys' prior, at the number of answers that would have the same
// variance, less one label in their number.
//
// It reports false and panics as StratifiedRate does.
func ExpectedRate(strata []LabeledStratum, expected []float64, designEffect, confidence float64) (Estimate, bool) {
	checkConfidence(confidence)
	const ofExpected, ofUnknown, lost = 2, 1.5, 1
	n, refused, ok := sums(strata)
	if !ok {
		return Estimate{}, false
	}
	labels := 0.0
	for _, s := range strata {
		if s.Labels < float64(s.Size) {
			labels += s.Labels
		}
	}
	rate, believed, variance := min(1, refused/n), 0.0, 0.0
	for i, s := range strata {
		if s.Size == 0 {
			continue
		}
		share := float64(s.Size) / n
		if s.Labels >= float64(s.Size) {
			believed += share * s.Mean
			continue
		}
		unknown := ofUnknown * share / labels
		mean := (s.Mean*s.Labels + ofExpected*expected[i] + unknown) / (s.Labels + ofExpected + 2*unknown)
		believed += share * mean
		variance += share * share * mean * (1 - mean) / s.Labels * (1 - s.Labels/float64(s.Size))
	}
	prompts := n / math.Max(1, designEffect)
	trials := prompts
	if of := believed * (1 - believed); of > 0 && variance > 0 {
		trials = of / (variance + of/prompts) * math.Max(1./3, 1-lost/labels)
	}
	posterior := distuv.Beta{Alpha: rate*trials + 0.5, Beta: (1-rate)*trials + 0.5}
	miss := (1 - confidence) / 2
	return estimate(rate, posterior.Quantile(miss), posterior.Quantile(1-miss), 0, 1), true
}

// sums returns the number of answers and how many are refusals; false without answers,
// and if a stratum has no label.
func sums(strata []LabeledStratum) (n, refused float64, ok bool) {
	for _, s := range strata {
		if s.Size > 0 && s.Labels <= 0 {
			return 0, 0, false
		}
		if !(s.Mean >= 0 && s.Mean <= 1) {
			panic(fmt.Sprintf("stats: a labeled stratum with the mean %v, which is no share", s.Mean))
		}
		n += float64(s.Size)
		refused += float64(s.Size) * s.Mean
	}
	return n, refused, n > 0
}

// StratifiedChange estimates the share of prompts that are newly refused minus the share
// that is no longer refused, from labels of both answers in the same strata. Each share
// has the interval of StratifiedRate, but with at least 38% of the misses on each side:
// where one share is skewed upward, the other is skewed downward in the difference. A
// prompt cannot be both, so their correlation is that of two cells of a multinomial (see
// CorrelatedDifference).
//
// It reports false and panics as StratifiedRate does.
func StratifiedChange(newly, nolonger []LabeledStratum, designEffect, confidence float64) (Estimate, bool) {
	const leastOfMisses = 0.38
	first, ok := stratified(newly, designEffect, confidence, leastOfMisses)
	if !ok {
		return Estimate{}, false
	}
	second, ok := stratified(nolonger, designEffect, confidence, leastOfMisses)
	a, b := first.Value, second.Value
	correlation := 0.0
	if a < 1 && b < 1 {
		correlation = -math.Sqrt(a * b / (1 - a) / (1 - b))
	}
	return CorrelatedDifference(first, second, correlation), ok
}

func stratified(strata []LabeledStratum, designEffect, confidence, leastOfMisses float64) (Estimate, bool) {
	checkConfidence(confidence)
	n, refused, ok := sums(strata)
	if !ok {
		return Estimate{}, false
	}
	rate, prompts := refused/n, n/math.Max(1, designEffect)
	// distance is the distance from the rate to a limit, downward or upward. A share miss
	// of the believed distribution lies beyond the limit.
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
	misses := 1 - confidence
	below, above := distance(misses/2, true), distance(misses/2, false)
	ofAbove := below * below / (below*below + above*above)
	ofAbove = min(max(ofAbove, leastOfMisses), 1-leastOfMisses)
	lo, hi := rate-distance(misses*(1-ofAbove), true), rate+distance(misses*ofAbove, false)
	return estimate(rate, lo, hi, 0, 1), true
}

// beyond is the distance from a mean, downward or upward, to a quantile of the believed
// distribution; a share miss lies beyond the quantile. It is 0 if the quantile is on the
// mean's other side.
func beyond(believed distuv.Beta, miss float64, downward bool, mean float64) float64 {
	if downward {
		return max(0, mean-believed.Quantile(miss))
	}
	return max(0, believed.Quantile(1-miss)-mean)
}
