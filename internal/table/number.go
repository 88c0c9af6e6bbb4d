package table

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/orbench/orbench/internal/untrusted"
	"github.com/orbench/orbench/stats"
)

// None stands for a figure that is undefined.
const None = "–"

// Percent shows a share, such as 0.127, as "12.7%".
func Percent(share float64) string { return percent(share) + "%" }

// percent shows a share in per cent to one decimal, or to as many as the first digit needs
// of what is close to none or to all: 0.05 is not 0.1.
func percent(share float64) string {
	n := 1
	for rest := 100 * math.Min(share, 1-share); n < 4 && rest > 1e-6 && rest < 0.0999999*math.Pow10(1-n); {
		n++
	}
	return decimals(100*share, n)
}

// Known shows a figure, or None if it is undefined.
func Known[T any](figure *T, show func(T) string) string {
	if figure == nil {
		return None
	}
	return show(*figure)
}

// decimals formats a number with n decimals. What rounds to zero has no sign.
func decimals(v float64, n int) string {
	s := strconv.FormatFloat(v, 'f', n, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return s
}

// Whole formats a number without decimals.
func Whole(v float64) string { return decimals(v, 0) }

// ends formats an interval as "LO–HI".
func ends(ci *[2]float64, show func(float64) string) string {
	return Known(ci, func(ci [2]float64) string { return show(ci[0]) + "–" + show(ci[1]) })
}

// Rate shows a rate that may be undefined.
func Rate(r stats.Rate) string { return Known(r.Share, Percent) }

// Interval shows the interval of a share in per cent, as "11.0–14.6".
func Interval(ci *[2]float64) string {
	return ends(ci, percent)
}

// Estimate shows an estimated share that may be undefined.
func Estimate(e *stats.Estimate) string {
	return Known(e, func(e stats.Estimate) string { return Percent(e.Value) })
}

// EstimateInterval shows the interval of an estimated share.
func EstimateInterval(e *stats.Estimate) string { return Interval(e.Ends()) }

// PerCent formats a rate in per cent to one decimal. A half is rounded up, as
// people do, even if its binary form is slightly smaller.
func PerCent(v float64) string {
	return decimals(v+1e-9, 1)
}

// Money formats a sum in US dollars. A sum that is too small to show is never
// shown as zero.
func Money(usd float64) string {
	if usd > 0 && usd < 0.0001 {
		return "less than $0.0001"
	}
	return "$" + decimals(usd, 4)
}

// Price formats a sum in US dollars. A nil sum is unknown, as it is when a
// model has no price.
func Price(usd *float64, unpriced []string) string {
	switch {
	case usd != nil:
		return Money(*usd)
	case len(unpriced) > 0:
		return "price unknown, as there is none for " + untrusted.Terminal(strings.Join(unpriced, ", "))
	}
	return "price unknown"
}

// FailedCost says what attempts without a reply may have cost, to follow the cost
// of the answers: failed ones, and those that the end of a killed command cut off. It
// is empty without any. The sum is nil if a price is unknown.
func FailedCost(failed, cutOff int, usd *float64) string {
	var what []string
	if failed > 0 {
		what = append(what, Counted(failed, "failed attempt", "failed attempts"))
	}
	if cutOff > 0 {
		what = append(what, "at most "+Counted(cutOff, "call", "calls")+" that a kill cut off")
	}
	sum := "an unknown sum"
	if usd != nil {
		sum = "up to " + strings.TrimPrefix(Money(*usd), "less than ")
	}
	if what == nil {
		return ""
	}
	return ", and " + sum + " for " + strings.Join(what, " and ")
}

// Count formats a number with a separator between thousands.
func Count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Counted formats a number with the noun that it counts: one if it is 1, else
// many.
func Counted(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return Count(n) + " " + many
}

// SecondsPerLabel is about how long a person takes to label an answer or a
// prompt.
const SecondsPerLabel = 20

// Labels says how many labels people are to give, and about how long one person
// takes for that.
func Labels(n int) string {
	return Counted(n, "label", "labels") + ", " + LabelTime(n)
}

// LabelTime says about how long a person takes to label n answers.
func LabelTime(n int) string {
	return "about " + Count((n*SecondsPerLabel+59)/60) + " min"
}

// Sign is the minus of signed points.
type Sign string

// The ways to mark signed points. Text marked with Hyphen can be pasted into a
// spreadsheet and into a gate of orbench compare.
const (
	Hyphen Sign = "-"
	Minus  Sign = "−"
)

// Signed formats percentage points to one decimal with their sign. What rounds
// to zero has no sign.
func Signed(points float64, sign Sign) string {
	s := decimals(math.Abs(points), 1)
	switch {
	case s == "0.0":
		return s
	case points < 0:
		return string(sign) + s
	}
	return "+" + s
}

// Difference formats a difference of shares, which may be undefined, in
// percentage points.
func Difference(d *stats.Estimate, sign Sign) string {
	return Known(d, func(d stats.Estimate) string { return Signed(100*d.Value, sign) })
}

// DifferenceInterval formats the interval of a difference, as "-0.4 to +4.6".
func DifferenceInterval(d *stats.Estimate, sign Sign) string {
	return Known(d, func(d stats.Estimate) string { return Signed(100*d.Lo, sign) + " to " + Signed(100*d.Hi, sign) })
}

// Points returns two cells: a difference and its interval.
func Points(d *stats.Estimate, sign Sign) []string {
	return []string{Difference(d, sign), DifferenceInterval(d, sign)}
}

// PValue shows a p-value that may be undefined.
func PValue(p *float64) string {
	return Known(p, func(p float64) string {
		if p < 0.0001 {
			return "<0.0001"
		}
		return decimals(p, 4)
	})
}

// PInText shows a p-value within a sentence, as "p = 0.0123" or "p < 0.0001".
func PInText(p *float64) string {
	value, least := strings.CutPrefix(PValue(p), "<")
	if least {
		return "p < " + value
	}
	return "p = " + value
}

// Fraction formats a number from -1 to 1 to two decimals.
func Fraction(v float64) string {
	return strings.Replace(decimals(v, 2), "-", "−", 1)
}

// Fractions returns two cells: such a number, which may be undefined, and its
// interval.
func Fractions(e *stats.Estimate) []string {
	if e == nil {
		return []string{None, None}
	}
	return []string{Fraction(e.Value), Fraction(e.Lo) + " to " + Fraction(e.Hi)}
}

// Kappa formats a kappa to two decimals. It is undefined if all verdicts are
// the same.
func Kappa(k *float64) string { return Known(k, Fraction) }

// KappaInterval formats the interval of a kappa, as "0.81–0.90". It uses the
// clustered interval if there is one.
func KappaInterval(k stats.Kappa) string {
	return ends(cmp.Or(k.KappaCI95Clustered, k.KappaCI95), Fraction)
}

// Term is one term of a sum.
type Term struct {
	N    int
	What string
}

// Sum writes a sum out. It leaves out terms that are zero, except the first.
func Sum(terms ...Term) string {
	var parts []string
	for i, t := range terms {
		if t.N > 0 || i == 0 {
			parts = append(parts, Count(t.N)+" "+t.What)
		}
	}
	return strings.Join(parts, " + ")
}
