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
		return 1.5e-4
	}
	// Seven nights share more with the seven before, so their looks are fewer.
	return 2.5e-4
}

// Night is one look at a model: how many of its answers were refusals.
type Night struct {
	Name    string    `json:"run"`
	Date    time.Time `json:"date"`
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
	Of    float64 `json:"alarm_change,omitempty"`
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
	for i := range nights {
		n := &nights[i]
		n.Rate = float64(n.Refused) / float64(n.N)
		if len(window) == Window(samePrompts) {
			if !window[0].Alarm {
				baseline = append(baseline, window[0].Rate)
			}
			window = window[1:]
		}
		if len(baseline) < FewestNights {
			baseline = append(baseline, n.Rate)
			continue
		}
		window = append(window, n)
		mean, variance := spread(baseline, n.N)
		df := float64(len(baseline) - 1)
		change := n.Rate - mean
		half := quantile(0.025, df) * math.Sqrt(variance*(1+1/(df+1)))
		n.Change, n.CI95 = &change, &[2]float64{change - half, change + half}
		for _, w := range window {
			n.Of += (w.Rate - mean) / float64(len(window))
		}
		n.Alarm = deviance(n.Of, variance, skewness(variance, mean, n.N)/float64(n.N*len(window)), 1/float64(len(window))+1/(df+1)) > quantile(level(samePrompts)/2/float64(looks), df)
		if !n.Alarm {
			n.Of = 0
		}
	}
}

// spread gives the mean of the baseline and the variance of a night.
func spread(baseline []float64, n int) (mean, variance float64) {
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
	variance = max((above+below)/df, 1/float64(n*n))
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

// skewness is the third moment of a night's refusals over their variance: 1 where they change
// verdict by verdict, as in a Poisson variable, and may be more where rates pile up at 0 or 1.
func skewness(variance, mean float64, n int) float64 {
	if !lopsided(variance, mean) {
		return 1
	}
	return max(1, variance*float64(n)/max(mean*(1-mean), 1e-9)/2)
}

// lopsided reports whether a rate is so near to 0 or 1 that it cannot vary to both sides.
func lopsided(variance, mean float64) bool { return min(mean, 1-mean) < 3*math.Sqrt(variance) }
