package stats

import (
	"fmt"
	"math"
	"slices"
)

// Sequence is a confidence sequence for a share of a finite population, such as that of a
// dataset's prompts which are refused, while prompts are drawn without replacement: the
// interval may be looked at after each block, and drawing stopped for what it says, and
// still the chance is at most 1 - confidence that it ever leaves the share out.
//
// It is a bet against each share m that could be. Of a population of N of which n were
// drawn before a block, and k came out positive, m leaves the share
// mb = (mN - k) / (N - n) to draw from, and who bets that it is q instead has their
// capital multiplied by (q/mb)^x ((1-q)/(1-mb))^(1-x) for each draw of the block, x from
// 0 to 1. Where m is true this does not gain on average, whatever q, so neither does the
// mean over all q by Beta(1/2, 1/2), and it exceeds 1/(1 - confidence) at any time with
// at most the chance 1 - confidence (Ville 1939). What it has not reached is the interval.
//
// Betting is that of Waudby-Smith and Ramdas (2024, Journal of the Royal Statistical
// Society B 86:1-27, section 5 on draws without replacement), the mixture over q that of
// Robbins (1970), which for blocks of one is the ratio of prior and posterior of
// Waudby-Smith and Ramdas (2020, NeurIPS 33). A block may be any draw of a size that is
// fixed before, by equal chances, and strongly Rayleigh, as a simple random draw and
// Pivotal's are: then the generating polynomial of what is drawn is stable, its root of
// the block's size is concave (Gårding 1959), and so the mean product of the factors is
// at most the product of their means.
type Sequence struct {
	population int
	drawn      int
	// low takes what is not known for negative, high for positive.
	low, high bets
}

// bets are those on one way to read what came out.
type bets struct {
	blocks   []betBlock
	positive float64
}

// betBlock is a block with what was drawn before it.
type betBlock struct {
	drawnBefore, n       int
	positiveBefore, came float64
}

// NewSequence starts the sequence of a population of so many, of which nothing is drawn.
func NewSequence(population int) *Sequence { return &Sequence{population: population} }

// Add adds a block of n draws, of which positive came out positive, which may be a
// fraction where a draw is a share itself, and of unknown it is not known. It panics
// unless positive + unknown <= n, none is negative, and the population has as many.
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

// Drawn is how many have been drawn, and Population how many there are.
func (s *Sequence) Drawn() int      { return s.drawn }
func (s *Sequence) Population() int { return s.population }

// Interval gives the shares of the whole population that are not ruled out. Draws of
// which it is not known what came out count as negative for the lower end and as positive
// for the upper, so that it holds whatever they are. It is [0, 1] before the first block,
// and a single share where all is drawn and known. Interval panics unless
// 0 < confidence < 1.
func (s *Sequence) Interval(confidence float64) (lo, hi float64) {
	checkConfidence(confidence)
	if s.drawn == 0 {
		return 0, 1
	}
	lo, _ = s.low.interval(s.population, s.drawn, confidence)
	_, hi = s.high.interval(s.population, s.drawn, confidence)
	return lo, hi
}

// interval is the set of shares on which the capital has stayed small, which is an
// interval because the logarithm of the capital is convex in the share.
func (b *bets) interval(population, drawn int, confidence float64) (lo, hi float64) {
	all, most := float64(population), -math.Log(1-confidence)
	least, greatest := b.positive, all-float64(drawn)+b.positive
	wealth := b.wealth(drawn)
	// The least capital is between shares that the slope tells apart.
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

// wealth is the logarithm of what the mean over q stakes on what came out.
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

// against is the logarithm by which the stakes are multiplied where so many of the
// population are positive.
func (b *bets) against(population int, positive float64) float64 {
	sum := 0.0
	for _, c := range b.blocks {
		left, positiveLeft := float64(population-c.drawnBefore), positive-c.positiveBefore
		sum -= timesLog(c.came, positiveLeft/left) + timesLog(float64(c.n)-c.came, (left-positiveLeft)/left)
	}
	return sum
}

// timesLog is n log x, 0 for no n, and without a number below every other.
func timesLog(n, x float64) float64 {
	switch {
	case n == 0:
		return 0
	case x <= 0:
		return math.Inf(-1)
	}
	return n * math.Log(x)
}

// slope is the derivative of against by positive.
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

// Pivotal draws size of n by equal chances, spread evenly over their order, so that of
// neighbors, such as prompts of one category, about as many are drawn as is their share:
// the pivotal method (Deville and Tillé 1998, Biometrika 85:89-101) in the given order. It
// gives their numbers, from 0, in order. What is drawn follows from the numbers of random
// alone, which are uniform. Such a draw is strongly Rayleigh (Brändén and Jonasson 2012,
// Scandinavian Journal of Statistics 39:830-838), as Sequence needs.
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
			// One of the two is out, and the other has the chances of both.
			if !chance(weight, sum) {
				inPlay = i
			}
			weight = sum
		default:
			// One of the two is drawn, and the other has the chances that are left.
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
