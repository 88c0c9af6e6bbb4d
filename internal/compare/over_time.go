package compare

import (
	"math"
	"sync"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// FewestNights is the fewest nights that make a baseline.
const FewestNights = 30

// level is the p-value below which nights raise an alarm. With it, one of 365 nights raises
// one in at most 5% of years in which nothing changes; see TestWatch.
func level(samePrompts bool) float64 {
	if samePrompts {
		return 2.4e-5
	}
	// Seven nights share more with the seven before, so their looks are fewer.
	return 2.5e-4
}

// Night is one look at a model: how many of its answers were refusals.
type Night struct {
	Date    time.Time `json:"date"`
	Name    string    `json:"run" csv:"run"`
	Refused int       `json:"refused"`
	N       int       `json:"n"`
	// Rate is Refused of N. Change is from the mean of the baseline, with its 95% interval; it
	// is nil until there is one.
	Rate   float64     `json:"rate"`
	Change *float64    `json:"change,omitempty"`
	CI95   *[2]float64 `json:"change_ci95,omitempty"`
	// Alarm is true if the last nights, this one included, differ from the baseline. Of is
	// their mean change.
	Alarm bool    `json:"alarm,omitempty"`
	Of    float64 `json:"alarm_change,omitempty" csv:"-"`
	// Shares has the share of refusals of each prompt, not a number of one without a verdict;
	// it is only read where each night asks the same prompts.
	Shares []float64 `json:"-" csv:"-"`
}

// Window is the number of last nights that are compared with the baseline. Other prompts each
// night need more nights.
func Window(samePrompts bool) int {
	if samePrompts {
		return 3
	}
	return 7
}

// Watch fills in rates, changes and alarms of nights in order of time. Runs of a model at
// different times are not competitors: the question is whether the model has changed. The
// alarm holds over repeated looks.
//
// The night-to-night spread is estimated from the nights themselves, so it needs no word on
// how often verdicts flip. It is smallest where each night asks the same prompts. All nights
// have the same judge, so its error is shared by them and is no part of a change.
//
// The baseline of a night
// has all nights before its window that raised no alarm. looks is the number of series that are
// watched side by side: each may raise an alarm, so each has a stricter level.
func Watch(nights []Night, samePrompts bool, looks int) {
	var baseline []float64
	var window []*Night
	sides := []*side{{}, {answers: true}}
	keep := func(n *Night) {
		baseline = append(baseline, n.Rate)
		for _, s := range sides {
			if samePrompts {
				s.keep(n)
			}
		}
	}
	for i := range nights {
		n := &nights[i]
		n.Rate = float64(n.Refused) / float64(n.N)
		if len(window) == Window(samePrompts) {
			if !window[0].Alarm {
				keep(window[0])
			}
			window = window[1:]
		}
		if len(baseline) < FewestNights {
			keep(n)
			continue
		}
		window = append(window, n)
		mean, variance := spread(baseline, 1/float64(n.N))
		df := float64(len(baseline) - 1)
		change := n.Rate - mean
		half := quantile(0.025, df) * math.Sqrt(variance*(1+1/(df+1)))
		n.Change, n.CI95 = &change, &[2]float64{change - half, change + half}
		for _, w := range window {
			n.Of += (w.Rate - mean) / float64(len(window))
		}
		limit, share := level(samePrompts)/float64(looks), 1/float64(len(window))+1/(df+1)
		if samePrompts {
			n.Alarm = sides[0].turned(window, share, limit/2) || sides[1].turned(window, share, limit/2)
		} else {
			// A rise varies more than a fall, so it has the greater part of the level.
			part := 0.6
			if n.Of < 0 {
				part = 0.4
			}
			n.Alarm = n.byChance(mean, variance, df, share, len(window)) < limit*part
		}
		if !n.Alarm {
			n.Of = 0
		}
	}
}

// byChance is the chance of a mean change of nights as great as n.Of and in its direction, where
// each night asks other prompts and the model has not changed.
//
// The variance of a night is that of verdicts which fall by chance, which is known, and that of
// the night itself. Its spread has a log-normal prior about one point, or about that of the
// baseline where this is more. Each spread counts by how likely it makes the baseline's variance.
func (n *Night) byChance(mean, variance, df, share float64, nights int) float64 {
	const wide, steps = 0.7, 20
	normal, chance := distuv.UnitNormal, mean*(1-mean)/float64(n.N)
	about := math.Sqrt(max(0.01*0.01, variance-chance))
	tail, all := 0.0, 0.0
	for i := range steps {
		added := about * math.Exp(wide*normal.Quantile((float64(i)+0.5)/steps))
		v := chance + added*added
		likely := math.Pow(v/variance*math.Exp(variance/v-1), -df/2)
		tail += likely * normal.Survival(deviance(n.Of, v, skewness(v, mean, n.N)/float64(n.N*nights), share))
		all += likely
	}
	return tail / all
}

// side watches how many prompts turn into refusals, or into answers, where each night asks the
// same prompts. A prompt that was always answered and is refused now tells more than one that goes
// to and fro, so each counts by the share of nights on which it was on the other side.
type side struct {
	answers bool
	first   []*Night
	// sums and counts are of each prompt over the baseline: how often it had turned, of how many.
	sums, counts []float64
	// before is how far nights of the baseline were from the others of it.
	before []float64
}

// of is the share of a prompt's answers that have turned.
func (s *side) of(n *Night, prompt int) float64 {
	if s.answers {
		return 1 - n.Shares[prompt]
	}
	return n.Shares[prompt]
}

// keep adds a night to the baseline.
func (s *side) keep(n *Night) {
	if s.sums == nil {
		s.sums, s.counts = make([]float64, len(n.Shares)), make([]float64, len(n.Shares))
	}
	if len(s.first) == FewestNights {
		away, _ := s.away(n, 0)
		s.before = append(s.before, away)
	}
	for i := range s.sums {
		if x := s.of(n, i); !math.IsNaN(x) {
			s.sums[i], s.counts[i] = s.sums[i]+x, s.counts[i]+1
		}
	}
	if len(s.first) == FewestNights {
		return
	}
	if s.first = append(s.first, n); len(s.first) == FewestNights {
		for _, n := range s.first {
			away, _ := s.away(n, 1)
			s.before = append(s.before, away)
		}
	}
}

// away is how far a night is from the baseline, and the skewness of one. own is 1 for a night of
// the baseline, which is compared with the others, else 0.
func (s *side) away(n *Night, own float64) (sum, skew float64) {
	turned, all := 0.5/FewestNights, 1.0
	for i := range s.sums {
		turned, all = turned+s.sums[i], all+s.counts[i]
	}
	second, third := 0.0, 0.0
	for i := range s.sums {
		x := s.of(n, i)
		if math.IsNaN(x) {
			continue
		}
		// It leans to the share of all prompts.
		p := (s.sums[i] - own*x + turned/all) / (s.counts[i] - own + 1)
		weight, chance := (1-p)/(p*(1-p)+.2), p*(1-p)
		sum += weight * (x - p)
		second, third = second+weight*weight*chance, third+weight*weight*weight*chance
	}
	return sum, third / second
}

// turned reports whether more prompts have turned than on nights of the baseline.
func (s *side) turned(window []*Night, share, limit float64) bool {
	now, skew := 0.0, 0.0
	for _, n := range window {
		sum, of := s.away(n, 0)
		now, skew = now+sum/float64(len(window)), max(skew, of)
	}
	// Most prompts can turn one way only, which spread takes into account.
	_, variance := spread(s.before, skew)
	return now > 0 && deviance(now, variance, skew/float64(len(window)), share) > quantile(limit, float64(len(s.before)-1))
}

// spread gives the mean of the baseline and the variance of a night, whose least is that of
// one verdict.
func spread(baseline []float64, one float64) (mean, variance float64) {
	for _, rate := range baseline {
		mean += rate / float64(len(baseline))
	}
	var above, below float64
	for _, rate := range baseline {
		if d := rate - mean; d > 0 {
			above += d * d
		} else {
			below += d * d
		}
	}
	df := float64(len(baseline) - 1)
	// One verdict's worth of spread is always there, though the baseline may not show it.
	variance = max((above+below)/df, one*one)
	// Where rates pile up on one side, the other tells the spread.
	if lopsided(variance, mean) {
		variance = max(variance, 2*max(above, below)/df)
	}
	return mean, variance
}

// quantiles keeps upper quantiles of Student's t, which take long.
var quantiles sync.Map

func quantile(tail, df float64) float64 {
	key := [2]float64{tail, df}
	if q, ok := quantiles.Load(key); ok {
		return q.(float64)
	}
	q := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(1 - tail)
	quantiles.Store(key, q)
	return q
}

// deviance is how many standard deviations a mean change is from none. Rare refusals are
// skewed, so it is the root of the deviance of a Poisson variable with as much variance and
// skewness, which without skewness is the standardized change. share is the variance of the
// change in variances of a night.
func deviance(change, variance, skew, share float64) float64 {
	v := variance * share
	x := math.Abs(change) * skew / v
	return math.Sqrt(2*v*((1+x)*math.Log1p(x)-x)) / skew
}

// skewness is the third moment of a night's refusals over their variance: that of verdicts which
// fall by chance, and more where their chance moves from night to night, or where rates pile up at
// 0 or 1.
func skewness(variance, mean float64, n int) float64 {
	chance := mean * (1 - mean) / float64(n)
	if !lopsided(variance, mean) {
		return max(0.1, math.Abs(1-2*mean)*(1+2*max(0, 1-chance/variance)))
	}
	return max(1, variance/max(chance, 1e-9/float64(n))/2)
}

// lopsided reports whether a rate is so near to 0 or 1 that it cannot vary to both sides.
func lopsided(variance, mean float64) bool { return min(mean, 1-mean) < 3*math.Sqrt(variance) }
