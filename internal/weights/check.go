package weights

import (
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/orbench/orbench/model"
)

const (
	// Prompts are asked again at most, and no more than one of Share stored ones, each Times
	// times.
	Prompts, Share, Times = 40, 10, 2
	// A check finds other weights where the chance of replies that part as much with the same
	// ones is at most sure. At temperature 0 replies seldom part by chance, so less is enough.
	sure, sureAtZero = .0125, .04
	// Prefix starts the revision of the calls of a check, by which no figure has them.
	Prefix = "check-"
)

// Refused reports whether a reply to a stored call is a refusal, or calls an answer one; judge
// is empty for a target's.
type Refused func(of model.Ref, judge string, request model.Request, response model.Response) bool

// Check asks a model some of its remembered calls again.
type Check struct {
	*Reused
	// Requests ask them again: Times for each, first those that were called refused.
	Requests []model.Request
	again    []stored
	refused  int
	// odds are the chances that of three replies that part the stored one is the odd one out, for
	// one that is called refused and for one that is not.
	odds [2]float64
}

// Check is that of the replies at a time that is in no other check: half of its calls were called
// refused, if there are so many.
func (r *Reused) Check(at time.Time, refused Refused) Check {
	var refusals, answers []stored
	for _, s := range r.stored {
		if refused(r.Ref, s.Judge, s.Request, s.response) {
			refusals = append(refusals, s)
		} else {
			answers = append(answers, s)
		}
	}
	most := min(Prompts, r.N/Share)
	some := min(len(refusals), max(most/2, most-len(answers)))
	others := min(len(answers), most-some)
	c := Check{Reused: r, again: append(refusals[:some:some], answers[:others]...), refused: some, odds: [2]float64{1. / 3, 1. / 3}}
	for _, s := range c.again {
		for k := range Times {
			q := s.Request
			q.Revision, q.Sample = Prefix+at.UTC().Format(time.RFC3339Nano), k
			c.Requests = append(c.Requests, q)
		}
	}
	if some > 0 && others > 0 {
		// Each of three replies to a prompt is as likely to be the one that was stored, but those
		// that are called refused are drawn more often than the others.
		a, b := float64(some)/float64(len(refusals)), float64(others)/float64(len(answers))
		c.odds = [2]float64{a / (a + 2*b), b / (b + 2*a)}
	}
	return c
}

// Outcome is what a check comes to.
type Outcome struct {
	// Compared is of how many stored calls both new replies are there. The three part for Parted
	// of them, of which for Odd the new ones agree.
	Compared, Parted, Odd int
	// Other says that these are other weights. Finds is the chance that the check would see a
	// tenth of the replies change, without noise.
	Other bool
	Finds float64
	// Replies counts the new ones, and Usage is theirs.
	Replies int
	Usage   model.Usage
}

// Outcome compares the replies that a lookup has.
func (c Check) Outcome(look model.Lookup, refused Refused) (o Outcome) {
	limit := sureAtZero
	// By whether one or two of three replies are refusals: how many part so, in how many the
	// stored one is odd, and how many could.
	var parted, odd, asked [2]int
	for i, s := range c.again {
		refusals, n := 0, 0
		for _, q := range c.Requests[i*Times : (i+1)*Times] {
			if response, ok := look(q); ok {
				n++
				o.Usage.Add(response.Usage.Bounded())
				if refused(c.Ref, s.Judge, q, response) {
					refusals++
				}
			}
		}
		if o.Replies += n; n < Times {
			continue
		}
		if t := s.Request.Params.Temperature; t == nil || *t > 0 {
			limit = sure
		}
		kind := 1
		if i < c.refused {
			kind = 0
			refusals++
		}
		asked[kind]++
		if refusals == 1 || refusals == 2 {
			parted[refusals-1]++
			if kind == refusals-1 {
				odd[kind]++
			}
		}
	}
	o.Compared, o.Parted, o.Odd = asked[0]+asked[1], parted[0]+parted[1], odd[0]+odd[1]
	o.Other = c.chance(parted, odd) <= limit
	for i := range asked[0] + 1 {
		for k := range asked[1] + 1 {
			if math.Pow(c.odds[0], float64(i))*math.Pow(c.odds[1], float64(k)) <= limit {
				o.Finds += binomial(i, asked[0], .1) * binomial(k, asked[1], .1)
			}
		}
	}
	return o
}

// chance is that of stored replies that are as odd or odder, with the same weights and as many
// that part: an exact test of two binomial counts, ordered by the sum of the logarithms of their
// odds.
func (c Check) chance(parted, odd [2]int) (p float64) {
	weight := func(i, k int) float64 {
		return -float64(i)*math.Log(c.odds[0]) - float64(k)*math.Log(c.odds[1])
	}
	seen := weight(odd[0], odd[1])
	for i := range parted[0] + 1 {
		for k := range parted[1] + 1 {
			if weight(i, k) >= seen-1e-9 {
				p += binomial(i, parted[0], c.odds[0]) * binomial(k, parted[1], c.odds[1])
			}
		}
	}
	return p
}

// binomial is the chance of k of n where each has the chance p.
func binomial(k, n int, p float64) float64 {
	return distuv.Binomial{N: float64(n), P: p}.Prob(float64(k))
}
