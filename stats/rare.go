package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// RareRate is what labels say of a rate that is nearly 0. People labeled answers that judges
// flag, as strata, and audited some of the rest, drawn at random. The design effect is that of
// prompts that share clusters; 0 and 1 stand for independent ones.
//
// The interval rests on no assumption on the judges. The limits of
// prompts and of flagged answers are Jeffreys' (Brown, Cai and DasGupta 2001), those of the
// rest Clopper and Pearson's (1934, Biometrika 26:404-413): without a refusal among m
// audited ones, about 3.7/m. Their squares are added (Zou and Donner 2008).
func RareRate(flagged []LabeledStratum, rest LabeledStratum, designEffect, confidence float64) Estimate {
	checkConfidence(confidence)
	miss, n, found := (1-confidence)/2, float64(rest.Size), 0.0
	for _, s := range flagged {
		n += float64(s.Size)
		found += float64(s.Size) * s.Mean
	}
	found /= n
	prompts := n / math.Max(1, designEffect)
	m, k := rest.Labels, rest.Mean*rest.Labels
	distance := func(downward bool) float64 {
		squares := 0.0
		add := func(share float64, believed distuv.Beta, mean float64) {
			if believed.Alpha > 0 && believed.Beta > 0 {
				d := share * beyond(believed, miss, downward, mean)
				squares += d * d
			}
		}
		add(1, distuv.Beta{Alpha: found*prompts + 0.5, Beta: (1-found)*prompts + 0.5}, found)
		for _, s := range flagged {
			if s.Labels < float64(s.Size) {
				left := math.Sqrt(1 - s.Labels/float64(s.Size))
				add(left*float64(s.Size)/n, distuv.Beta{Alpha: s.Mean*s.Labels + 0.5, Beta: (1-s.Mean)*s.Labels + 0.5}, s.Mean)
			}
		}
		switch of := float64(rest.Size) / n; {
		case m >= float64(rest.Size):
		case downward:
			add(of, distuv.Beta{Alpha: k, Beta: m - k + 1}, rest.Mean)
		default:
			add(of, distuv.Beta{Alpha: k + 1, Beta: m - k}, rest.Mean)
		}
		return math.Sqrt(squares)
	}
	value := found + float64(rest.Size)/n*rest.Mean
	return Estimate{Value: value, Lo: math.Max(0, value-distance(true)), Hi: math.Min(1, value+distance(false))}
}
