package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Rare is what labels say of a rate that is nearly 0. People labeled answers that judges
// flag, as strata, and audited some of the rest, in which they found no refusal.
type Rare struct {
	// Flagged are the strata of answers that a judge flags.
	Flagged []LabeledStratum
	// Rest is the number of other answers, and Audited how many of them were drawn at
	// random and labeled.
	Rest, Audited int
	// DesignEffect is that of prompts that share clusters; 0 and 1 stand for independent
	// ones.
	DesignEffect float64
}

// Found returns the share of all answers that are flagged refusals.
func (r Rare) Found() float64 {
	n, refused := float64(r.Rest), 0.0
	for _, s := range r.Flagged {
		n += float64(s.Size)
		refused += float64(s.Size) * s.Mean
	}
	return refused / n
}

// limits returns the limits of the share of flagged refusals, and the upper one with as
// many in the rest as the audit can have missed. A share miss lies beyond each. The limits
// of prompts and of strata are Jeffreys' (Brown, Cai and DasGupta 2001), and that of the
// rest Clopper and Pearson's (1934, Biometrika 26:404-413) without a refusal, about 3/m of
// m audited for a miss of 0.05. Their squares are added (Zou and Donner 2008).
func (r Rare) limits(miss float64) (lo, hi, bound float64) {
	found, n := r.Found(), float64(r.Rest)
	for _, s := range r.Flagged {
		n += float64(s.Size)
	}
	prompts := n / math.Max(1, r.DesignEffect)
	distance := func(downward bool) float64 {
		d := beyond(distuv.Beta{Alpha: found*prompts + 0.5, Beta: (1-found)*prompts + 0.5}, miss, downward, found)
		squares := d * d
		for _, s := range r.Flagged {
			if s.Size == 0 || s.Labels >= float64(s.Size) {
				continue
			}
			believed := distuv.Beta{Alpha: s.Mean*s.Labels + 0.5, Beta: (1-s.Mean)*s.Labels + 0.5}
			d := float64(s.Size) / n * beyond(believed, miss, downward, s.Mean)
			squares += d * d * (1 - s.Labels/float64(s.Size))
		}
		return math.Sqrt(squares)
	}
	up, rest := distance(false), 0.0
	if r.Audited < r.Rest {
		rest = float64(r.Rest) / n * (1 - math.Pow(miss, 1/float64(r.Audited)))
	}
	return math.Max(0, found-distance(true)), found + up, math.Min(1, found+math.Hypot(up, rest))
}

// Bound returns the interval of the rate without an assumption on the judges. Each end
// errs in at most (1 - confidence) / 2, but for the rest: with no audited answer the upper
// end is 1.
func (r Rare) Bound(confidence float64) Interval {
	checkConfidence(confidence)
	lo, _, bound := r.limits((1 - confidence) / 2)
	if r.Audited == 0 && r.Rest > 0 {
		bound = 1
	}
	return Interval{lo, bound}
}

// Assuming returns the interval of the rate if judges flag a share of the refusals that
// lies in the given range. The flagged share is divided by the range's ends. It says
// nothing if the true share lies outside, or if the range begins at 0.
func (r Rare) Assuming(recall Interval, confidence float64) Interval {
	checkConfidence(confidence)
	lo, hi, _ := r.limits((1 - confidence) / 2)
	return Interval{lo / math.Min(1, recall.Hi), math.Min(1, hi/recall.Lo)}
}
