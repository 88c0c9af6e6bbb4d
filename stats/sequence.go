package stats

import (
	"fmt"
	"math"
	"slices"
)

// Sequence is a confidence sequence for a share of a finite population, such as the share
// of a dataset's prompts that are refused, while prompts are drawn without replacement.
// The interval may be looked at after each block, and the drawing may stop because of it.
// The chance that it ever excludes the share is still at most 1 - confidence.
//
// It is a bet against each possible share m. Before a block, n of a population of N were
// drawn, and k of them were positive. Then m leaves the share mb = (mN - k) / (N - n) to
// draw from. A bettor on the share q has their capital multiplied by (q/mb)^x
// ((1-q)/(1-mb))^(1-x) for each draw of the block, with x from 0 to 1. If m is true, this
// does not gain on average, whatever q is. So neither does the mean over all q by
// Beta(1/2, 1/2), and the chance that it ever exceeds 1/(1 - confidence) is at most 1 -
// confidence (Ville 1939). The interval is the set of m for which it has not.
//
// Betting is from Waudby-Smith and Ramdas (2024, Journal of the Royal Statistical Society
// B 86:1-27, section 5 on draws without replacement). The mixture over q is from Robbins
// (1970); for blocks of one it is the ratio of prior and posterior of Waudby-Smith and
// Ramdas (2020, NeurIPS 33). A block may be any draw of a size fixed in advance, with
// equal chances, that is strongly Rayleigh, such as a simple random draw or Pivotal's.
// Then the generating polynomial of the draw is stable, and its root of the block's size
// is concave (Gårding 1959). So the mean product of the factors is at most the product of
// their means.
type Sequence struct {
	population int
	drawn      int
	// low counts unknown results as negative, high as positive.
	low, high bets
}

// bets are the bets under one reading of the results.
type bets struct {
	blocks   []betBlock
	positive float64
}

// betBlock is a block, and what was drawn before it.
type betBlock struct {
	drawnBefore, n       int
	positiveBefore, came float64
}

// NewSequence starts the sequence for a population of the given size, with nothing drawn.
func NewSequence(population int) *Sequence { return &Sequence{population: population} }

// Add adds a block of n draws. positive of them were positive; it may be a fraction if a
// draw is itself a share. The result of unknown draws is not known. It panics unless
// positive + unknown <= n, none is negative, and the population has that many left.
func (s *Sequence) Add(positive float64, unknown, n int) {
	if !(positive >= 0) || unknown < 0 || positive+float64(unknown) > float64(n)+1e-9 || s.drawn+n > s.population {
		panic(fmt.Sprintf("stats: Sequence.Add: %g positive and %d unknown of %d, after %d of %d", positive, unknown, n, s.drawn, s.population))
	}
	s.low.add(s.drawn, n, positive)
	s.high.add(s.drawn, n, positive+float64(unknown))
	s.drawn += n
}

func (b *bets) add(drawn, n int, positive float64) {
	b.blocks = append(b.blocks, betBlock{drawn, n, b.positive, positive})
	b.positive += positive
}

// Drawn is the number drawn so far.
func (s *Sequence) Drawn() int { return s.drawn }

// Interval returns the range of shares of the whole population that are not ruled out. A
// draw with an unknown result counts as negative for the lower end and as positive for the
// upper end, so the interval holds whatever its result is. It is [0, 1] before the first block, and a single
// share once everything is drawn and known. Interval panics unless 0 < confidence < 1.
func (s *Sequence) Interval(confidence float64) (lo, hi float64) {
	checkConfidence(confidence)
	if s.drawn == 0 {
		return 0, 1
	}
	lo, _ = s.low.interval(s.population, s.drawn, confidence)
	_, hi = s.high.interval(s.population, s.drawn, confidence)
	return lo, hi
}

// interval is the set of shares for which the capital has stayed small. It is an interval
// because the logarithm of the capital is convex in the share.
func (b *bets) interval(population, drawn int, confidence float64) (lo, hi float64) {
	all, most := float64(population), -math.Log(1-confidence)
	least, greatest := b.positive, all-float64(drawn)+b.positive
	wealth := b.wealth(drawn)
	// The sign of the slope shows on which side the least capital is.
	from, to := bisect(least, greatest, bisections, func(positive float64) bool { return !(b.slope(population, positive) < 0) })
	bottom := (from + to) / 2
	ruledOut := func(positive float64) bool { return !(wealth+b.against(population, positive) < most) }
	if ruledOut(bottom) {
		return bottom / all, bottom / all
	}
	end := func(outside float64) float64 {
		if ruledOut(outside) {
			_, outside = bisect(bottom, outside, bisections, ruledOut)
		}
		return outside
	}
	return end(least) / all, end(greatest) / all
}

// bisections bring an end of an interval to the precision of floating point.
const bisections = 60

// wealth is the logarithm of what the mean over q stakes on the results.
func (b *bets) wealth(drawn int) float64 {
	const prior = 0.5
	beta := func(x, y float64) float64 {
		a, _ := math.Lgamma(x)
		b, _ := math.Lgamma(y)
		c, _ := math.Lgamma(x + y)
		return a + b - c
	}
	return beta(prior+b.positive, prior+float64(drawn)-b.positive) - beta(prior, prior)
}

// against is the logarithm of the factor on the stakes if positive of the population are
// positive.
func (b *bets) against(population int, positive float64) float64 {
	sum := 0.0
	for _, c := range b.blocks {
		left, positiveLeft := float64(population-c.drawnBefore), positive-c.positiveBefore
		sum -= timesLog(c.came, positiveLeft/left) + timesLog(float64(c.n)-c.came, (left-positiveLeft)/left)
	}
	return sum
}

// timesLog is n log x. It is 0 if n is 0, and otherwise minus infinity if x has no
// logarithm.
func timesLog(n, x float64) float64 {
	switch {
	case n == 0:
		return 0
	case x <= 0:
		return math.Inf(-1)
	}
	return n * math.Log(x)
}

// slope is the derivative of against with respect to positive.
func (b *bets) slope(population int, positive float64) float64 {
	sum := 0.0
	for _, c := range b.blocks {
		left, positiveLeft := float64(population-c.drawnBefore), positive-c.positiveBefore
		if c.came > 0 {
			sum -= c.came / positiveLeft
		}
		if negative := float64(c.n) - c.came; negative > 0 {
			sum += negative / (left - positiveLeft)
		}
	}
	return sum
}

// Pivotal draws size of n with equal chances, spread evenly over their order. So
// neighbors, such as prompts of one category, are drawn about in proportion to their
// share. It is the pivotal method (Deville and Tillé 1998, Biometrika 85:89-101) in the
// given order. It gives the numbers drawn, from 0, in order. The draw depends only on the
// numbers from random, which must be uniform. Such a draw is strongly Rayleigh (Brändén
// and Jonasson 2012, Scandinavian Journal of Statistics 39:830-838), as Sequence needs.
//
// It panics unless 0 <= size <= n.
func Pivotal(n, size int, random func() uint64) []int {
	checkCounts("Pivotal", size, n)
	drawn := make([]int, 0, size)
	// The one in play has the chance weight/n; each other one begins with size/n.
	inPlay, weight := 0, 0
	chance := func(of, whole int) bool {
		return float64(random()>>11)/(1<<53)*float64(whole) < float64(of)
	}
	for i := range n {
		switch sum := weight + size; {
		case weight == 0:
			inPlay, weight = i, size
		case sum <= n:
			// One of the two is out, and the other gets the chances of both.
			if !chance(weight, sum) {
				inPlay = i
			}
			weight = sum
		default:
			// One of the two is drawn, and the other gets the remaining chances.
			if chance(n-size, 2*n-sum) {
				drawn, inPlay = append(drawn, inPlay), i
			} else {
				drawn = append(drawn, i)
			}
			weight = sum - n
		}
		if weight == n {
			drawn, weight = append(drawn, inPlay), 0
		}
	}
	slices.Sort(drawn)
	return drawn
}
