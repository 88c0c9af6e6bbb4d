package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Newcombe estimates the difference k1/n1 - k2/n2 of two independent rates. It uses the
// square-and-add interval of their two Wilson intervals (Newcombe 1998, Statistics in
// Medicine 17:873-890, method 10). The interval lies within [-1, 1].
//
// It reports false if either group is empty.
func Newcombe(k1, n1, k2, n2 int, confidence float64) (Estimate, bool) {
	checkCounts("Newcombe", k1, n1)
	checkCounts("Newcombe", k2, n2)
	lo1, hi1 := Wilson(k1, n1, confidence)
	lo2, hi2 := Wilson(k2, n2, confidence)
	if n1 == 0 || n2 == 0 {
		return Estimate{}, false
	}
	return RateDifference(
		Estimate{float64(k1) / float64(n1), lo1, hi1},
		Estimate{float64(k2) / float64(n2), lo2, hi2},
	), true
}

// RateDifference estimates the first of two independent rates minus the second, from an
// estimate of each, by the square-and-add rule. The distance of each end of the interval
// from the difference is the root of the sum of two squares: the distances of those ends
// of the two intervals that matter there. It keeps its level if the two intervals keep
// theirs, however they were made (Zou and Donner 2008, Statistics in Medicine
// 27:1693-1702).
func RateDifference(first, second Estimate) Estimate { return CorrelatedDifference(first, second, 0) }

// CorrelatedDifference is RateDifference for two estimates with a correlation
// from -1 to 1, such as rates over the same prompts: it takes twice the
// correlation times both distances from the sum of their squares (Zou and
// Donner 2008, section 2).
func CorrelatedDifference(first, second Estimate, correlation float64) Estimate {
	d := first.Value - second.Value
	distance := func(a, b float64) float64 { return math.Sqrt(math.Max(0, a*a+b*b-2*correlation*a*b)) }
	return estimate(
		d, d-distance(first.Value-first.Lo, second.Hi-second.Value), d+distance(first.Hi-first.Value, second.Value-second.Lo), -1, 1,
	)
}

// Detectable is the smallest difference that a sample could have found. If it were the
// true difference from the reference, the interval would exclude the reference with
// probability power. It is a multiple of the standard error: 2.8 at a confidence of 0.95
// and a power of 0.8 (Bloom 1995, Evaluation Review 19:547-556, the minimum detectable
// effect). The standard error comes from half the width of the sample's own interval. So
// Detectable depends on how much the sample varies, and not on the difference that it
// shows.
func Detectable(e Estimate, confidence, power float64) float64 {
	z := zOf(confidence)
	return (z + distuv.UnitNormal.Quantile(power)) * (e.Hi - e.Lo) / (2 * z)
}

// Tango estimates the difference between two rates over the same n items: the second
// minus the first, (onlySecond - onlyFirst) / n. onlyFirst items were refused only the
// first time, and onlySecond only the second time; counts need not be whole. It has the
// score interval (Tango 1998, Statistics in Medicine 17:891-908): the differences that a
// score test of the data does not reject. Each of its two ends errs about as often as it
// should, even if flips are few or all go one way. So either end can show that a rate is
// not worse by more than some margin (recommended by Fagerland, Lydersen and Laake 2014,
// Statistics in Medicine 33:2850-2875).
//
// It reports false if n is 0.
func Tango(onlyFirst, onlySecond, n, confidence float64) (Estimate, bool) {
	checkPairs(onlyFirst, onlySecond, n)
	z := zOf(confidence)
	if n == 0 {
		return Estimate{}, false
	}
	// upper is the upper end. The lower end is that of the difference the other way round,
	// so both ways have one interval to the last digit.
	upper := func(first, second float64) float64 {
		hi, _ := bisect((second-first)/n, 1, bisections, func(d float64) bool {
			// q is the likeliest share of the second kind of flip, if the difference is d.
			linear, constant := (2*n-second+first)*d-second-first, -first*d*(1-d)
			q := (math.Sqrt(math.Max(0, linear*linear-8*n*constant)) - linear) / (4 * n)
			variance, distance := n*(2*q+d*(1-d)), second-first-n*d
			return distance*distance > z*z*variance
		})
		return hi
	}
	return estimate((onlySecond-onlyFirst)/n, -upper(onlySecond, onlyFirst), upper(onlyFirst, onlySecond), -1, 1), true
}

// TangoClustered is Tango for items that are not independent, such as prompts that share
// clusters or were asked several times. variance is that of the difference. clusters is
// the effective number of clusters (Kish 1965): the squared number of items, over the
// sum of the squared sizes. The interval is Tango's at the effective number of items:
// how many independent ones would give the difference that variance, reduced by the
// square of Student's t over the normal quantile, with clusters - 1 degrees of freedom
// (as in WilsonClustered). If nothing varies, each effective cluster counts as one item.
// p is the two-sided p-value of the score test at no difference, by the same t: it is
// below 1 - confidence where the interval leaves out 0.
//
// One effective cluster says nothing: the interval is [-1, 1], and p is 1. It reports
// false if n is 0.
func TangoClustered(onlyFirst, onlySecond, n, variance, clusters, confidence float64) (e Estimate, p float64, ok bool) {
	checkPairs(onlyFirst, onlySecond, n)
	z := zOf(confidence)
	if n == 0 {
		return Estimate{}, 1, false
	}
	d, flips := (onlySecond-onlyFirst)/n, onlyFirst+onlySecond
	effect, alone := n/clusters, (flips/n-d*d)/n
	if variance > 1e-18 && alone > 1e-18 {
		effect = variance / alone
	}
	t := distuv.StudentsT{Sigma: 1, Nu: clusters - 1}
	scale := 0.0
	if clusters > 1 {
		scale = math.Pow(z/t.Quantile((1+confidence)/2), 2) / effect
	}
	if p = 1; scale > 0 && flips > 0 {
		p = 2 * t.CDF(-math.Abs(d)*n/math.Sqrt(flips*effect))
	}
	if scale*n < 1e-9 {
		return Estimate{d, -1, 1}, p, true
	}
	e, _ = Tango(onlyFirst*scale, onlySecond*scale, n*scale, confidence)
	e.Value = d
	return e, p, true
}

// checkPairs allows for counts that were added up from shares.
func checkPairs(onlyFirst, onlySecond, n float64) {
	if !(onlyFirst >= 0 && onlySecond >= 0 && onlyFirst+onlySecond <= n*(1+1e-9)) {
		panic(fmt.Sprintf("stats: %g and %g discordant pairs among %g", onlyFirst, onlySecond, n))
	}
}

// Ratio estimates the ratio (k1/n1) / (k2/n2) of two independent rates. The interval
// recovers the variances from their two Wilson intervals (Donner and Zou 2012,
// Statistical Methods in Medical Research 21:347-359, the MOVER for ratios).
//
// It reports false if either group is empty or the second has no positives.
func Ratio(k1, n1, k2, n2 int, confidence float64) (Estimate, bool) {
	checkCounts("Ratio", k1, n1)
	checkCounts("Ratio", k2, n2)
	l1, u1 := Wilson(k1, n1, confidence)
	l2, u2 := Wilson(k2, n2, confidence)
	if n1 == 0 || k2 == 0 {
		return Estimate{}, false
	}
	p1, p2 := float64(k1)/float64(n1), float64(k2)/float64(n2)
	// The published formula divides product by 0 if a bound is twice its rate. The lower
	// end is written so that it does not.
	product := func(end, rate float64) float64 { return end * (2*rate - end) }
	root := func(x, y float64) float64 { return math.Sqrt(math.Max(0, p1*p1*p2*p2-x*y)) }
	lo := 0.0
	if k1 > 0 {
		lo = product(l1, p1) / (p1*p2 + root(product(l1, p1), product(u2, p2)))
	}
	hi := (p1*p2 + root(product(u1, p1), product(l2, p2))) / product(l2, p2)
	return estimate(p1/p2, lo, hi, 0, math.MaxFloat64), true
}
