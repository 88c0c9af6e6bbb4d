package stats

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// Trials are the successes among the cases of one group.
type Trials struct {
	Successes, N int
	// At is a figure of the group that is known before its cases are, and that its share
	// may depend on. It is 0 for all groups if there is none.
	At float64
}

// Groups is what the shares of successes in some groups say of a group that was not
// measured. On the logit scale, the groups' shares are normal around a line over Trials.At,
// and cases are independent within a group (a binomial model with a random effect: Hamza,
// van Houwelingen and Stijnen 2008, Journal of Clinical Epidemiology 61:41-51). A
// prediction counts that the line, the groups' spread and a new group's place are
// uncertain (Higgins, Thompson and Spiegelhalter 2009, Journal of the Royal Statistical
// Society A 172:137-159, section 4). Make it with PredictGroups.
type Groups struct {
	lines []believedLine
	// least and most are the ends of the groups' At.
	least, most float64
}

// believedLine is a line with the spread of groups around it, and how much it is believed.
type believedLine struct{ mean, slope, spread, weight float64 }

// The lattice of lines. Means and slopes have a flat prior. The spread between groups has
// a half-normal prior of scale spreadScale, in logits: with few groups it keeps out spreads
// that would put shares at both ends of the scale.
const (
	leastMean, mostMean, meanStep    = -2.0, 7.5, 0.5
	leastSlope, mostSlope, slopeStep = -0.25, 1.0, 0.25
	leastSpread, spreadStep          = 0.15, 0.3
	mostSpread, spreadScale          = 2.85, 0.75
	// A normal distribution stands as points of equal weight: few where groups are
	// compared with lines, and more where the tails of a prediction count.
	comparingPoints, predictingPoints = 25, 101
	// leastWeight is the least of a line that is kept, relative to the best.
	leastWeight = 1e-3
	// Likelihoods and predictions are computed at these logits.
	leastLogit, logitStep, logits = -10.0, 0.1, 241
	// leastGroups is the fewest groups that say how much groups differ.
	leastGroups = 5
)

// logitAt returns the index of the logit next to x.
func logitAt(x float64) int { return int(math.Round((x - leastLogit) / logitStep)) }

// within keeps an index among those of the logits.
func within(i int) int { return min(logits-1, max(0, i)) }

// shares are those at each index.
var shares = sync.OnceValue(func() *[logits]float64 {
	var all [logits]float64
	for i := range all {
		all[i] = 1 / (1 + math.Exp(-(leastLogit + float64(i)*logitStep)))
	}
	return &all
})

// normalPoints returns n points that stand for a normal distribution around 0, in steps of
// the logits.
func normalPoints(n int, spread float64) []int {
	points := make([]int, n)
	for i := range points {
		points[i] = int(math.Round(spread * distuv.UnitNormal.Quantile((float64(i)+0.5)/float64(n)) / logitStep))
	}
	return points
}

// PredictGroups takes a fraction of a millisecond for each group. Groups without cases say
// nothing. It reports false with fewer than five groups that have cases, and panics if a
// group has more successes than cases.
func PredictGroups(groups []Trials) (Groups, bool) {
	g := Groups{least: math.Inf(1), most: math.Inf(-1)}
	var likelihoods [][]float64
	var at []float64
	var succeeds, fails [logits]float64 // the logarithms of the chances
	for i, p := range shares() {
		succeeds[i], fails[i] = math.Log(p), math.Log1p(-p)
	}
	for _, of := range groups {
		if of.Successes < 0 || of.Successes > of.N {
			panic(fmt.Sprintf("stats: PredictGroups of %d successes of %d", of.Successes, of.N))
		}
		if of.N == 0 {
			continue
		}
		likelihood, most := make([]float64, logits), math.Inf(-1)
		for i := range likelihood {
			likelihood[i] = float64(of.Successes)*succeeds[i] + float64(of.N-of.Successes)*fails[i]
			most = max(most, likelihood[i])
		}
		for i := range likelihood {
			likelihood[i] = math.Exp(likelihood[i] - most)
		}
		likelihoods, at = append(likelihoods, likelihood), append(at, of.At)
		g.least, g.most = min(g.least, of.At), max(g.most, of.At)
	}
	if len(likelihoods) < leastGroups {
		return Groups{}, false
	}
	best := math.Inf(-1)
	// A line lacks at most this much of the best, and a group adds at most gain.
	lack, gain := math.Log(leastWeight)-1, math.Log(comparingPoints)
	for spread := leastSpread; spread <= mostSpread+spreadStep/2; spread += spreadStep {
		points := normalPoints(comparingPoints, spread)
		for mean := leastMean; mean <= mostMean; mean += meanStep {
			for slope := leastSlope; slope <= mostSlope; slope += slopeStep {
				log := -spread * spread / 2 / spreadScale / spreadScale
				for i, likelihood := range likelihoods {
					// The groups that are left cannot make up for what is lacking.
					if log+float64(len(likelihoods)-i)*gain < best+lack {
						log = math.Inf(-1)
						break
					}
					sum, center := 0.0, logitAt(mean+slope*at[i])
					for _, off := range points {
						sum += likelihood[within(center+off)]
					}
					log += math.Log(sum + math.SmallestNonzeroFloat64)
				}
				best = max(best, log)
				g.lines = append(g.lines, believedLine{mean, slope, spread, log})
			}
		}
	}
	for i := range g.lines {
		g.lines[i].weight = math.Exp(g.lines[i].weight - best)
	}
	g.lines = slices.DeleteFunc(g.lines, func(l believedLine) bool { return l.weight < leastWeight })
	return g, true
}

// NewGroup is the predicted share of successes in a group that was not measured.
type NewGroup struct {
	// chances are the cumulated chances of the logits.
	chances [logits]float64
}

// New predicts a group at a place. Beyond the groups it predicts as at the nearest of
// them.
func (g Groups) New(at float64) *NewGroup {
	at = min(max(at, g.least), g.most)
	var n NewGroup
	total, spread, points := 0.0, 0.0, []int(nil)
	for _, l := range g.lines {
		if l.spread != spread {
			spread, points = l.spread, normalPoints(predictingPoints, l.spread)
		}
		center := logitAt(l.mean + l.slope*at)
		for _, off := range points {
			n.chances[within(center+off)] += l.weight
			total += l.weight
		}
	}
	sum := 0.0
	for i, c := range n.chances {
		sum += c / total
		n.chances[i] = sum
	}
	return &n
}

// Quantile returns the share that the new group's is at most, with the given chance.
func (n *NewGroup) Quantile(chance float64) float64 {
	at, _ := slices.BinarySearch(n.chances[:logits-1], chance)
	return shares()[at]
}

// Estimate returns the predicted share: its median and the interval that holds it with the
// given confidence.
func (n *NewGroup) Estimate(confidence float64) Estimate {
	checkConfidence(confidence)
	return Estimate{n.Quantile(0.5), n.Quantile((1 - confidence) / 2), n.Quantile((1 + confidence) / 2)}
}

// draws is how many sets of values stand for the uncertainty of a carried rate.
const draws = 4096

// drawn are those values, which are the same for all rates: the chances of a recall and of a
// specificity, at the points of a Halton sequence (1960, Numerische Mathematik 2:84-90), and a
// deviate of the standard normal distribution.
var drawn = sync.OnceValue(func() *[draws][3]float64 {
	var all [draws][3]float64
	for i := range all {
		all[i] = [3]float64{halton(i+1, 2), halton(i+1, 3), distuv.UnitNormal.Quantile(halton(i+1, 5))}
	}
	return &all
})

// Carrier carries a judge's rates over to true rates, where only predictions are known of its
// recall and specificity.
type Carrier struct {
	Recall, Specificity *NewGroup
	// values are a recall, a specificity and a deviate of the standard normal distribution.
	values [draws][3]float64
}

// NewCarrier draws recalls and specificities independently.
func NewCarrier(recall, specificity *NewGroup) *Carrier {
	c := Carrier{recall, specificity, *drawn()}
	for i, at := range c.values {
		c.values[i][0], c.values[i][1] = recall.Quantile(at[0]), specificity.Quantile(at[1])
	}
	return &c
}

// Rate returns the prediction interval of a true rate where the judge gives a rate with
// an interval of the same confidence:
//
//	true rate = (judge's rate + specificity - 1) / (recall + specificity - 1)
//
// (Rogan and Gladen 1978, American Journal of Epidemiology 107:71-76). Draws that cannot be,
// because the judge would call more answers refusals than it did even without any, or could not
// call so many refusals, count as a true rate of 0 or 1 for the end that they are near, and not
// at all for the other. The interval always contains the judge's rate.
func (c *Carrier) Rate(judged Estimate, confidence float64) Interval {
	z := zOf(confidence)
	below, above, shares := 0, 0, make([]float64, 0, draws)
	for _, at := range c.values {
		r, s, rate, off := at[0], at[1], judged.Value, at[2]/z
		if off > 0 {
			rate += off * (judged.Hi - judged.Value)
		} else {
			rate += off * (judged.Value - judged.Lo)
		}
		switch {
		case rate < 1-s:
			below++
		case rate >= r:
			above++
		default:
			shares = append(shares, (rate+s-1)/(r+s-1))
		}
	}
	slices.Sort(shares)
	i := Interval{judged.Value, judged.Value}
	if n := below + len(shares); n > 0 {
		lo := 0.0
		if at := int((1 - confidence) / 2 * float64(n)); at >= below {
			lo = shares[at-below]
		}
		i.Lo = min(i.Lo, lo)
	}
	if n := len(shares) + above; n > 0 {
		hi := 1.0
		if at := int((1 + confidence) / 2 * float64(n)); at < len(shares) {
			hi = shares[at]
		}
		i.Hi = max(i.Hi, hi)
	}
	return i
}

// halton returns the i-th number of the sequence of a base, between 0 and 1.
func halton(i, base int) (x float64) {
	for f := 1 / float64(base); i > 0; f /= float64(base) {
		x += f * float64(i%base)
		i /= base
	}
	return x
}
