package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// A RatioStratum is a part of some answers, of which a few were drawn at random and
// labeled. It is for StratifiedRatio.
type RatioStratum struct {
	// Size and Labels are as in LabeledStratum.
	Size   int
	Labels float64
	// Part is the share of the labeled answers that are in the numerator. Rest is the
	// share of those that are in the denominator alone. Their sum is at most 1.
	Part, Rest float64
}

// StratifiedRatio estimates part / (part + rest) over all answers from labels drawn at
// random within strata: with found refusals as part and missed ones as rest, it is a
// judge's recall.
//
// A value r is in the interval if the labels allow that (1 − r) part = r rest. As in
// StratifiedRate, the limits of each stratum are recovered from the quantiles of beta
// distributions and their squares are summed on each side (Zou and Donner 2008, Statistics
// in Medicine 27:1693-1702); here all strata together have the weight of one label as a
// prior on each side. The drawing of prompts adds Jeffreys' limits at as many trials as
// there are answers in the denominator. designEffect is as in StratifiedRate.
//
// It reports false if a stratum has no label, or if no labeled answer is in the
// denominator.
func StratifiedRatio(strata []RatioStratum, designEffect, confidence float64) (Estimate, bool) {
	checkConfidence(confidence)
	var n, part, rest float64
	for _, s := range strata {
		if s.Size > 0 && s.Labels <= 0 {
			return Estimate{}, false
		}
		n += float64(s.Size)
		part += float64(s.Size) * s.Part
		rest += float64(s.Size) * s.Rest
	}
	if part+rest <= 0 {
		return Estimate{}, false
	}
	miss := (1 - confidence) / 2
	z := zOf(confidence)
	ratio, trials := part/(part+rest), (part+rest)/math.Max(1, designEffect)
	open := slices.DeleteFunc(slices.Clone(strata), func(s RatioStratum) bool { return s.Size == 0 || s.Labels >= float64(s.Size) })
	// limit is the last r to one side for which (1 - r) part - r rest may be off its estimate by
	// as much as it is, downward or upward.
	limit := func(out float64, downward bool) float64 {
		prompts := (part + rest) * beyond(distuv.Beta{Alpha: ratio*trials + 0.5, Beta: (1-ratio)*trials + 0.5}, miss, downward, ratio)
		// sides are by how much the part and the rest of each stratum may be off.
		sides := make([][2]float64, len(open))
		for i, s := range open {
			prior := float64(s.Size) / n / 2
			distance := func(mean float64, downward bool) float64 {
				return beyond(distuv.Beta{Alpha: mean*s.Labels + prior, Beta: (1-mean)*s.Labels + prior}, miss, downward, mean)
			}
			sides[i] = [2]float64{distance(s.Part, downward), distance(s.Rest, !downward)}
		}
		at, _ := bisect(ratio, out, 50, func(r float64) bool {
			off, squares := (1-r)*part-r*rest, prompts*prompts
			for i, s := range open {
				size, p, q := float64(s.Size), (1-r)*sides[i][0], r*sides[i][1]
				// Part and rest of one stratum exclude each other.
				both := 2 * r * (1 - r) * s.Part * s.Rest / s.Labels * z * z
				squares += size * size * (p*p + q*q + both) * (1 - s.Labels/size)
			}
			return off*off > squares
		})
		return at
	}
	// Below the estimate, (1 - r) part - r rest is above 0 and has to be able to be lower.
	return estimate(ratio, limit(0, true), limit(1, false), 0, 1), true
}
